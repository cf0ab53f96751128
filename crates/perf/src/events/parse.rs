//! From one event's text to what it is: which of the syntaxes it is written in, and where its
//! modifiers begin.

use super::error::{EventError, EventErrorKind};
use super::list::{self, BREAKPOINT, Item};
use super::modifiers::{Modifiers, Precision};
use super::nearest::nearest;
use super::pmu::Pmu;
use super::pmu_event::{apply_common, generic, generic_on, raw_number, resolve};
use super::roots::Roots;
use super::spec::{EventKind, EventSpec};
use super::{breakpoint, cache, names, tracepoint};

/// The events of a list as `-e` takes it, in its order. One name may stand for several events: a
/// pattern of tracepoints, or a hardware event on a processor with several kinds of cores, which
/// needs a counter for each kind.
///
/// # Errors
/// The first event that is not understood or that this machine does not have.
pub fn parse(list: &str, roots: &Roots) -> Result<Vec<EventSpec>, EventError> {
    let mut specs = Vec::new();
    for (item, wrong) in list::split(list) {
        let found = wrong.map_or_else(|| event(item, roots), Err);
        let located = |kind| EventError { event: item.text.to_owned(), position: item.position, kind };
        specs.extend(found.map_err(located)?);
    }
    Ok(specs)
}

fn event(Item { text, .. }: Item<'_>, roots: &Roots) -> Result<Vec<EventSpec>, EventErrorKind> {
    if text.starts_with(BREAKPOINT) {
        return Ok(vec![breakpoint::parse(text)?]);
    }
    if let Some((name, rest)) = text.split_once('/') {
        // The list has made sure of the second slash, and perf takes modifiers right behind it.
        let (terms, modifiers) = rest.rsplit_once('/').unwrap_or((rest, ""));
        let modifiers = modifiers.strip_prefix(':').unwrap_or(modifiers);
        return modified(with_terms(name, terms, roots)?, modifiers, roots);
    }
    let (name, modifiers) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
    match named(name, roots)? {
        Some(specs) => modified(specs, modifiers.unwrap_or_default(), roots),
        None => match modifiers {
            None => Err(unknown(text, roots)),
            Some(rest) => tracepoints(name, rest, roots),
        },
    }
}

/// An event that is known by its name alone.
fn named(name: &str, roots: &Roots) -> Result<Option<Vec<EventSpec>>, EventErrorKind> {
    if let Some((_, why)) = names::NOT_SAMPLED.iter().find(|(not_sampled, _)| *not_sampled == name) {
        return Err(EventErrorKind::NotSampled((*why).to_owned()));
    }
    if let Some(entry) = names::find(names::SOFTWARE, name) {
        return Ok(Some(vec![EventSpec::new(name, EventKind::Software, entry.config.into())]));
    }
    if let Some((kind, config)) = generic(name) {
        return on_all_cores(name, EventSpec::new(name, kind, config), roots).map(Some);
    }
    if let Some(config) = raw_number(name) {
        return on_all_cores(name, EventSpec::new(name, EventKind::Raw, config?), roots).map(Some);
    }
    let owners: Vec<Pmu> = Pmu::all(roots).filter(|pmu| matches!(pmu.event(name), Ok(Some(_)))).collect();
    if owners.is_empty() {
        return Ok(None);
    }
    let shown = |pmu: &Pmu| if owners.len() == 1 { name.to_owned() } else { format!("{}/{name}/", pmu.name) };
    owners.iter().map(|pmu| resolve(pmu, name, &shown(pmu))).collect::<Result<_, _>>().map(Some)
}

/// A hardware event, on every kind of core where there are several.
fn on_all_cores(name: &str, everywhere: EventSpec, roots: &Roots) -> Result<Vec<EventSpec>, EventErrorKind> {
    let cores = Pmu::kinds_of_cores(roots);
    if cores.is_empty() {
        return Ok(vec![everywhere]);
    }
    let mut specs = Vec::new();
    for pmu in cores {
        let raw = (EventKind::from_number(pmu.number), everywhere.config);
        let (kind, config) = generic_on(&pmu, name).unwrap_or(raw);
        let mut spec = EventSpec::new(&format!("{}/{name}/", pmu.name), kind, config);
        spec.placement = pmu.placement()?;
        specs.push(spec);
    }
    Ok(specs)
}

/// `name/terms/`: of a pmu, or a generic event with the terms that every event has.
fn with_terms(name: &str, terms: &str, roots: &Roots) -> Result<Vec<EventSpec>, EventErrorKind> {
    let base = format!("{name}/{terms}/");
    if let Some(pmu) = Pmu::open(roots, name)? {
        return Ok(vec![resolve(&pmu, terms, &base)?]);
    }
    let Some(specs) = named(name, roots)? else {
        let pmu = name.to_owned();
        return Err(EventErrorKind::UnknownPmu { nearest: nearest(name, Pmu::names(roots)), pmu });
    };
    let several = specs.len() > 1;
    // On several kinds of cores each keeps its own name, which says where it counts.
    let shown = |spec: &EventSpec| if several { spec.clone() } else { spec.renamed(&base) };
    specs.iter().map(|spec| apply_common(&shown(spec), terms)).collect()
}

/// `group:name[:modifiers]`, where `group` is no event that would take modifiers.
fn tracepoints(group: &str, rest: &str, roots: &Roots) -> Result<Vec<EventSpec>, EventErrorKind> {
    let (name, modifiers) = rest.split_once(':').unwrap_or((rest, ""));
    match tracepoint::find(roots, group, name) {
        Ok(found) if !found.is_empty() => modified(found, modifiers, roots),
        // `cyclez:u` is a misspelt event rather than a tracepoint that cannot be looked for.
        Ok(_) | Err(_) if Modifiers::looks_like(rest) => Err(unknown(group, roots)),
        Ok(_) => Err(unknown(&format!("{group}:{name}"), roots)),
        Err(kind) => Err(kind),
    }
}

fn modified(specs: Vec<EventSpec>, written: &str, roots: &Roots) -> Result<Vec<EventSpec>, EventErrorKind> {
    let modifiers = Modifiers::parse(written)?;
    Ok(specs
        .into_iter()
        .map(|spec| {
            let mut spec = spec.with_modifiers(modifiers, written);
            if let Precision::AtMost(level) = modifiers.precision {
                spec.modifiers.precision = Precision::AtMost(level.min(highest_precision(&spec, roots)));
            }
            spec
        })
        .collect())
}

/// What the core's pmu says of its precision; clocks and tracepoints have none. A pmu that says 0
/// is asked all the same: AMD's cores hand precise events on to another pmu (IBS).
fn highest_precision(spec: &EventSpec, roots: &Roots) -> u8 {
    if !spec.kind.needs_hardware() {
        return 0;
    }
    let core = spec.name.split_once('/').map_or("cpu", |(pmu, _)| pmu);
    let told = Pmu::open(roots, core).ok().flatten().and_then(|pmu| pmu.highest_precision());
    told.filter(|&level| level > 0).unwrap_or(Precision::HIGHEST)
}

fn unknown(name: &str, roots: &Roots) -> EventErrorKind {
    let tables = names::HARDWARE.iter().chain(names::SOFTWARE);
    let tables = tables.flat_map(|entry| std::iter::once(&entry.name).chain(entry.aliases));
    let known = tables.map(|&name| name.to_owned()).chain(cache::listed());
    let of_pmu = |pmu: Pmu| {
        let events = pmu.events().into_iter();
        events.flat_map(|event| [format!("{}/{event}/", pmu.name), event]).collect::<Vec<_>>()
    };
    let pmus = Pmu::all(roots).flat_map(of_pmu);
    // A tracepoint without a number is listed and cannot be used.
    let others = known.chain(pmus).chain(tracepoint::names(roots)).filter(|other| other != name);
    EventErrorKind::Unknown { nearest: nearest(name, others) }
}
