//! Writes one event of a profile. Samples come first and tables after them, so that what is in
//! memory at one time is the sums, the tables' numbers and a single message.

use super::messages::{self, Sample, ValueType};
use super::tables::Tables;
use super::value_types::{self, SAMPLES, TypeName};
use super::{comments, labels};
use crate::{Error, ErrorKind};
use flate2::Compression;
use flate2::write::GzEncoder;
use model::id::Id as _;
use model::{EventDescription, EventId, Profile, StackId, TaskId, Time, Totals, Unit};
use prost::Message as _;
use rustc_hash::FxHashMap;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

/// How many bytes of messages are gathered before they are compressed.
const GATHERED: usize = 64 << 10;

/// Writes an event of a profile as a profile.proto message, compressed.
///
/// Each sample has two values: how many samples it stands for, and its weight. An event that is
/// counted in samples ([`Unit::Samples`]) has the one value that it is. Weights with decimals are
/// rounded to whole units; what rounding takes from one sample is handed to the next, so that
/// each is less than one unit off, and so is every sum over neighbours and the whole.
///
/// # Errors
/// [`ErrorKind::OutOfRange`] where a sum does not fit into the format's signed 64 bits: every
/// reader sums up, and would show nonsense. [`ErrorKind::Write`] where the writer fails.
pub fn encode(profile: &Profile, event: EventId, out: &mut dyn Write) -> Result<(), Error> {
    let (sums, first) = sums(profile, event);
    check(sums.iter().map(|(_, totals)| *totals), profile.weight_scale)?;
    write(profile, event, sums, first, out).map_err(Error::write("a pprof profile"))
}

type Sums = Vec<((StackId, Option<TaskId>), Totals)>;

/// The samples of the event, equal ones added together, in an order that does not depend on
/// when they came; and when the first was, where that is known.
fn sums(profile: &Profile, event: EventId) -> (Sums, Option<Time>) {
    let mut sums = FxHashMap::<(StackId, Option<TaskId>), Totals>::default();
    let mut first: Option<Time> = None;
    for row in profile.samples.iter().filter(|row| row.event == event) {
        *sums.entry((row.stack, row.task)).or_default() += Totals { weight: u128::from(row.weight), count: row.count };
        first = first.into_iter().chain(row.time).min();
    }
    let mut sums: Sums = sums.into_iter().collect();
    sums.sort_unstable_by_key(|(key, _)| *key);
    (sums, first)
}

fn check(sums: impl Iterator<Item = Totals>, weight_scale: u8) -> Result<(), Error> {
    let (weight, count) = sums.fold((0u128, 0u128), |(weight, count), totals| {
        (weight.saturating_add(totals.weight), count + u128::from(totals.count))
    });
    let weight = weight / 10u128.pow(weight_scale.into());
    match weight.max(count) {
        most if most < i64::MAX as u128 => Ok(()),
        most => {
            let context = format!(
                "could not write a pprof profile: the samples sum up to {most}, and its numbers end at {}; \
                 folded text has no such limit",
                i64::MAX
            );
            Err(Error::new(ErrorKind::OutOfRange, context))
        }
    }
}

fn write(profile: &Profile, event: EventId, sums: Sums, first: Option<Time>, out: &mut dyn Write) -> io::Result<()> {
    let description = &profile.events[event.index()];
    let mut tables = Tables::new(profile);
    let mut parts = Parts { gzip: GzEncoder::new(out, Compression::default()), gathered: Vec::new() };
    parts.put(&header(profile, description, first, &mut tables))?;

    let mut weights = WholeWeights::new(profile.weight_scale);
    let mut labels_of = FxHashMap::default();
    for ((stack, task), totals) in sums {
        let weight = weights.next(totals.weight);
        let value = match description.unit {
            Unit::Samples => vec![weight],
            _ => vec![in_range(totals.count.into()), weight],
        };
        let label = match task {
            None => Vec::new(),
            Some(task) => labels_of.entry(task).or_insert_with(|| labels::of_task(profile, task, &mut tables)).clone(),
        };
        let location_id = profile.stacks.leaf_first(stack).map(|location| tables.location(location)).collect();
        let sample = vec![Sample { location_id, value, label }];
        parts.put(&messages::Profile { sample, ..Default::default() })?;
    }
    for index in 0..tables.locations() {
        let location = vec![tables.location_message(index)];
        parts.put(&messages::Profile { location, ..Default::default() })?;
    }
    let mapping = tables.mapping_messages();
    parts.put(&messages::Profile { mapping, ..Default::default() })?;
    for function in tables.function_messages() {
        parts.put(&messages::Profile { function: vec![function], ..Default::default() })?;
    }
    let comment = comments::of(profile, event).into_iter().map(|comment| tables.string(comment)).collect();
    parts.put(&messages::Profile { comment, ..Default::default() })?;
    for text in tables.strings() {
        parts.put(&messages::Profile { string_table: vec![text.to_owned()], ..Default::default() })?;
    }
    parts.finish()
}

/// All that stands once in a profile.
fn header<'a>(
    profile: &'a Profile,
    event: &'a EventDescription,
    first: Option<Time>,
    tables: &mut Tables<'a>,
) -> messages::Profile {
    let mut value_type = |of: TypeName<'a>| ValueType { r#type: tables.string(of.name), unit: tables.string(of.unit) };
    let weight = value_type(value_types::weight_type(event));
    let sample_type = match event.unit {
        Unit::Samples => vec![weight],
        _ => vec![value_type(SAMPLES), weight],
    };
    let period = value_types::period(event);
    let began = profile.recording.wall_offset.zip(first).and_then(|(zero, first)| wall_nanos(zero, first));
    messages::Profile {
        sample_type,
        time_nanos: began.unwrap_or(0),
        duration_nanos: profile.recording.duration.map_or(0, nanos),
        period_type: (period > 0).then_some(weight),
        period,
        default_sample_type: weight.r#type,
        ..Default::default()
    }
}

fn wall_nanos(zero: SystemTime, time: Time) -> Option<i64> {
    let time = zero.checked_add(Duration::from_nanos(time.as_ns()))?;
    Some(nanos(time.duration_since(SystemTime::UNIX_EPOCH).ok()?))
}

fn nanos(duration: Duration) -> i64 {
    in_range(duration.as_nanos())
}

/// Sums have been checked before; a duration of centuries stays at the greatest value.
fn in_range(value: u128) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Weights in whole units.
struct WholeWeights {
    /// A unit in the profile's scale.
    one: u128,
    /// What is left of the weights so far, in the profile's scale.
    carried: u128,
}

impl WholeWeights {
    fn new(weight_scale: u8) -> Self {
        let one = 10u128.pow(weight_scale.into());
        // Half a unit more at the start makes a rounding of what would be a cutting off.
        Self { one, carried: one / 2 }
    }

    fn next(&mut self, weight: u128) -> i64 {
        let sum = self.carried + weight;
        self.carried = sum % self.one;
        in_range(sum / self.one)
    }
}

/// Takes a profile in parts, which read as one message.
struct Parts<W: Write> {
    gzip: GzEncoder<W>,
    gathered: Vec<u8>,
}

impl<W: Write> Parts<W> {
    fn put(&mut self, part: &messages::Profile) -> io::Result<()> {
        part.encode(&mut self.gathered).map_err(io::Error::other)?;
        if self.gathered.len() >= GATHERED {
            self.gzip.write_all(&self.gathered)?;
            self.gathered.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.gzip.write_all(&self.gathered)?;
        self.gzip.finish()?.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{CodeKind, Detail, SampleRow, Sampling, StackEnd, TaskIds, TaskInfo};
    use std::io::Read as _;

    const WALL_ZERO_S: u64 = 1_700_000_000;

    /// Two threads on one stack, sampled at 5 s and 6 s; an event that is not asked for beside them.
    fn profile() -> Profile {
        let mut profile = Profile::new(Detail::Timeline);
        for (name, unit, sampling) in [
            ("offcpu", Unit::Nanoseconds, Sampling::Unknown),
            ("task-clock:u", Unit::Nanoseconds, Sampling::Frequency(100)),
        ] {
            profile.events.push(EventDescription { name: name.into(), unit, sampling });
        }
        profile.recording.wall_offset = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(WALL_ZERO_S));
        let frames = ["main", "f"].map(|name| profile.add_symbol(name, CodeKind::User, false));
        let stack = profile.stacks.intern(StackEnd::Bottom, frames);
        let tasks = [1, 2].map(|tid| {
            let name = profile.strings.intern_str("app");
            profile.tasks.intern(TaskInfo { ids: TaskIds::new(1, tid), generation: 0, name, process_name: name })
        });
        for (event, task, seconds, weight) in [(1, 1, 6, 10), (0, 0, 4, 99), (1, 0, 5, 20), (1, 1, 7, 30)] {
            profile.samples.push(SampleRow {
                time: Some(Time::from_ns(seconds * 1_000_000_000)),
                task: Some(tasks[task]),
                cpu: None,
                event: EventId::from_index(event),
                stack,
                weight,
                count: 1,
            });
        }
        profile
    }

    fn written(profile: &Profile, event: usize) -> messages::Profile {
        let mut bytes = Vec::new();
        encode(profile, EventId::from_index(event), &mut bytes).unwrap();
        let mut message = Vec::new();
        flate2::bufread::GzDecoder::new(&bytes[..]).read_to_end(&mut message).unwrap();
        messages::Profile::decode(&message[..]).unwrap()
    }

    #[test]
    fn the_message_holds_one_event_and_each_thing_once() {
        let message = written(&profile(), 1);
        let text = |position: i64| message.string_table[position as usize].as_str();
        let types: Vec<_> = message.sample_type.iter().map(|of| (text(of.r#type), text(of.unit))).collect();
        assert_eq!(types, [("samples", "count"), ("cpu", "nanoseconds")]);
        assert_eq!(text(message.default_sample_type), "cpu");
        assert_eq!((message.period, message.period_type), (10_000_000, Some(message.sample_type[1])));
        assert_eq!(message.time_nanos, (WALL_ZERO_S as i64 + 5) * 1_000_000_000);
        let samples: Vec<_> =
            message.sample.iter().map(|sample| (&sample.location_id[..], &sample.value[..])).collect();
        assert_eq!(samples, [(&[1, 2][..], &[1, 20][..]), (&[1, 2], &[2, 40])]);
        let labels = message.sample[1].label.iter().map(|label| (text(label.key), text(label.str), label.num));
        assert_eq!(
            labels.collect::<Vec<_>>(),
            [("thread", "app", 0), ("process", "app", 0), ("pid", "", 1), ("tid", "", 2)]
        );
        let names: Vec<_> = message.function.iter().map(|function| text(function.name)).collect();
        assert_eq!(names, ["f", "main"]);
        let mut strings = message.string_table.clone();
        strings.sort_unstable();
        strings.dedup();
        assert_eq!((strings.len(), text(0)), (message.string_table.len(), ""));
    }

    #[test]
    fn time_off_the_cpu_keeps_its_name() {
        let message = written(&profile(), 0);
        let weight = message.sample_type[1];
        assert_eq!(message.string_table[weight.r#type as usize], "offcpu");
        assert_eq!((message.sample.len(), message.period, message.period_type), (1, 0, None));
    }

    #[test]
    fn what_rounding_takes_is_handed_on() {
        let mut weights = WholeWeights::new(1);
        assert_eq!([4, 4, 4, 100, 3].map(|weight| weights.next(weight)), [0, 1, 0, 10, 1]);
        let mut whole = WholeWeights::new(0);
        assert_eq!([4, 0, 7].map(|weight| whole.next(weight)), [4, 0, 7]);
    }

    /// A writer that takes nothing.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_writer_that_fails_is_told() {
        let error = encode(&profile(), EventId::from_index(1), &mut Full).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Write);
    }
}
