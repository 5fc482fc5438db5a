//! tailcut-testkit
