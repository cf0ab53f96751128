//! Tracepoints, `group:name`, whose number stands in tracefs (`events/group/name/id`). Both parts
//! may be patterns.

use super::error::EventErrorKind;
use super::glob;
use super::roots::{Roots, Tracing, names_in};
use super::spec::{EventKind, EventRate, EventSpec};
use model::Sampling;
use std::io;
use std::path::Path;

/// The tracepoints that `group:name` stands for, none where there is none. They are sampled each
/// time they fire unless something else is asked for, as in perf.
pub(super) fn find(roots: &Roots, group: &str, name: &str) -> Result<Vec<EventSpec>, EventErrorKind> {
    let Tracing::At(tracing) = &roots.tracing else { return Err(EventErrorKind::NoTracefs) };
    let events = tracing.join("events");
    let mut found = Vec::new();
    for group in members(tracing, &events, group)? {
        let folder = events.join(&group);
        for name in members(tracing, &folder, name)? {
            if let Some(id) = id(tracing, &folder.join(&name).join("id"))? {
                let mut spec = EventSpec::new(&format!("{group}:{name}"), EventKind::Tracepoint, id);
                spec.rate = EventRate::Usually(Sampling::Period(1));
                found.push(spec);
            }
        }
    }
    Ok(found)
}

/// The names of all tracepoints that can be listed.
pub(super) fn names(roots: &Roots) -> impl Iterator<Item = String> {
    let events = match &roots.tracing {
        Tracing::At(tracing) => Some(tracing.join("events")),
        Tracing::NotMounted => None,
    };
    // What cannot be listed offers no names.
    events.into_iter().flat_map(|events| {
        let groups = names_in(&events).unwrap_or_default();
        groups.into_iter().flat_map(move |group| {
            let names = names_in(&events.join(&group)).unwrap_or_default();
            names.into_iter().filter(|name| !is_control_file(name)).map(move |name| format!("{group}:{name}"))
        })
    })
}

/// Files that stand beside the folders of tracepoints.
fn is_control_file(name: &str) -> bool {
    ["enable", "filter"].contains(&name)
}

/// The names in `folder` that `wanted` stands for. A plain name is not looked up among the others:
/// a folder may be open to be entered and not to be listed.
fn members(tracing: &Path, folder: &Path, wanted: &str) -> Result<Vec<String>, EventErrorKind> {
    if !glob::is_pattern(wanted) {
        return Ok(vec![wanted.to_owned()]);
    }
    let names = names_in(folder).map_err(|error| forbidden(tracing, folder, &error))?;
    Ok(names.into_iter().filter(|name| glob::matches(wanted, name)).collect())
}

fn id(tracing: &Path, path: &Path) -> Result<Option<u64>, EventErrorKind> {
    match std::fs::read_to_string(path) {
        Ok(id) => id
            .trim()
            .parse()
            .map(Some)
            .map_err(|_| EventErrorKind::Malformed { path: path.to_owned(), why: "no number".into() }),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
            _ => Err(forbidden(tracing, path, &error)),
        },
    }
}

/// tracefs lets nobody but root in, until it is mounted with another group and mode. The files
/// below follow `gid`, so that their own modes need no change.
pub(super) fn forbidden(tracing: &Path, path: &Path, error: &io::Error) -> EventErrorKind {
    if error.kind() != io::ErrorKind::PermissionDenied {
        return EventErrorKind::Malformed { path: path.to_owned(), why: error.to_string() };
    }
    EventErrorKind::Forbidden {
        path: path.to_owned(),
        remedy: format!("sudo mount -o remount,mode=755,gid=$(id -g) {}", tracing.display()),
    }
}
