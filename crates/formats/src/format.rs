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
    /// The extensions of its files, without the dot.
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
