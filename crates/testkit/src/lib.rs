//! Workloads with known truth and helpers for tests.
