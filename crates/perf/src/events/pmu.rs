//! A performance monitoring unit as sysfs describes it: Documentation/ABI/testing/
//! sysfs-bus-event_source-devices-format and -events of the kernel.

use super::error::EventErrorKind;
use super::roots::{Roots, names_in};
use super::spec::{Placement, Scale};
use super::term::Field;
use crate::limits::parse_cpu_list;
use std::io;
use std::path::{Path, PathBuf};

/// One pmu's folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Pmu {
    pub name: String,
    /// The `type` of its events.
    pub number: u32,
    folder: PathBuf,
}

/// Files that describe an event rather than being one.
const EVENT_ATTRIBUTES: &[&str] = &[".scale", ".unit", ".per-pkg", ".snapshot"];

impl Pmu {
    /// The pmu of this name; `None` where there is none.
    pub(super) fn open(roots: &Roots, name: &str) -> Result<Option<Self>, EventErrorKind> {
        if name.starts_with('.') || name.contains('/') {
            return Ok(None);
        }
        let folder = roots.pmus().join(name);
        let Some(number) = read(&folder.join("type"))? else { return Ok(None) };
        let number = number
            .parse()
            .map_err(|_| EventErrorKind::Malformed { path: folder.join("type"), why: "no number".into() })?;
        Ok(Some(Self { name: name.to_owned(), number, folder }))
    }

    /// The names of all pmus.
    pub(super) fn names(roots: &Roots) -> Vec<String> {
        // What cannot be listed offers no names.
        names_in(&roots.pmus()).unwrap_or_default()
    }

    /// All pmus that can be read.
    pub(super) fn all(roots: &Roots) -> impl Iterator<Item = Self> + '_ {
        Self::names(roots).into_iter().filter_map(|name| Self::open(roots, &name).ok().flatten())
    }

    /// The pmus of the cores of a hybrid processor, one for each kind of core; none on processors
    /// whose cores are alike. There a hardware event needs one counter for each kind.
    pub(super) fn kinds_of_cores(roots: &Roots) -> Vec<Self> {
        let cores: Vec<_> = Self::all(roots).filter(|pmu| pmu.folder.join("cpus").exists()).collect();
        if cores.len() > 1 { cores } else { Vec::new() }
    }

    /// Whether it is the pmu of the processor's cores, which has the generic events too.
    pub(super) fn is_core(&self) -> bool {
        self.name == "cpu" || self.folder.join("cpus").exists()
    }

    /// Where the value of a term goes; `None` where there is no such term.
    pub(super) fn field(&self, term: &str) -> Result<Option<Field>, EventErrorKind> {
        if !is_file_name(term) {
            return Ok(None);
        }
        let path = self.folder.join("format").join(term);
        let Some(format) = read(&path)? else { return Ok(None) };
        Field::parse(&format).map(Some).map_err(|why| EventErrorKind::Malformed { path, why })
    }

    /// The terms that stand for a named event; `None` where there is no such event.
    pub(super) fn event(&self, event: &str) -> Result<Option<String>, EventErrorKind> {
        if !is_file_name(event) || EVENT_ATTRIBUTES.iter().any(|suffix| event.ends_with(suffix)) {
            return Ok(None);
        }
        read(&self.folder.join("events").join(event))
    }

    /// The factor and the unit of a named event, where either is given.
    pub(super) fn scale(&self, event: &str) -> Result<Option<Scale>, EventErrorKind> {
        let file = |suffix: &str| self.folder.join("events").join(format!("{event}{suffix}"));
        let (factor, unit) = (read(&file(".scale"))?, read(&file(".unit"))?);
        if factor.is_none() && unit.is_none() {
            return Ok(None);
        }
        let factor = factor.map_or(Ok(1.0), |text| text.parse::<f64>()).ok().filter(|factor| factor.is_finite());
        let factor =
            factor.ok_or_else(|| EventErrorKind::Malformed { path: file(".scale"), why: "no number".into() })?;
        Ok(Some(Scale { factor, unit: unit.unwrap_or_default() }))
    }

    /// The names of its events.
    pub(super) fn events(&self) -> Vec<String> {
        let mut events = names_in(&self.folder.join("events")).unwrap_or_default();
        events.retain(|name| !EVENT_ATTRIBUTES.iter().any(|suffix| name.ends_with(suffix)));
        events
    }

    /// The names of its terms.
    pub(super) fn terms(&self) -> Vec<String> {
        names_in(&self.folder.join("format")).unwrap_or_default()
    }

    /// On which CPUs its events can be opened.
    pub(super) fn placement(&self) -> Result<Placement, EventErrorKind> {
        let cpus = |file: &str| {
            let path = self.folder.join(file);
            let Some(list) = read(&path)? else { return Ok(None) };
            parse_cpu_list(&list).map(Some).map_err(|error| EventErrorKind::Malformed { path, why: error.to_string() })
        };
        if let Some(cores) = cpus("cpus")? {
            return Ok(Placement::Cores(cores));
        }
        Ok(cpus("cpumask")?.map_or(Placement::Anywhere, Placement::Packages))
    }

    /// The highest precision of its events, from `caps/max_precise`; `None` where it is not told.
    pub(super) fn highest_precision(&self) -> Option<u8> {
        read(&self.folder.join("caps/max_precise")).ok()??.parse().ok()
    }
}

/// A name from the command line is a file's name only if it leads nowhere else.
fn is_file_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains('/')
}

/// A file's text without blanks around it; `None` where there is no such file.
fn read(path: &Path) -> Result<Option<String>, EventErrorKind> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
            io::ErrorKind::PermissionDenied => Err(EventErrorKind::Forbidden {
                path: path.to_owned(),
                remedy: format!("sudo chmod a+r {}", path.display()),
            }),
            _ => Err(EventErrorKind::Malformed { path: path.to_owned(), why: error.to_string() }),
        },
    }
}
