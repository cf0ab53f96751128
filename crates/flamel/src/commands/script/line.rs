//! One sample as text, column by column as perf prints it.

use super::fields::{Field, Fields};
use crate::commands::recording::Recording;
use model::{Branch, CodeKind, Context, Event, Frame, LocationAddress, Profile, Sample, TaskId, id::Id as _};
use resolve::StackFrame;
use std::io::{self, Write};

/// What is printed, and how wide.
pub struct Layout {
    fields: Fields,
    nanoseconds: bool,
    /// The most frames; 0 for all.
    max_stack: usize,
    /// Whether the recording has callchains, which are printed a frame a line.
    has_callchains: bool,
    /// The names of the events, all in a column.
    events: Vec<String>,
    event_width: usize,
}

impl Layout {
    /// The layout for a recording.
    pub fn new(recording: &Recording, fields: Fields, nanoseconds: bool, max_stack: usize) -> Self {
        let events: Vec<String> = recording.events().iter().map(|event| event.description.name.clone()).collect();
        Self {
            fields,
            nanoseconds,
            max_stack,
            has_callchains: recording.has_callchains(),
            event_width: events.iter().map(String::len).max().unwrap_or(0),
            events,
        }
    }
}

/// Prints samples.
pub struct Printer<W> {
    layout: Layout,
    /// Where to.
    pub out: W,
    /// Callchains that were cut to the frames shown.
    pub cut: u64,
}

impl<W: Write> Printer<W> {
    /// Nothing is printed yet.
    pub fn new(layout: Layout, out: W) -> Self {
        Self { layout, out, cut: 0 }
    }

    /// Prints a sample of `task` with these frames, the leaf first.
    pub fn sample(
        &mut self,
        event: &Event<'_>,
        sample: &Sample<'_>,
        task: TaskId,
        frames: &[StackFrame],
        profile: &Profile,
    ) -> io::Result<()> {
        let Self { layout, out, cut } = self;
        let has = |field| layout.fields.has(field);
        if has(Field::Comm) {
            let name = profile.text(profile.tasks[task].name);
            let width = if layout.has_callchains && has(Field::Ip) { 0 } else { 16 };
            write!(out, "{name:>width$} ")?;
        }
        // perf's numbers are signed, and -1 stands for what is not known.
        let (pid, tid) = (event.task.pid.0 as i32, event.task.tid.0 as i32);
        match (has(Field::Pid), has(Field::Tid)) {
            (true, true) => write!(out, "{pid:>5}/{tid:<5} ")?,
            (true, false) => write!(out, "{pid:>5} ")?,
            (false, true) => write!(out, "{tid:>5} ")?,
            (false, false) => {}
        }
        if let (true, Some(cpu)) = (has(Field::Cpu), event.cpu) {
            write!(out, "[{:03}] ", cpu.0 as i32)?;
        }
        if let (true, Some(time)) = (has(Field::Time), event.time) {
            let (seconds, ns) = (time.as_ns() / 1_000_000_000, time.as_ns() % 1_000_000_000);
            match layout.nanoseconds {
                true => write!(out, "{seconds:>5}.{ns:09}: ")?,
                false => write!(out, "{:>12}: ", Micros(seconds, ns / 1000))?,
            }
        }
        if has(Field::Period) {
            write!(out, "{:>10} ", sample.period)?;
        }
        if has(Field::Event) {
            let name = layout.events.get(sample.event.index()).map_or("[unknown]", String::as_str);
            write!(out, "{name:>width$}: ", width = layout.event_width)?;
        }
        if let (true, Some(address)) = (has(Field::Addr), sample.data_address) {
            write!(out, "{:>16x}", address.0)?;
        }
        if has(Field::Ip) {
            if layout.has_callchains {
                writeln!(out)?;
                let most = if layout.max_stack == 0 { usize::MAX } else { layout.max_stack };
                *cut += u64::from(frames.len() > most);
                for frame in frames.iter().take(most) {
                    callchain_frame(out, &layout.fields, frame, profile)?;
                }
            } else if let Some(leaf) = frames.first() {
                write!(out, " {:>16x}", leaf.address.raw().0)?;
                if has(Field::Sym) {
                    let own = profile.frames(leaf.location).ok().and_then(<[Frame]>::last);
                    write_name(out, &layout.fields, own, leaf, profile)?;
                }
                write_file(out, &layout.fields, leaf, profile)?;
            }
        }
        if has(Field::BrStack) {
            sample.branches.iter().try_for_each(|branch| print_branch(out, branch))?;
        }
        writeln!(out)
    }
}

/// A frame's line, before it those of the functions that were inlined into it.
fn callchain_frame(out: &mut impl Write, fields: &Fields, frame: &StackFrame, profile: &Profile) -> io::Result<()> {
    let address = shown_address(frame, profile);
    let names = profile.frames(frame.location).unwrap_or_default();
    let (own, inlined) = names.split_last().map_or((None, names), |(own, inlined)| (Some(own), inlined));
    if fields.has(Field::Sym) {
        for name in inlined {
            writeln!(out, "\t{address:>16x} {} (inlined)", profile.function_name(name.function))?;
        }
    }
    write!(out, "\t{address:>16x}")?;
    if fields.has(Field::Sym) {
        write_name(out, fields, own, frame, profile)?;
    }
    write_file(out, fields, frame, profile)?;
    writeln!(out)
}

fn write_name(
    out: &mut impl Write,
    fields: &Fields,
    own: Option<&Frame>,
    frame: &StackFrame,
    profile: &Profile,
) -> io::Result<()> {
    let Some(own) = own else { return write!(out, " [unknown]") };
    write!(out, " {}", profile.function_name(own.function))?;
    match own.offset.filter(|_| fields.has(Field::SymOff)) {
        // Names are looked up by a place within the call, and shown with the place behind it.
        Some(offset) => write!(out, "+{:#x}", offset + behind_lookup(frame)),
        None => Ok(()),
    }
}

fn write_file(out: &mut impl Write, fields: &Fields, frame: &StackFrame, profile: &Profile) -> io::Result<()> {
    if !fields.has(Field::Dso) {
        return Ok(());
    }
    let location = profile.location(frame.location);
    let path = location.mapping.map(|mapping| profile.text(profile.mappings[mapping].path));
    match (frame.context, location.kind, path) {
        (Context::Kernel, _, None | Some("[kernel]")) => write!(out, " ([kernel.kallsyms])"),
        (_, CodeKind::Jit, _) => write!(out, " (//anon)"),
        (_, _, Some(path)) => write!(out, " ({path})"),
        (_, _, None) => write!(out, " ([unknown])"),
    }
}

/// In a callchain, perf shows where in its file a user address lies.
fn shown_address(frame: &StackFrame, profile: &Profile) -> u64 {
    match profile.location(frame.location).address {
        LocationAddress::File(offset) if frame.context != Context::Kernel => offset.0 + behind_lookup(frame),
        _ => frame.address.raw().0,
    }
}

fn behind_lookup(frame: &StackFrame) -> u64 {
    frame.address.raw().0.wrapping_sub(frame.address.lookup().0)
}

/// From, to, and the flags of `struct perf_branch_entry`: 1 bit each for mispredicted, predicted, in a
/// transaction, aborted; 16 bits of cycles; 4 bits of kind.
fn print_branch(out: &mut impl Write, branch: Branch) -> io::Result<()> {
    let bit = |at: u32| branch.flags >> at & 1 != 0;
    let predicted = match (bit(0), bit(1)) {
        (true, _) => 'M',
        (false, true) => 'P',
        (false, false) => '-',
    };
    let cycles = branch.flags >> 4 & 0xffff;
    let kind = BRANCH_KINDS.get((branch.flags >> 20 & 0xf) as usize).copied().unwrap_or_default();
    write!(
        out,
        " {:#x}/{:#x}/{predicted}/{}/{}/{cycles}/{kind} ",
        branch.from.0,
        branch.to.0,
        if bit(2) { 'X' } else { '-' },
        if bit(3) { 'A' } else { '-' },
    )
}

/// `PERF_BR_*`
const BRANCH_KINDS: [&str; 12] =
    ["", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET", "SYSCALL", "SYSRET", "COND_CALL", "COND_RET", "ERET"];

/// Seconds and microseconds, to be padded as one.
struct Micros(u64, u64);

impl std::fmt::Display for Micros {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&format!("{}.{:06}", self.0, self.1))
    }
}
