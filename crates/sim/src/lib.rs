//! tailcut-sim
