//! Tests of reading and writing perf.data, on real recordings and made-up ones.

mod corpus;
mod damage;
mod memory;
mod writing;
