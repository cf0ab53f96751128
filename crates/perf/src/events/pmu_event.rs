//! Events of a pmu, `pmu/term=value,…/`: named events of its `events` folder, terms of its
//! `format` folder, and the terms that every event has.

use super::error::EventErrorKind;
use super::pmu::Pmu;
use super::spec::{EventKind, EventRate, EventSpec};
use super::term::{self, Config, Field, Term};
use super::{cache, names};
use model::Sampling;
use perf_event_open_sys::bindings as sys;

/// Pmus whose data does not come as samples but as a stream in a buffer of its own, of which
/// flamel has no decoder; by the beginning of their names.
const TRACE_PMUS: &[&str] = &["intel_pt", "intel_bts", "cs_etm", "arm_spe", "hisi_ptt"];

/// Pmus whose events are made by pointers to names, which stand in no term.
const PROBE_PMUS: &[&str] = &["kprobe", "uprobe"];

/// Terms that perf has for every event and flamel has not, each with what to do.
const REFUSED_TERMS: &[(&str, &str)] = &[
    ("call-graph", "is an option of the whole run: `--call-graph`"),
    ("stack-size", "is an option of the whole run: `--call-graph dwarf,BYTES`"),
    ("max-stack", "is not available for one event: leave it out"),
    ("inherit", "is an option of the whole run, and what it asks for is the default"),
    ("no-inherit", "is an option of the whole run: `--no-inherit`"),
    ("time", "is not available: every sample has its time"),
    ("overwrite", "is not available: rings are read while they fill"),
    ("no-overwrite", "asks for what is always so: leave it out"),
    ("branch_type", "is not available: leave it out"),
    ("percore", "is for counting and not for samples: leave it out"),
    ("aux-output", "needs a pmu that writes a stream, which flamel does not read: leave it out"),
    ("aux-sample-size", "needs a pmu that writes a stream, which flamel does not read: leave it out"),
    ("config3", "is not available: no event that takes samples has it"),
];

/// What all terms together say.
#[derive(Default)]
struct Said<'a> {
    config: Config,
    rate: Option<Sampling>,
    name: Option<String>,
    named_event: Option<&'a str>,
    /// A generic event, `cycles` or `LLC-loads`, on this kind of core.
    generic: Option<(EventKind, u64)>,
}

/// The event of `pmu` with these terms, shown as `base` unless a term names it.
pub(super) fn resolve(pmu: &Pmu, terms: &str, base: &str) -> Result<EventSpec, EventErrorKind> {
    refuse_unsampled(pmu)?;
    let terms = term::split(terms);
    refuse_twice(&terms)?;
    let mut said = Said::default();
    // What is given overrides what a named event stands for, and a term overrides the bits of a
    // whole number, whatever their order.
    let mut rest = Vec::new();
    for term in &terms {
        if term.value.is_some() || !expand_named(pmu, term.key, &terms, &mut said)? {
            rest.push(term);
        }
    }
    rest.sort_by_key(|term| !term.key.starts_with("config") && raw_number(term.key).is_none());
    for term in rest {
        if !common_term(term, &mut said)? {
            pmu_term(pmu, term, &mut said)?;
        }
    }
    spec_of(pmu, &said, base)
}

/// A generic event with terms, `cpu-clock/period=100000/`: only those that every event has.
pub(super) fn apply_common(spec: &EventSpec, terms: &str) -> Result<EventSpec, EventErrorKind> {
    let mut said = Said::default();
    for term in term::split(terms) {
        if matches!(term.key, "config" | "config1" | "config2") || !common_term(&term, &mut said)? {
            return Err(EventErrorKind::UnknownTerm {
                pmu: spec.name.split('/').next().unwrap_or_default().to_owned(),
                term: term.key.to_owned(),
                known: ["name", "period", "freq"].map(String::from).into(),
            });
        }
    }
    let mut spec = match &said.name {
        Some(name) => spec.renamed(name),
        None => spec.clone(),
    };
    if let Some(rate) = said.rate {
        spec.rate = EventRate::Fixed(rate);
    }
    Ok(spec)
}

fn refuse_twice(terms: &[Term<'_>]) -> Result<(), EventErrorKind> {
    for (index, term) in terms.iter().enumerate() {
        if let Some(earlier) = terms[..index].iter().find(|earlier| earlier.key == term.key) {
            let [first, second] = [earlier, term].map(|term| term.value.unwrap_or("1"));
            let twice = format!("the term `{}` is given twice, as {first} and as {second}", term.key);
            return Err(EventErrorKind::TermConflict(twice));
        }
    }
    Ok(())
}

fn refuse_unsampled(pmu: &Pmu) -> Result<(), EventErrorKind> {
    if TRACE_PMUS.iter().any(|prefix| pmu.name.starts_with(prefix)) {
        return Err(EventErrorKind::NotSampled(format!(
            "the pmu `{}` writes a stream of its own instead of samples, which flamel does not read",
            pmu.name
        )));
    }
    if PROBE_PMUS.contains(&pmu.name.as_str()) {
        return Err(EventErrorKind::NotSampled(
            "a probe needs a place in code, which terms cannot hold: make one with `perf probe`, and sample the \
             tracepoint that it becomes"
                .into(),
        ));
    }
    if pmu.number == sys::PERF_TYPE_BREAKPOINT {
        return Err(EventErrorKind::NotSampled("a breakpoint is written `mem:ADDRESS[/LENGTH][:rwx]`".into()));
    }
    Ok(())
}

fn spec_of(pmu: &Pmu, said: &Said<'_>, base: &str) -> Result<EventSpec, EventErrorKind> {
    let (kind, config) = said.generic.unwrap_or((EventKind::from_number(pmu.number), said.config.0[0]));
    let mut spec = EventSpec::new(said.name.as_deref().unwrap_or(base), kind, config);
    [spec.config1, spec.config2] = [said.config.0[1], said.config.0[2]];
    spec.placement = pmu.placement()?;
    if let Some(event) = said.named_event {
        spec.scale = pmu.scale(event)?;
    }
    if let Some(rate) = said.rate {
        spec.rate = EventRate::Fixed(rate);
    }
    Ok(spec)
}

/// Terms that every event has. False where `term` is none of them.
fn common_term(term: &Term<'_>, said: &mut Said<'_>) -> Result<bool, EventErrorKind> {
    let word = match term.key {
        "name" => {
            let empty = || EventErrorKind::TermConflict("the term `name` needs a name after `=`".into());
            said.name = Some(term.value.filter(|name| !name.is_empty()).ok_or_else(empty)?.to_owned());
            return Ok(true);
        }
        "period" | "freq" => {
            let value = term.value.and_then(term::number).filter(|&value| value > 0);
            let value = value.ok_or_else(|| EventErrorKind::TermValue {
                term: term.key.to_owned(),
                value: term.value.unwrap_or_default().to_owned(),
            })?;
            let rate = if term.key == "freq" { Sampling::Frequency(value) } else { Sampling::Period(value) };
            return match said.rate.replace(rate) {
                Some(Sampling::Frequency(_)) if term.key == "period" => Err(both_rates()),
                Some(Sampling::Period(_)) if term.key == "freq" => Err(both_rates()),
                _ => Ok(true),
            };
        }
        "config" => 0,
        "config1" => 1,
        "config2" => 2,
        other => match REFUSED_TERMS.iter().find(|(refused, _)| *refused == other) {
            Some((_, reason)) => return Err(EventErrorKind::TermRefused { term: other.to_owned(), reason }),
            None => return Ok(false),
        },
    };
    Field::whole(word).write(&mut said.config, term.key, term.number()?)?;
    Ok(true)
}

fn both_rates() -> EventErrorKind {
    EventErrorKind::TermConflict("`period` and `freq` exclude each other: give one of them".into())
}

/// A term of the pmu's own, a raw number, or a generic event of the core.
fn pmu_term(pmu: &Pmu, term: &Term<'_>, said: &mut Said<'_>) -> Result<(), EventErrorKind> {
    if let Some(field) = pmu.field(term.key)? {
        return field.write(&mut said.config, term.key, term.number()?);
    }
    let unknown = || EventErrorKind::UnknownTerm {
        pmu: pmu.name.clone(),
        term: term.key.to_owned(),
        known: pmu.terms().into_iter().chain(pmu.events()).collect(),
    };
    if term.value.is_some() {
        return Err(unknown());
    }
    if let Some(raw) = raw_number(term.key) {
        return Field::whole(0).write(&mut said.config, term.key, raw?);
    }
    said.generic = Some(generic_on(pmu, term.key).filter(|_| pmu.is_core()).ok_or_else(unknown)?);
    Ok(())
}

/// A generic event on one kind of core. Which kind stands in the upper half of `config` (Linux
/// 5.14, `PERF_PMU_TYPE_SHIFT`); the number 4 is that of a processor whose cores are alike.
pub(super) fn generic_on(pmu: &Pmu, event: &str) -> Option<(EventKind, u64)> {
    let (kind, config) = generic(event)?;
    let core = if pmu.number == sys::PERF_TYPE_RAW { 0 } else { u64::from(pmu.number) << 32 };
    Some((kind, core | config))
}

/// Kind and number of a generic event of the processor.
pub(super) fn generic(event: &str) -> Option<(EventKind, u64)> {
    match names::find(names::HARDWARE, event) {
        Some(entry) => Some((EventKind::Hardware, entry.config.into())),
        None => Some((EventKind::HardwareCache, cache::config(event)?)),
    }
}

/// The number of a raw event, `r` and hexadecimal digits; `None` where `text` is no such thing.
pub(super) fn raw_number(text: &str) -> Option<Result<u64, EventErrorKind>> {
    let digits = text.strip_prefix('r')?;
    // The one word that reads as a number; to perf it is part of a cache event.
    let is_raw = text != "read" && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_raw.then(|| u64::from_str_radix(digits, 16).map_err(|_| EventErrorKind::RawTooLong))
}

/// Replaces a named event by its terms. False where the pmu has no event of this name.
fn expand_named<'a>(
    pmu: &Pmu,
    event: &'a str,
    given: &[Term<'_>],
    said: &mut Said<'a>,
) -> Result<bool, EventErrorKind> {
    let Some(list) = pmu.event(event)? else { return Ok(false) };
    if let Some(other) = said.named_event.replace(event) {
        return Err(EventErrorKind::TermConflict(format!("`{other}` and `{event}` are two events: give one of them")));
    }
    for term in term::split(&list) {
        if given.iter().any(|given| given.key == term.key && given.value.is_some()) {
            continue;
        }
        if term.value == Some("?") {
            return Err(EventErrorKind::TermNeeded { event: event.to_owned(), term: term.key.to_owned() });
        }
        if common_term(&term, said)? {
            continue;
        }
        let unknown =
            || EventErrorKind::UnknownTerm { pmu: pmu.name.clone(), term: term.key.to_owned(), known: pmu.terms() };
        pmu.field(term.key)?.ok_or_else(unknown)?.write(&mut said.config, term.key, term.number()?)?;
    }
    Ok(true)
}
