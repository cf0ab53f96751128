//! Tests of reading and writing perf.data, on real recordings and made-up ones.

mod byte_order;
mod compressed;
mod corpus;
mod damage;
mod extremes;
mod groups;
mod killed;
mod made;
mod memory;
mod off_cpu;
mod structure;
mod writing;
