//! tailcut-report
