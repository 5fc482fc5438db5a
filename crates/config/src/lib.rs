//! tailcut-config
