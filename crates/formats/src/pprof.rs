//! pprof: a profile.proto message in a gzip file, which `go tool pprof` and many services read
//! (<https://github.com/google/pprof/blob/main/proto/README.md>).
//!
//! ```text
//!  Profile ─► writer (tables, value_types, labels, comments) ─► messages ─► gzip
//!    gzip ─► packed ─► wire ─► reader (head, columns, places, labels) ─► Profile
//! ```

mod columns;
mod comments;
mod head;
mod labels;
mod messages;
mod packed;
mod places;
mod reader;
mod sniff;
mod tables;
mod value_types;
mod wire;
mod writer;

pub use reader::decode;
pub use writer::encode;

use crate::format::{Decode, Format};
use crate::{Error, ErrorKind};

/// The format.
pub const FORMAT: Format = Format {
    name: "pprof",
    summary: "a profile of pprof: profile.proto, compressed",
    extensions: &["pb.gz", "pprof"],
    sniff: sniff::sniff,
    decode: Decode::With(decode),
    encode: Some(encode),
};

fn damaged(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Damaged, format!("the pprof profile is damaged: {why}"))
}

fn decoded<M: prost::Message + Default>(message: &[u8]) -> Result<M, Error> {
    M::decode(message).map_err(|error| damaged(format!("a message in it is none of its kind: {error}")))
}
