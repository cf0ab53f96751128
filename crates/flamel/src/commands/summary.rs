//! What is told on standard error: remarks, tables, what is missing, where the files are.

use capture::{Ended, Outcome, Request, Target};
use model::{EventId, Profile, SampleLoss, Unit};
use std::io::{self, Write, stderr};
use std::path::PathBuf;
use views::{TopOrder, TopTable, TopTextOptions, quality, write_top_table};

/// How many functions each table after a recording shows.
const TOP_ROWS: usize = 10;

/// Tells remarks, one a line.
pub fn remarks(remarks: &[String]) {
    remarks.iter().for_each(|remark| warn(remark));
}

/// Tells one thing.
pub fn warn(sentence: &str) {
    // Where standard error is gone nobody can be told.
    let _ = writeln!(stderr(), "flamel: {sentence}");
}

/// Tells where the results are.
pub fn files(files: &[PathBuf]) {
    files.iter().for_each(|file| warn(&format!("wrote `{}`", file.display())));
}

/// The top functions of one event, by self and by total, and what is missing.
pub fn print(profile: &Profile, event: EventId) {
    let mut text = Vec::new();
    if tables(profile, event, TOP_ROWS, &mut text).is_ok() {
        let _ = stderr().write_all(&text);
    }
}

/// Writes the same with `rows` functions.
pub fn table(profile: &Profile, event: EventId, rows: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut text = Vec::new();
    tables(profile, event, rows, &mut text).map_err(io::Error::other)?;
    out.write_all(&text)
}

/// Tells what is missing of an event's samples, where something is.
pub fn missing(profile: &Profile, event: EventId) {
    // The first sentence says what there is.
    quality::sentences(profile, event).iter().skip(1).for_each(|sentence| warn(sentence));
}

fn tables(profile: &Profile, event: EventId, rows: usize, out: &mut Vec<u8>) -> Result<(), views::Error> {
    let table = TopTable::new(profile, event);
    for order in [TopOrder::Own, TopOrder::Total] {
        write_top_table(&table, TopTextOptions { order, rows, width: terminal_width() }, out)?;
        out.push(b'\n');
    }
    for sentence in quality::sentences(profile, event) {
        out.extend_from_slice(sentence.as_bytes());
        out.push(b'\n');
    }
    Ok(())
}

fn terminal_width() -> usize {
    rustix::termios::tcgetwinsize(stderr())
        .map(|size| usize::from(size.ws_col))
        .ok()
        .filter(|width| *width > 0)
        .unwrap_or(100)
}

/// The lines below a picture's title.
pub fn subtitle(profile: &Profile, event: EventId) -> Vec<String> {
    std::iter::once(quality::subtitle(profile, event)).chain(profile.recording.remarks.iter().cloned()).collect()
}

/// Why a recording may have found nothing.
pub fn why_no_samples(profile: &Profile, request: &Request, outcome: &Outcome) -> String {
    let lost = profile.losses.count(SampleLoss::RingFull);
    let idle = profile.losses.count(SampleLoss::Idle);
    let own = profile.losses.count(SampleLoss::Own);
    let events: Vec<_> = profile.events.iter().map(|event| event.name.as_str()).collect();
    let by_time = profile.events.iter().any(|event| event.unit == Unit::Nanoseconds);
    let cause = if lost > 0 {
        format!("all {lost} were lost: the ring buffer was full; give it more room with `-m 16M`")
    } else if idle > 0 {
        format!("all {idle} were of idle CPUs; show them with `--idle`")
    } else if outcome.duration.is_zero() {
        "it ended before sampling began; try a shorter `--delay`".into()
    } else if !by_time {
        "the event did not occur where it was looked for".into()
    } else if outcome.ended == Ended::CommandEnded && outcome.duration.as_millis() < 50 {
        "the command ended within milliseconds; sample more often with `-F 9970`, or give it more to do".into()
    } else if own > 0 {
        format!("all {own} were of flamel itself, which `--exclude-self` leaves out")
    } else if let Target::Cgroups(_) = request.target {
        "nothing in the cgroup used CPU time meanwhile; record longer with `-d`".into()
    } else if !matches!(request.target, Target::Command | Target::System) {
        "it used next to no CPU time meanwhile (it slept or waited); record longer with `-d`".into()
    } else {
        "next to no CPU time was used: it slept or waited".into()
    };
    format!("no samples of {} in {:.1} s: {cause}", events.join(", "), outcome.duration.as_secs_f64())
}
