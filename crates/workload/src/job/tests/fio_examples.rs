//! fio's own example job files. TODO
