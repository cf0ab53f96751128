//! What stands once in a profile that is read, and its table of strings: all that the lists
//! cannot be understood without.

use super::messages::ValueType;
use super::wire::{self, Field, Fields, Value};
use super::{damaged, decoded};
use crate::Error;
use model::text;
use std::borrow::Cow;

/// More types of values than any profiler has.
const MOST_TYPES: usize = 256;

/// The table of strings. Not every writer keeps to UTF-8; other bytes are escaped.
#[derive(Default)]
pub(super) struct Strings<'a> {
    texts: Vec<Cow<'a, str>>,
}

impl Strings<'_> {
    /// The string at a position, empty for 0: none.
    pub(super) fn get(&self, position: i64) -> Result<&str, Error> {
        let text = usize::try_from(position).ok().and_then(|position| self.texts.get(position));
        match text {
            Some(text) => Ok(text),
            None if position == 0 => Ok(""),
            None => Err(damaged(format!("it refers to string {position} of {}", self.texts.len()))),
        }
    }
}

/// The fields that are no lists of messages, and the types of values.
#[derive(Default)]
pub(super) struct Head<'a> {
    pub(super) strings: Strings<'a>,
    pub(super) types: Vec<ValueType>,
    pub(super) comments: Vec<i64>,
    pub(super) period_type: Option<ValueType>,
    pub(super) period: i64,
    pub(super) duration_nanos: i64,
}

impl<'a> Head<'a> {
    /// Walks over the whole profile, so that all of it is known to be fields.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut head = Self::default();
        for field in Fields::new(bytes) {
            let field = field.map_err(|error| damaged(format!("at byte {} it is cut or no field", error.at)))?;
            head.add(field)?;
        }
        Ok(head)
    }

    fn add(&mut self, Field { number, value }: Field<'a>) -> Result<(), Error> {
        match (number, value) {
            (1, Value::Bytes(message)) if self.types.len() < MOST_TYPES => self.types.push(decoded(message)?),
            (1, Value::Bytes(_)) => return Err(damaged(format!("it has more than {MOST_TYPES} types of values"))),
            (6, Value::Bytes(text)) => self.strings.texts.push(text::from_bytes(text)),
            // A signed number is written as the unsigned one of the same bits.
            (10, Value::Varint(ns)) => self.duration_nanos = ns as i64,
            (11, Value::Bytes(message)) => self.period_type = Some(decoded(message)?),
            (12, Value::Varint(period)) => self.period = period as i64,
            (13, Value::Varint(comment)) => self.comments.push(comment as i64),
            (13, Value::Bytes(list)) => {
                for comment in wire::varints(list) {
                    let comment = comment.ok_or_else(|| damaged("its list of comments is none"))?;
                    self.comments.push(comment as i64);
                }
            }
            _ => {}
        }
        Ok(())
    }
}
