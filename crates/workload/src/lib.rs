//! tailcut-workload
