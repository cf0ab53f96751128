//! `/tmp/perf-PID.map`: the names of code that a process generated, one line each, as runtimes
//! write them for perf (`Documentation/jit-interface.txt` in the kernel's tools/perf). Pure:
//! see [`perf_map_file`](crate::perf_map_file) for where the bytes come from.

use model::Address;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// A process's generated code, by address.
#[derive(Clone, Debug, Default)]
pub struct PerfMap {
    text: Vec<u8>,
    /// By start. Stretches do not overlap.
    code: BTreeMap<u64, Stretch>,
    rejected: u64,
}

/// Code that a process generated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GeneratedCode<'a> {
    /// Its name. What is not UTF-8 in it is written as `\xNN`.
    pub name: Cow<'a, str>,
    /// Its first address.
    pub start: Address,
}

/// Whether a last line without a line end can be believed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tail {
    /// The process is at work: the line may be half written.
    MayGrow,
    /// The process has ended: the line is whole.
    Final,
}

struct Line {
    start: u64,
    size: u64,
    /// Where the name stands in the text.
    name: Range<usize>,
}

/// What a line still has once later ones have taken theirs.
#[derive(Clone, Debug)]
struct Stretch {
    end: u64,
    /// Where the line's code starts, which may lie before the stretch.
    start: u64,
    name: Range<usize>,
}

impl PerfMap {
    /// Reads lines of `START SIZE NAME`, the numbers hexadecimal. Where lines overlap, the
    /// later one counts: memory is used again. A size of zero reaches to the next start.
    pub fn parse(text: Vec<u8>, tail: Tail) -> Self {
        let mut lines = Vec::new();
        let mut rejected = 0;
        let mut start = 0;
        let last = (tail == Tail::Final && text.last() != Some(&b'\n')).then_some(text.len());
        for end in memchr::memchr_iter(b'\n', &text).chain(last) {
            if end > start {
                match line(&text, start..end) {
                    Some(line) => lines.push(line),
                    None => rejected += 1,
                }
            }
            start = end + 1;
        }
        Self { code: lay_out(&lines), text, rejected }
    }

    /// The code at an address.
    pub fn find(&self, address: Address) -> Option<GeneratedCode<'_>> {
        let (_, stretch) = self.code.range(..=address.0).next_back()?;
        (address.0 < stretch.end).then(|| GeneratedCode {
            name: model::text::from_bytes(&self.text[stretch.name.clone()]),
            start: Address(stretch.start),
        })
    }

    /// How many lines were no entries.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Whether no code is named.
    pub fn is_empty(&self) -> bool {
        self.code.is_empty()
    }
}

fn line(text: &[u8], whole: Range<usize>) -> Option<Line> {
    let bytes = &text[whole.clone()];
    let first = memchr::memchr(b' ', bytes)?;
    let second = first + 1 + memchr::memchr(b' ', &bytes[first + 1..])?;
    let name = whole.start + second + 1..whole.end;
    let line = Line { start: number(&bytes[..first])?, size: number(&bytes[first + 1..second])?, name };
    (!line.name.is_empty()).then_some(line)
}

/// A hexadecimal number, with or without `0x`.
fn number(digits: &[u8]) -> Option<u64> {
    let digits = digits.strip_prefix(b"0x").unwrap_or(digits);
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |value, &digit| {
        let digit = char::from(digit).to_digit(16)?;
        (value >> 60 == 0).then_some(value << 4 | u64::from(digit))
    })
}

/// The stretches that each line still has once the later ones have taken theirs.
fn lay_out(lines: &[Line]) -> BTreeMap<u64, Stretch> {
    let mut starts: Vec<u64> = lines.iter().map(|line| line.start).collect();
    starts.sort_unstable();
    let mut code = BTreeMap::new();
    // What is taken, neighbours merged: each stretch is looked at once and then part of a
    // longer one, so that a map of many overlapping lines does not cost their square.
    let mut taken: BTreeMap<u64, u64> = BTreeMap::new();
    for line in lines.iter().rev() {
        let end = match line.size {
            // With nothing after it, only its first byte is certain.
            0 => starts.get(starts.partition_point(|&start| start <= line.start)).copied(),
            size => Some(line.start.saturating_add(size)),
        };
        let end = end.unwrap_or(line.start.saturating_add(1));
        let stretch = |end| Stretch { end, start: line.start, name: line.name.clone() };
        let before = taken.range(..=line.start).next_back().filter(|(_, before_end)| **before_end >= line.start);
        let first = before.map_or(line.start, |(start, _)| *start);
        let met: Vec<(u64, u64)> = taken.range(first..=end).map(|(start, end)| (*start, *end)).collect();
        let (mut from, mut merged_end) = (line.start, end);
        for (met_start, met_end) in met {
            taken.remove(&met_start);
            if from < met_start {
                code.insert(from, stretch(met_start));
            }
            from = from.max(met_end);
            merged_end = merged_end.max(met_end);
        }
        if from < end {
            code.insert(from, stretch(end));
        }
        taken.insert(first, merged_end);
    }
    code
}
