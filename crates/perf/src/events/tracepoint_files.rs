//! The files of tracefs that tell of tracepoints' fields, for whoever reads a recording elsewhere.

use super::error::EventErrorKind;
use super::roots::{Roots, Tracing};
use super::spec::EventSpec;
use super::tracepoint::forbidden;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// What tracefs says of some tracepoints' fields: its files' contents.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TracepointFiles {
    /// `events/header_page`
    pub header_page: Vec<u8>,
    /// `events/header_event`
    pub header_event: Vec<u8>,
    /// The files `format` of the tracepoints, by their groups.
    pub formats: BTreeMap<String, Vec<Vec<u8>>>,
    /// `printk_formats`, empty on a kernel without it.
    pub printk_formats: Vec<u8>,
}

impl TracepointFiles {
    /// Reads what there is of the tracepoints among `specs`; `None` where none of them is one.
    pub fn read(roots: &Roots, specs: &[EventSpec]) -> Result<Option<Self>, EventErrorKind> {
        let mut tracepoints = specs.iter().filter_map(EventSpec::tracepoint).peekable();
        if tracepoints.peek().is_none() {
            return Ok(None);
        }
        let tracing = Folder::of(roots)?;
        let mut formats: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
        for (group, name) in tracepoints {
            let format = tracing.file(&format!("events/{group}/{name}/format"))?;
            formats.entry(group.to_owned()).or_default().push(format);
        }
        Ok(Some(Self {
            header_page: tracing.file("events/header_page")?,
            header_event: tracing.file("events/header_event")?,
            formats,
            printk_formats: tracing.file("printk_formats").unwrap_or_default(),
        }))
    }
}

/// The tracing folder.
struct Folder<'a>(&'a Path);

impl<'a> Folder<'a> {
    fn of(roots: &'a Roots) -> Result<Self, EventErrorKind> {
        match &roots.tracing {
            Tracing::At(folder) => Ok(Self(folder)),
            Tracing::NotMounted => Err(EventErrorKind::NoTracefs),
        }
    }

    fn file(&self, name: &str) -> Result<Vec<u8>, EventErrorKind> {
        let path = self.0.join(name);
        whole(&path).map_err(|error| forbidden(self.0, &path, &error))
    }
}

/// A file's contents. `header_page` and `header_event` end early, on Linux 6.18 at least, for whoever
/// reads less at once than they hold, as [`std::fs::read`] does where the size is stated as 0.
fn whole(path: &Path) -> io::Result<Vec<u8>> {
    const PIECE: usize = 64 << 10;
    let mut file = File::open(path)?;
    let (mut contents, mut piece) = (Vec::new(), vec![0; PIECE]);
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(contents),
            Ok(count) => contents.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
