//! What every format says of itself.

use crate::{Error, ErrorKind};
use model::{EventId, Profile};
use std::io;

/// A format of profiles.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// What the user calls it (`--format NAME`).
    pub name: &'static str,
    /// What it is, in a few words without a capital or a full stop.
    pub summary: &'static str,
    /// The extensions of its files, without the first dot, in lower case: `svg`, `pb.gz`.
    pub extensions: &'static [&'static str],
    /// Whether these bytes look like it. Only their beginning is looked at.
    pub sniff: fn(&[u8]) -> bool,
    /// How it is read.
    pub decode: Decode,
    /// How one event of a profile is written in it; `None` where it is only read.
    pub encode: Option<EncodeFn>,
}

/// Writes one event of a profile.
pub type EncodeFn = fn(&Profile, EventId, &mut dyn io::Write) -> Result<(), Error>;

/// How a format is read.
#[derive(Clone, Copy, Debug)]
pub enum Decode {
    /// By this function.
    With(fn(&[u8]) -> Result<Decoded, Error>),
    /// It is recognised, so that the user can be told what helps, but not read.
    NotYet {
        /// What the user can do instead, as the end of a sentence.
        advice: &'static str,
    },
}

/// What a reader made of its input.
#[derive(Clone, Debug, Default)]
pub struct Decoded {
    /// The profile.
    pub profile: Profile,
    /// What the reader left out and why: sentences in lower case without a full stop. How much it
    /// was stands in the profile's losses.
    pub notes: Vec<String>,
}

impl Format {
    /// Reads a profile that is in this format.
    pub fn decode(&self, bytes: &[u8]) -> Result<Decoded, Error> {
        match self.decode {
            Decode::With(decode) => decode(bytes),
            Decode::NotYet { advice } => {
                let context = format!("the input is {}, which this version cannot read yet; {advice}", self.summary);
                Err(Error::new(ErrorKind::Unreadable, context))
            }
        }
    }

    /// Writes an event of a profile in this format.
    pub fn encode(&self, profile: &Profile, event: EventId, out: &mut dyn io::Write) -> Result<(), Error> {
        match self.encode {
            Some(encode) => encode(profile, event, out),
            None => Err(Error::new(ErrorKind::NotWritten, format!("{} is read but not written", self.summary))),
        }
    }
}

/// The longest of these extensions that a file's name ends in, behind a dot and at least one
/// other character; capitals do not matter.
pub fn longest_extension(file_name: &str, extensions: &[&'static str]) -> Option<&'static str> {
    let ends_in = |extension: &str| {
        let bytes = file_name.as_bytes();
        let dot = bytes.len().checked_sub(extension.len() + 1).filter(|dot| *dot > 0);
        dot.is_some_and(|dot| bytes[dot] == b'.' && bytes[dot + 1..].eq_ignore_ascii_case(extension.as_bytes()))
    };
    extensions.iter().copied().filter(|extension| ends_in(extension)).max_by_key(|extension| extension.len())
}

#[cfg(test)]
mod tests {
    use super::longest_extension;

    #[test]
    fn the_longest_end_of_a_name_counts() {
        let known = ["json", "flamel.json", "gz", "pb.gz"];
        for (name, expected) in [
            ("x.json", Some("json")),
            ("a.b.JSON", Some("json")),
            ("x.Flamel.json", Some("flamel.json")),
            ("x.pb.gz", Some("pb.gz")),
            ("pb.gz", Some("gz")),
            ("xpb.gz", Some("gz")),
            ("é.pb.gz", Some("pb.gz")),
            (".json", None),
            ("json", None),
            ("x.json.", None),
            ("", None),
        ] {
            assert_eq!(longest_extension(name, &known), expected, "{name}");
        }
    }
}
