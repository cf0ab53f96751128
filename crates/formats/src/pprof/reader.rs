//! Reads a profile of any program, in passes over its bytes: what stands once, then files,
//! functions, locations and samples. A list may stand before or behind what it refers to; and in
//! passes none is held as messages, of which two bytes can be one.

use super::columns::Columns;
use super::head::{Head, Strings};
use super::labels::{KeyValue, TaskLabels};
use super::messages::{Label, Location, Sample};
use super::places::Places;
use super::wire::{Field, Fields, Value};
use super::{decoded, packed};
use crate::format::Decoded;
use crate::{Error, ErrorKind};
use model::{Detail, Profile, SampleLoss, SampleRow, StackEnd, StackId, StackTree, TaskId};
use std::collections::BTreeSet;
use std::time::Duration;

/// More frames than a stack may have here; what is further out is cut.
const MOST_FRAMES: usize = 1 << 16;
/// How many labels that are left out are named.
const NAMED_LABELS: usize = 10;

const SAMPLE: u32 = 2;
const MAPPING: u32 = 3;
const LOCATION: u32 = 4;
const FUNCTION: u32 = 5;

/// Reads a profile.proto message, gzip-compressed or not.
///
/// Each type of values becomes an event, but for the number of samples (`samples` in `count`)
/// where others stand beside it: it is the count of theirs. Where a profile does not tell the
/// number of samples, each entry is one. The labels `thread`, `process`, `pid` and `tid` make
/// threads; others are left out and named in [`Decoded::notes`]. Comments become remarks. Samples
/// that break a rule are counted as [`SampleLoss::Rejected`].
///
/// # Errors
/// [`ErrorKind::Damaged`] where the bytes are no such message, [`ErrorKind::Empty`] where it has no
/// type of values, [`ErrorKind::NoValidEntry`] where each sample breaks a rule,
/// [`ErrorKind::OutOfRange`] where it is larger than 1 GiB when unpacked.
pub fn decode(bytes: &[u8]) -> Result<Decoded, Error> {
    let bytes = packed::unpacked(bytes)?;
    let head = Head::read(&bytes)?;
    let mut profile = Profile::new(Detail::Counts);
    let columns = Columns::new(&head, &mut profile)?;
    profile.recording.duration = u64::try_from(head.duration_nanos).ok().filter(|ns| *ns > 0).map(Duration::from_nanos);
    for &comment in &head.comments {
        profile.recording.remarks.push(head.strings.get(comment)?.to_owned());
    }
    let mut places = Places::default();
    for message in messages(&bytes, MAPPING) {
        places.add_mapping(decoded(message)?, &head.strings, &mut profile)?;
    }
    for message in messages(&bytes, FUNCTION) {
        places.add_function(decoded(message)?, &head.strings, &mut profile)?;
    }
    for message in messages(&bytes, LOCATION) {
        places.add_location(&decoded::<Location>(message)?, &mut profile);
    }
    let mut reader = Reader::new(&head.strings, places, columns, profile);
    for message in messages(&bytes, SAMPLE) {
        reader.add(&decoded(message)?)?;
    }
    reader.finish()
}

/// The messages of one list. [`Head::read`] has seen that all of the bytes are fields.
fn messages(bytes: &[u8], list: u32) -> impl Iterator<Item = &[u8]> {
    Fields::new(bytes).filter_map(move |field| match field {
        Ok(Field { number, value: Value::Bytes(message) }) if number == list => Some(message),
        _ => None,
    })
}

/// Why a sample is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    Values,
    Negative,
    TooLarge,
    Location,
}

impl Rule {
    const ALL: [Self; 4] = [Self::Values, Self::Negative, Self::TooLarge, Self::Location];

    const fn sentence(self) -> &'static str {
        match self {
            Self::Values => "have another number of values than there are types",
            Self::Negative => "have a value below zero, as differences of profiles do",
            Self::TooLarge => "have a value beyond 64 bits of its unit",
            Self::Location => "refer to a location that is not there",
        }
    }
}

struct Reader<'a> {
    strings: &'a Strings<'a>,
    places: Places,
    columns: Columns,
    profile: Profile,
    samples: u64,
    /// By [`Rule`].
    refused: [u64; Rule::ALL.len()],
    /// The keys of labels that are left out, up to one more than are named.
    left_out: BTreeSet<&'a str>,
}

impl<'a> Reader<'a> {
    fn new(strings: &'a Strings<'a>, places: Places, columns: Columns, profile: Profile) -> Self {
        let refused = [0; Rule::ALL.len()];
        Self { strings, places, columns, profile, samples: 0, refused, left_out: BTreeSet::new() }
    }

    fn add(&mut self, sample: &Sample) -> Result<(), Error> {
        self.samples += 1;
        let task = self.task(&sample.label)?;
        if let Err(rule) = self.add_rows(sample, task) {
            self.refused[rule as usize] += 1;
        }
        Ok(())
    }

    fn add_rows(&mut self, sample: &Sample, task: Option<TaskId>) -> Result<(), Rule> {
        if sample.value.len() != self.columns.values {
            return Err(Rule::Values);
        }
        let values = sample.value.iter().map(|value| u64::try_from(*value)).collect::<Result<Vec<_>, _>>();
        let values = values.map_err(|_| Rule::Negative)?;
        let columns = self.columns.columns.iter().map(|column| Some((column.event, column.of(&values)?)));
        let weighed = columns.collect::<Option<Vec<_>>>().ok_or(Rule::TooLarge)?;
        let stack = self.stack(&sample.location_id)?;
        for (event, of) in weighed.into_iter().filter(|(_, of)| of.weight > 0 || of.count > 0) {
            let row = SampleRow { time: None, task, cpu: None, event, stack, weight: of.weight, count: of.count };
            self.profile.samples.push(row);
        }
        Ok(())
    }

    /// The stack of these locations, the leaf first.
    fn stack(&mut self, ids: &[u64]) -> Result<StackId, Rule> {
        let mut frames = Vec::with_capacity(ids.len().min(MOST_FRAMES));
        for id in ids {
            frames.extend_from_slice(self.places.location(*id).ok_or(Rule::Location)?);
            if frames.len() > MOST_FRAMES {
                break;
            }
        }
        let end = if frames.len() > MOST_FRAMES { StackEnd::Limit } else { StackEnd::Unknown };
        frames.truncate(MOST_FRAMES);
        let root_first = frames.into_iter().rev();
        Ok(root_first.fold(StackTree::root(end), |parent, location| self.profile.stacks.child(parent, location)))
    }

    fn task(&mut self, labels: &[Label]) -> Result<Option<TaskId>, Error> {
        let mut task = TaskLabels::default();
        for label in labels {
            let (key, text) = (self.strings.get(label.key)?, self.strings.get(label.str)?);
            if !task.take(KeyValue { key, text, number: label.num }) && self.left_out.len() <= NAMED_LABELS {
                self.left_out.insert(key);
            }
        }
        Ok(task.task(&mut self.profile))
    }

    fn finish(mut self) -> Result<Decoded, Error> {
        let refused: u64 = self.refused.iter().sum();
        let broken = || Rule::ALL.into_iter().zip(self.refused).filter(|(_, count)| *count > 0);
        let mut notes: Vec<String> =
            broken().map(|(rule, count)| format!("{count} of {} samples {}", self.samples, rule.sentence())).collect();
        if refused > 0 && refused == self.samples {
            let context = format!("no sample of the profile can be read: {}", notes.join("; "));
            return Err(Error::new(ErrorKind::NoValidEntry, context));
        }
        if !self.left_out.is_empty() {
            let more = if self.left_out.len() > NAMED_LABELS { ", and more" } else { "" };
            let named: Vec<String> =
                self.left_out.iter().take(NAMED_LABELS).map(|key| format!("`{}`", key.escape_debug())).collect();
            notes.push(format!("labels left out: {}{more}", named.join(", ")));
        }
        self.profile.losses.add(SampleLoss::Rejected, refused);
        Ok(Decoded { profile: self.profile, notes })
    }
}
