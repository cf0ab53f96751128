//! Folded text: a stack a line, its frames split by `;`, then its count. Every tool writes it a
//! little differently, so the reader takes all that is unambiguous, and says of the rest which
//! line breaks which rule. The writer merges equal stacks and sorts; what it writes reads back
//! to the same sums, with names spelled so that they cannot be taken apart wrongly.

pub use crate::folded_line::Rule;
use crate::folded_line::{self, Line, MOST_PLACES, frames, is_blank, is_comment};
use crate::format::{Decode, Decoded, Format};
use crate::{Error, ErrorKind};
use model::id::Id;
use model::{
    CodeKind, Detail, EventDescription, EventId, LocationId, Profile, SampleLoss, SampleRow, StackEnd, StackId,
    StringId, text,
};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// The format.
pub const FORMAT: Format = Format {
    name: "folded",
    summary: "folded stacks: `frame;frame;frame count`, one stack a line",
    extensions: &["folded", "collapsed", "stacks"],
    sniff,
    decode: Decode::With(decode),
    encode: Some(encode),
};

/// How many rejected lines are quoted.
const QUOTED: usize = 5;
/// How much of a rejected line is quoted, in characters.
const QUOTED_LENGTH: usize = 60;
/// How much of an input its format is judged by.
const SNIFFED: usize = 64 << 10;

/// Whether kinds of code are marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Annotations {
    /// Names only.
    #[default]
    Omitted,
    /// `_[k]` after a kernel function, `_[j]` after generated code, `_[i]` after an inlined
    /// function (last, where it is both).
    Written,
}

/// Whether most of the first lines are stacks with counts.
pub fn sniff(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(SNIFFED)];
    // The last line may be cut; it is judged only where it is the only one.
    let whole = match head.iter().rposition(|&byte| byte == b'\n') {
        Some(end) if head.len() < bytes.len() => &head[..end],
        _ => head,
    };
    let (mut good, mut bad) = (0, 0);
    for (_, line) in folded_line::lines(whole) {
        match folded_line::parse(line) {
            Ok(Line::Stack { .. }) => good += 1,
            Ok(Line::Blank | Line::Comment) => {}
            Err(_) => bad += 1,
        }
    }
    good > bad
}

/// Reads folded text. Weights and counts are both the count of the line; equal stacks are
/// merged, comments and blank lines skipped, lines that break a rule counted as
/// [`SampleLoss::Rejected`] and the first of them quoted in [`Decoded::notes`].
///
/// # Errors
/// [`ErrorKind::Empty`] without a line that is not blank, [`ErrorKind::NoValidEntry`] where no line
/// holds a stack and a count.
pub fn decode(bytes: &[u8]) -> Result<Decoded, Error> {
    let mut reader = Reader::new(smallest_scale(bytes));
    for (number, line) in folded_line::lines(bytes) {
        match folded_line::parse(line).and_then(|line| reader.add(line)) {
            Ok(()) => {}
            Err(rule) => reader.reject(number, line, rule),
        }
    }
    reader.finish()
}

/// Writes an event of a profile as folded text, without annotations.
pub fn encode(profile: &Profile, event: EventId, out: &mut dyn io::Write) -> Result<(), Error> {
    encode_with(profile, event, Annotations::Omitted, out)
}

/// Writes an event of a profile as folded text: the thread's name where it is known, then the
/// frames, outermost first; sorted, equal stacks merged, stacks of no weight left out.
pub fn encode_with(
    profile: &Profile,
    event: EventId,
    annotations: Annotations,
    out: &mut dyn io::Write,
) -> Result<(), Error> {
    let mut sums = FxHashMap::<(Option<StringId>, StackId), u128>::default();
    for row in profile.samples.iter().filter(|row| row.event == event) {
        let task = row.task.map(|task| profile.tasks[task].name);
        *sums.entry((task, row.stack)).or_default() += u128::from(row.weight);
    }
    let writer = Writer { profile, annotations, names: FxHashMap::default() };
    let scale = profile.weight_scale;
    let mut out = io::BufWriter::new(out);
    let written = writer.lines(sums).iter().try_for_each(|(stack, weight)| {
        let mut rest = *weight;
        // A reader, this one too, takes 64 bits a line; a greater sum is several lines.
        while rest > 0 {
            let value = rest.min(u64::MAX.into());
            writeln!(out, "{stack} {}", Scaled { value, scale })?;
            rest -= value;
        }
        Ok(())
    });
    written.and_then(|()| out.flush()).map_err(Error::write("folded text"))
}

/// The decimals that the counts of a text need.
fn smallest_scale(bytes: &[u8]) -> u8 {
    let places = folded_line::lines(bytes).filter_map(|(_, line)| match folded_line::parse(line) {
        Ok(Line::Stack { count, .. }) => Some(count.places()),
        _ => None,
    });
    places.max().unwrap_or(0).min(MOST_PLACES) as u8
}

struct Reader<'a> {
    profile: Profile,
    /// The locations of frames, by their bytes.
    locations: FxHashMap<&'a [u8], LocationId>,
    stacks: u64,
    quoted: Vec<String>,
}

impl<'a> Reader<'a> {
    fn new(scale: u8) -> Self {
        let mut profile = Profile::new(Detail::Counts);
        profile.events.push(EventDescription::plain_samples());
        profile.weight_scale = scale;
        Self { profile, locations: FxHashMap::default(), stacks: 0, quoted: Vec::new() }
    }

    fn add(&mut self, line: Line<'a>) -> Result<(), Rule> {
        let Line::Stack { frames: stack, count } = line else { return Ok(()) };
        let scale = self.profile.weight_scale;
        // A count that fits on its own may not, once another's fraction has set the scale.
        let weight = count.scaled(scale).ok_or(Rule::CountTooLarge)?;
        self.stacks += 1;
        if weight == 0 {
            return Ok(());
        }
        let mut at = model::StackTree::root(StackEnd::Unknown);
        for name in frames(stack) {
            let location = self.location(name);
            at = self.profile.stacks.child(at, location);
        }
        let one = 10u64.pow(scale.into());
        self.profile.samples.push(SampleRow {
            time: None,
            task: None,
            cpu: None,
            event: EventId::from_index(0),
            stack: at,
            weight,
            count: weight / one + u64::from(weight % one >= one.div_ceil(2) && one > 1),
        });
        Ok(())
    }

    fn location(&mut self, bytes: &'a [u8]) -> LocationId {
        let profile = &mut self.profile;
        *self.locations.entry(bytes).or_insert_with(|| {
            let (name, kind, inlined) = without_annotations(bytes);
            let name = if name.is_empty() { "[unknown]".into() } else { text::from_bytes(name) };
            profile.add_symbol(&name, kind, inlined)
        })
    }

    fn reject(&mut self, number: u64, line: &[u8], rule: Rule) {
        self.profile.losses.add(SampleLoss::Rejected, 1);
        if self.quoted.len() < QUOTED {
            self.quoted.push(format!("line {number} {}: `{}`", rule.sentence(), quote(line)));
        }
    }

    fn finish(self) -> Result<Decoded, Error> {
        let rejected = self.profile.losses.count(SampleLoss::Rejected);
        match (self.stacks, self.quoted.first()) {
            (0, None) => {
                return Err(Error::new(ErrorKind::Empty, "the input holds no stacks: its lines are blank or comments"));
            }
            (0, Some(first)) => {
                let context = format!("no line of the input is a folded stack (`frame;frame count`): {first}");
                return Err(Error::new(ErrorKind::NoValidEntry, context));
            }
            _ => {}
        }
        let mut notes = self.quoted;
        let more = rejected - notes.len() as u64;
        if more > 0 {
            notes
                .push(format!("{more} more lines break a rule: {rejected} of {} are left out", rejected + self.stacks));
        }
        Ok(Decoded { profile: self.profile, notes })
    }
}

/// A frame's name, and what the marks at its end say of it.
fn without_annotations(mut name: &[u8]) -> (&[u8], CodeKind, bool) {
    let (mut kind, mut inlined) = (CodeKind::User, false);
    while let Some((rest, mark)) = name.split_last_chunk::<4>() {
        match mark {
            b"_[k]" => kind = CodeKind::Kernel,
            b"_[j]" => kind = CodeKind::Jit,
            b"_[i]" => inlined = true,
            _ => break,
        }
        name = rest;
    }
    (name, kind, inlined)
}

/// The beginning of a line, safe for a terminal.
fn quote(line: &[u8]) -> String {
    let text = text::from_bytes(line);
    let mut quoted: String = text.chars().take(QUOTED_LENGTH).flat_map(char::escape_debug).collect();
    if text.chars().nth(QUOTED_LENGTH).is_some() {
        quoted.push_str("..");
    }
    quoted
}

struct Writer<'a> {
    profile: &'a Profile,
    annotations: Annotations,
    /// The frames of a location as they are written, innermost first.
    names: FxHashMap<LocationId, Box<[String]>>,
}

impl Writer<'_> {
    /// The lines without their counts, sorted and merged: distinct stacks can read the same.
    fn lines(mut self, sums: FxHashMap<(Option<StringId>, StackId), u128>) -> Vec<(String, u128)> {
        let mut lines: Vec<(String, u128)> = Vec::with_capacity(sums.len());
        for ((task, stack), weight) in sums.into_iter().filter(|(_, weight)| *weight > 0) {
            lines.push((self.line(task, stack), weight));
        }
        lines.sort_unstable();
        lines.dedup_by(|(line, weight), (kept, sum)| {
            let same = line == kept;
            if same {
                *sum += *weight;
            }
            same
        });
        lines
    }

    fn line(&mut self, task: Option<StringId>, stack: StackId) -> String {
        let profile = self.profile;
        let mut line = String::new();
        if let Some(task) = task {
            push_frame(&mut line, &spelled(profile.text(task)));
        }
        let mut locations: Vec<LocationId> = profile.stacks.leaf_first(stack).collect();
        if locations.is_empty() {
            push_frame(&mut line, "[no stack]");
        }
        while let Some(location) = locations.pop() {
            self.names(location).iter().rev().for_each(|name| push_frame(&mut line, name));
        }
        protect_ends(line)
    }

    fn names(&mut self, id: LocationId) -> &[String] {
        let (profile, annotations) = (self.profile, self.annotations);
        self.names.entry(id).or_insert_with(|| {
            let kind = profile.location(id).kind;
            let annotated = |name: &str, inlined| spelled(name) + annotation(annotations, kind, inlined);
            match profile.frames(id) {
                Ok(frames) => {
                    frames.iter().map(|frame| annotated(profile.function_name(frame.function), frame.inlined)).collect()
                }
                Err(_) => [annotated(&profile.placeholder(id), false)].into(),
            }
        })
    }
}

fn annotation(annotations: Annotations, kind: CodeKind, inlined: bool) -> &'static str {
    match (annotations, kind, inlined) {
        (Annotations::Omitted, ..) | (_, CodeKind::User | CodeKind::Guest, false) => "",
        (_, CodeKind::User | CodeKind::Guest, true) => "_[i]",
        (_, CodeKind::Kernel, false) => "_[k]",
        (_, CodeKind::Kernel, true) => "_[k]_[i]",
        (_, CodeKind::Jit, false) => "_[j]",
        (_, CodeKind::Jit, true) => "_[j]_[i]",
    }
}

/// A name as it can stand in a line: without what splits frames and lines.
fn spelled(name: &str) -> String {
    if name.is_empty() {
        return "[unknown]".into();
    }
    let mut spelled = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            ';' => spelled.push(':'),
            '\n' => spelled.push_str("\\n"),
            '\r' => spelled.push_str("\\r"),
            other => spelled.push(other),
        }
    }
    spelled
}

/// Appends a frame. A blank at its start would take the `;` before it for part of a name.
fn push_frame(line: &mut String, name: &str) {
    if line.is_empty() {
        line.push_str(name);
        return;
    }
    line.push(';');
    match name.bytes().next() {
        Some(first) if is_blank(first) => {
            let _ = write!(line, "\\x{first:02x}{}", &name[1..]);
        }
        _ => line.push_str(name),
    }
}

/// The line with its ends escaped where they would be read as something else: a comment, a byte
/// order mark, the blank before the count.
fn protect_ends(mut line: String) -> String {
    if line.starts_with('\u{feff}') {
        line.replace_range(..'\u{feff}'.len_utf8(), "\\xef\\xbb\\xbf");
    } else if is_comment(line.as_bytes()) {
        line.replace_range(..1, "\\x23");
    }
    let tail = line.split_off(line.trim_end_matches([' ', '\t']).len());
    for blank in tail.bytes() {
        let _ = write!(line, "\\x{blank:02x}");
    }
    line
}

/// A weight in its decimal scale, without zeros at the end of a fraction.
struct Scaled {
    value: u128,
    scale: u8,
}

impl std::fmt::Display for Scaled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let one = 10u128.pow(self.scale.into());
        let (whole, fraction) = (self.value / one, self.value % one);
        if fraction == 0 {
            return write!(f, "{whole}");
        }
        let fraction = format!("{fraction:0width$}", width = self.scale.into());
        write!(f, "{whole}.{}", fraction.trim_end_matches('0'))
    }
}
