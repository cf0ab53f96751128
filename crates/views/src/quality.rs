//! What a reader must know before trusting a picture, in plain sentences: how much was
//! sampled, what was lost, which stacks are cut and which names are missing, and what helps.
//! What is as it should be is not spoken of.

use crate::Measure;
use crate::advice::{name_advice, stack_advice};
use crate::quantity::{duration, percent_in_words, thousands};
use crate::svg::xml::visible;
use crate::tree_builder::is_cut;
use model::id::Id;
use model::{EventId, NameMissing, Profile, SampleLoss, Sampling, StackEnd};

/// The most lines about cut stacks, and the most about missing names; what is less frequent is
/// summed up in one more.
const MOST_LINES: usize = 3;

/// The quality of an event's samples: the sum first, then whatever is not perfect, each a
/// sentence in lower case without a full stop.
pub fn sentences(profile: &Profile, event: EventId) -> Vec<String> {
    let mut lines = vec![sum(profile, event)];
    lines.extend(losses(profile, event));
    lines.extend(stacks(profile, event));
    lines.extend(names(profile, event));
    lines
}

/// The same in one short line, for the picture: `cycles · 29,870 samples · 1.2 % lost`.
pub fn subtitle(profile: &Profile, event: EventId) -> String {
    let totals = profile.totals(event);
    let measure = Measure::of(profile, event);
    let mut parts = Vec::new();
    if measure.unit == model::Unit::Samples {
        parts.push(measure.text(totals.weight));
    } else {
        parts.push(visible(&measure.event).into_owned());
        parts.push(count_of(totals.count, "sample"));
        let weight = match measure.unit {
            model::Unit::Occurrences => thousands(totals.weight),
            _ => measure.text(totals.weight),
        };
        parts.push(weight);
    }
    match profile.events.get(event.index()).map(|event| event.sampling) {
        Some(Sampling::Frequency(hertz)) => parts.push(format!("{} Hz", thousands(hertz))),
        Some(Sampling::Period(period)) if period > 1 => parts.push(format!("one in {}", thousands(period))),
        _ => {}
    }
    parts.extend(profile.recording.duration.map(|span| format!("recorded for {}", duration(span))));
    for (reason, count) in profile.losses.iter_of(event).filter(|(reason, _)| *reason != SampleLoss::Idle) {
        parts.push(match reason {
            SampleLoss::RingFull => format!("{} lost", share_of_all(count, totals.count)),
            _ => format!("{} {}", thousands(count), reason.sentence()),
        });
    }
    if profile.losses.throttled > 0 {
        parts.push(format!("throttled {}", times(profile.losses.throttled)));
    }
    let ends = profile.stack_ends(event);
    let cut = ends.iter().filter(|(end, _)| is_cut(*end)).map(|(_, count)| count).sum::<u64>();
    if cut > 0 {
        parts.push(format!("{} of the stacks cut", percent_in_words(cut.into(), totals.count.into())));
    }
    let quality = profile.name_quality(event);
    let nameless = quality.missing.iter().map(|(_, _, count)| count).sum::<u64>();
    if nameless > 0 {
        parts
            .push(format!("{} of the frames without a name", percent_in_words(nameless.into(), quality.frames.into())));
    }
    parts.join(" · ")
}

fn sum(profile: &Profile, event: EventId) -> String {
    let totals = profile.totals(event);
    let measure = Measure::of(profile, event);
    if totals == model::Totals::default() {
        return "no samples".into();
    }
    match measure.unit {
        model::Unit::Samples => measure.text(totals.weight),
        unit => {
            let weight = match unit {
                model::Unit::Occurrences => format!("{} counted", thousands(totals.weight)),
                _ => measure.text(totals.weight),
            };
            format!("{} of {}, {weight} in all", count_of(totals.count, "sample"), visible(&measure.event))
        }
    }
}

fn losses(profile: &Profile, event: EventId) -> Vec<String> {
    let kept = profile.totals(event).count;
    let mut lines: Vec<(u64, String)> = profile
        .losses
        .iter_of(event)
        .map(|(reason, count)| {
            let number = thousands(count);
            let sentence = reason.sentence();
            let share = share_of_all(count, kept);
            let line = match reason {
                SampleLoss::RingFull => {
                    format!(
                        "{} {sentence} ({share}); a larger ring (`-m 16M`) or a lower rate (`-F`) helps",
                        count_of(count, "sample")
                    )
                }
                SampleLoss::SideBandLost => format!("{number} {sentence}; some names may be wrong"),
                SampleLoss::Idle => format!("{number} {sentence} ({share} of all)"),
                _ => format!("{number} {sentence}"),
            };
            (count, line)
        })
        .collect();
    lines.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let mut lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    if profile.losses.throttled > 0 {
        let long = match profile.losses.throttled_time {
            time if time.is_zero() => String::new(),
            time => format!(", for {} summed over CPUs", duration(time)),
        };
        lines.push(format!("the kernel held the event back {}{long}", times(profile.losses.throttled)));
    }
    lines
}

fn stacks(profile: &Profile, event: EventId) -> Vec<String> {
    let ends = profile.stack_ends(event);
    let all = sum_of(ends.iter().map(|(_, count)| *count));
    // A stack without a user part is no cut one, but it is not whole either.
    let is_partial = |end: StackEnd| is_cut(end) || end == StackEnd::NoUserStack;
    let mut cut: Vec<(StackEnd, u64)> = ends.iter().copied().filter(|(end, _)| is_partial(*end)).collect();
    cut.sort_by_key(|&(end, count)| (std::cmp::Reverse(count), end));
    if cut.is_empty() {
        return Vec::new();
    }
    let whole = ends.iter().find(|(end, _)| *end == StackEnd::Bottom).map_or(0, |(_, count)| *count);
    let share = |count: u128| percent_in_words(count, all);
    let mut lines = vec![format!("{} of the stacks are whole", share(whole.into()))];
    for &(end, count) in cut.iter().take(MOST_LINES) {
        let advice = stack_advice(end, profile.recording.call_graph);
        lines.push(with_advice(format!("{} of the stacks are {}", share(count.into()), end.sentence()), advice));
    }
    let rest = sum_of(cut.iter().skip(MOST_LINES).map(|(_, count)| *count));
    if rest > 0 {
        lines.push(format!("{} of the stacks are not whole for other reasons", share(rest)));
    }
    lines
}

fn names(profile: &Profile, event: EventId) -> Vec<String> {
    let quality = profile.name_quality(event);
    // Where what helps is the same for all files, they are one line.
    let mut missing: Vec<(Option<String>, NameMissing, u128)> = Vec::new();
    for (mapping, reason, count) in quality.missing {
        let file = mapping
            .filter(|_| depends_on_file(reason))
            .map(|mapping| visible(profile.mapping_name(mapping)).into_owned());
        match missing.iter_mut().find(|(known, why, _)| *known == file && *why == reason) {
            Some((_, _, sum)) => *sum += u128::from(count),
            None => missing.push((file, reason, count.into())),
        }
    }
    missing.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count));
    let share = |count: u128| percent_in_words(count, quality.frames.into());
    let mut lines: Vec<String> = missing
        .iter()
        .take(MOST_LINES)
        .map(|(file, reason, count)| {
            let place = file.as_ref().map(|file| format!(" (`{file}`)")).unwrap_or_default();
            let line = format!("{} of the frames have no name{place}: {}", share(*count), reason.sentence());
            with_advice(line, name_advice(*reason))
        })
        .collect();
    let rest = &missing[missing.len().min(MOST_LINES)..];
    if !rest.is_empty() {
        let sum = rest.iter().map(|(_, _, count)| count).sum();
        let places = if rest.len() == 1 { "one more place".into() } else { format!("{} more places", rest.len()) };
        lines.push(format!("{} of the frames have no name in {places}", share(sum)));
    }
    lines
}

fn depends_on_file(reason: NameMissing) -> bool {
    use NameMissing::{FileGone, Permission, Replaced, Stripped, Unreadable};
    matches!(reason, FileGone | Permission | Replaced | Stripped | Unreadable)
}

fn with_advice(line: String, advice: Option<String>) -> String {
    match advice {
        Some(advice) => format!("{line}; {advice}"),
        None => line,
    }
}

/// Counts of a text may be anything up to 2^64: their sums take more.
fn sum_of(counts: impl Iterator<Item = u64>) -> u128 {
    counts.map(u128::from).sum()
}

fn share_of_all(missing: u64, kept: u64) -> String {
    percent_in_words(missing.into(), u128::from(missing) + u128::from(kept))
}

fn count_of(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(count), if count == 1 { "" } else { "s" })
}

fn times(count: u64) -> String {
    match count {
        1 => "once".into(),
        _ => format!("{} times", thousands(count)),
    }
}
