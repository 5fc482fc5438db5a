//! tailcut-core
