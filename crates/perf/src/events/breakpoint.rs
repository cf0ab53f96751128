//! Breakpoints, `mem:ADDRESS[/LENGTH][:rwx][:MODIFIERS]`: the processor fires when the address is
//! read, written or executed.

use super::error::EventErrorKind;
use super::list::BREAKPOINT;
use super::modifiers::Modifiers;
use super::spec::{EventKind, EventRate, EventSpec};
use super::term::number;
use model::Sampling;
use perf_event_open_sys::bindings as sys;

/// The bytes that are watched where no length is given, as in perf.
const DEFAULT_LENGTH: u64 = sys::HW_BREAKPOINT_LEN_4 as u64;
/// The kernel wants `sizeof(long)` for execution alone, whatever the instruction's length.
const EXECUTION_LENGTH: u64 = size_of::<std::ffi::c_long>() as u64;

/// The breakpoint `text`, which begins with `mem:`. Without letters it watches reads and writes.
pub(super) fn parse(text: &str) -> Result<EventSpec, EventErrorKind> {
    let body = &text[BREAKPOINT.len()..];
    let (place, rest) = body.split_once(':').map_or((body, None), |(place, rest)| (place, Some(rest)));
    let (address, length) = place.split_once('/').map_or((place, None), |(address, length)| (address, Some(length)));
    let (access, modifiers) = access_and_modifiers(rest)?;

    let access_bits = bits(access);
    let only_executed = access_bits == sys::HW_BREAKPOINT_X;
    let length = match length {
        Some(length) => number(length)
            .filter(|length| [1, 2, 4, 8].contains(length))
            .ok_or_else(|| EventErrorKind::Length(length.to_owned()))?,
        None if only_executed => EXECUTION_LENGTH,
        None => DEFAULT_LENGTH,
    };
    let written = rest.filter(|_| !modifiers.is_empty()).map_or(0, |_| modifiers.len() + 1);
    let base = text[..text.len() - written].trim_end_matches(':');
    let mut spec = EventSpec::new(base, EventKind::Breakpoint, 0);
    spec.config1 = number(address).ok_or_else(|| EventErrorKind::Address(address.to_owned()))?;
    spec.config2 = length;
    spec.breakpoint = access_bits;
    spec.rate = EventRate::Usually(Sampling::Period(1));
    Ok(spec.with_modifiers(Modifiers::parse(modifiers)?, modifiers))
}

/// The parts after the address: letters of access first, then modifiers, each after a colon.
fn access_and_modifiers(rest: Option<&str>) -> Result<(&str, &str), EventErrorKind> {
    let Some(rest) = rest else { return Ok(("", "")) };
    let is_access = |part: &str| part.bytes().all(|letter| b"rwx".contains(&letter));
    let wrong = || EventErrorKind::BreakpointRest(rest.to_owned());
    match rest.split_once(':') {
        None if is_access(rest) => once(rest).ok_or_else(wrong).map(|access| (access, "")),
        None => Ok(("", rest)),
        Some((access, modifiers)) if is_access(access) && !modifiers.contains(':') => {
            once(access).ok_or_else(wrong).map(|access| (access, modifiers))
        }
        Some(_) => Err(wrong()),
    }
}

/// Letters of access, none of them twice.
fn once(access: &str) -> Option<&str> {
    let twice = access.char_indices().any(|(index, letter)| access[..index].contains(letter));
    (!twice).then_some(access)
}

fn bits(access: &str) -> u32 {
    if access.is_empty() {
        return sys::HW_BREAKPOINT_RW;
    }
    [('r', sys::HW_BREAKPOINT_R), ('w', sys::HW_BREAKPOINT_W), ('x', sys::HW_BREAKPOINT_X)]
        .iter()
        .filter(|(letter, _)| access.contains(*letter))
        .fold(0, |bits, (_, bit)| bits | bit)
}
