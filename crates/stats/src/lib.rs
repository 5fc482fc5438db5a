//! tailcut-stats
