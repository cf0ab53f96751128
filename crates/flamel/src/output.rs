//! Where results go: files that appear only once they are whole, or standard output.

use crate::failure::Failure;
use crate::output_format::OutputFormat;
use anyhow::{Context as _, anyhow};
use model::{EventDescription, EventId, Profile, id::Id as _};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

/// A place to write to, checked before any work is done.
#[derive(Clone, Debug)]
pub struct Output {
    path: PathBuf,
    format: OutputFormat,
    /// The extension by which the name says the format, if it does.
    extension: Option<&'static str>,
}

/// Draws or encodes one event of a profile.
pub type Write1<'a> = &'a dyn Fn(OutputFormat, &Profile, EventId, &mut dyn Write) -> anyhow::Result<()>;

impl Output {
    /// The place `path` in the format of its name, or in `format` where that does not say one.
    pub fn new(path: &Path, format: Option<&str>) -> Result<Self, Failure> {
        let to_stdout = path.as_os_str() == "-";
        let said = OutputFormat::of_file(path).filter(|_| !to_stdout);
        let shown = path.display();
        let format = match (said, format) {
            (Some((format, _)), _) => format,
            (None, Some(format)) => OutputFormat::find(format).ok_or_else(|| {
                let known = OutputFormat::names();
                Failure::usage(anyhow!("`--format {format}`: there is no such format to write; there are {known}"))
            })?,
            (None, None) if to_stdout => {
                return Err(Failure::usage(anyhow!(
                    "write to standard output: say which format with `--format`: {}",
                    OutputFormat::names()
                )));
            }
            (None, None) => {
                let why = match path.extension() {
                    Some(ending) => format!("`{}` is no format that can be written", ending.display()),
                    None => "its name has no ending that says the format".into(),
                };
                return Err(Failure::usage(anyhow!(
                    "write `{shown}`: {why}; there are {}, or say it with `--format`",
                    OutputFormat::usual_extensions(OutputFormat::all())
                )));
            }
        };
        if !to_stdout {
            check_place(path).map_err(Failure::usage)?;
        }
        Ok(Self { path: path.to_owned(), format, extension: said.map(|(_, extension)| extension) })
    }

    /// All the places that were given with `-o`; `format` is for those whose name does not say it.
    pub fn all(paths: &[PathBuf], format: Option<&str>) -> Result<Vec<Self>, Failure> {
        if let Some(twice) = paths.iter().enumerate().find(|(index, path)| paths[..*index].contains(path)) {
            return Err(Failure::usage(anyhow!("write `{}`: it is given twice", twice.1.display())));
        }
        paths.iter().map(|path| Self::new(path, format)).collect()
    }

    /// Refuses, before anything is recorded, what [`Self::write`] would refuse afterwards.
    pub fn check_events(&self, events: &[EventDescription]) -> Result<(), Failure> {
        if self.is_stdout() && events.len() > 1 { Err(several_to_stdout(events)) } else { Ok(()) }
    }

    /// Whether it is a recording, which is written event by event.
    pub fn is_recording(&self) -> bool {
        matches!(self.format, OutputFormat::Recording)
    }

    /// The name of its format.
    pub fn format_name(&self) -> &'static str {
        self.format.name()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this is standard output.
    fn is_stdout(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// Writes all events that have samples: the first under the output's own name, where there
    /// are several each under its own. Returns the files that were written.
    pub fn write(&self, profile: &Profile, events: &[EventId], write: Write1<'_>) -> Result<Vec<PathBuf>, Failure> {
        if self.is_stdout() {
            let [event] = events else { return Err(several_to_stdout(&profile.events)) };
            let mut stdout = BufWriter::new(io::stdout().lock());
            let written = write(self.format, profile, *event, &mut stdout);
            written.and_then(|()| Ok(stdout.flush()?)).context("write to standard output").map_err(Failure::stdout)?;
            return Ok(Vec::new());
        }
        events
            .iter()
            .map(|&event| {
                let path = if events.len() == 1 {
                    self.path.clone()
                } else {
                    self.name_for(&profile.events[event.index()].name)
                };
                self.write_file(&path, &|out| write(self.format, profile, event, out)).map_err(Failure::run)
            })
            .collect()
    }

    /// `flame.svg` for `page-faults` is `flame.page-faults.svg`, `x.pb.gz` is `x.page-faults.pb.gz`.
    fn name_for(&self, event: &str) -> PathBuf {
        let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let event: String = event.chars().map(safe).collect();
        let name = self.path.file_name().unwrap_or_default().as_bytes();
        let extension = self.extension.map(str::len).or(self.path.extension().map(OsStr::len));
        let (stem, extension) = name.split_at(name.len() - extension.map_or(0, |len| len + 1));
        let name = [stem, b".", event.as_bytes(), extension].concat();
        self.path.with_file_name(OsStr::from_bytes(&name))
    }

    /// Writes beside the file first and puts it in place once it is whole. Where that is not
    /// possible (a full disk, a folder that vanished), the result is saved among the temporary
    /// files rather than lost.
    fn write_file(&self, path: &Path, write: &dyn Fn(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<PathBuf> {
        let error = match place(path, write) {
            Ok(path) => return Ok(path),
            Err(error) => error.context(format!("write `{}`", path.display())),
        };
        match save_elsewhere(path, write) {
            Ok(saved) => Err(error.context(format!("the result was saved as `{}` instead", saved.display()))),
            Err(_) => Err(error),
        }
    }
}

fn several_to_stdout(events: &[EventDescription]) -> Failure {
    let names: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
    Failure::usage(anyhow!(
        "write to standard output: there are several events ({}), and room for one; choose it with `-e`, or write files \
         with `-o`",
        names.join(", ")
    ))
}

/// A new file of a name that nobody can have put a link under.
fn save_elsewhere(path: &Path, write: &dyn Fn(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut file = tempfile::Builder::new().prefix("flamel-").suffix(&format!("-{name}")).tempfile()?;
    let mut out = BufWriter::new(file.as_file_mut());
    write(&mut out)?;
    out.flush()?;
    drop(out);
    give_to_caller(file.path());
    let (_, saved) = file.keep()?;
    Ok(saved)
}

fn place(path: &Path, write: &dyn Fn(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<PathBuf> {
    // A device or pipe is written as it is; a link's target is what is replaced.
    if fs::metadata(path).is_ok_and(|metadata| is_special(&metadata.file_type())) {
        let mut out = BufWriter::new(open_special(path)?);
        write(&mut out)?;
        out.flush()?;
        return Ok(path.to_owned());
    }
    let target = end_of_links(path)?;
    let mut file = tempfile::Builder::new()
        .prefix(".flamel-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder_of(&target))?;
    let mut out = BufWriter::new(file.as_file_mut());
    write(&mut out)?;
    out.flush()?;
    drop(out);
    // What is already there keeps its owner and permissions, in this order: a change of owner
    // takes some permissions away.
    if let Ok(metadata) = fs::metadata(&target) {
        // Only root can give files away; everybody else owns what he may replace or makes it his.
        let _ = chown(file.path(), Some(metadata.uid()), Some(metadata.gid()));
        file.as_file().set_permissions(metadata.permissions())?;
    } else {
        give_to_caller(file.path());
    }
    file.persist(&target).map_err(|error| error.error)?;
    Ok(path.to_owned())
}

/// Opens a device, or a pipe that somebody reads: without a reader one would wait for ever.
fn open_special(path: &Path) -> anyhow::Result<File> {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::NXIO => anyhow!("nobody reads the pipe"),
        errno => errno.into(),
    })?;
    rustix::fs::fcntl_setfl(&file, OFlags::WRONLY)?;
    Ok(file.into())
}

/// The file that a path leads to, also where links lead to a file that is not there yet.
pub fn end_of_links(path: &Path) -> anyhow::Result<PathBuf> {
    let mut at = path.to_owned();
    // As many as the kernel follows (path_resolution(7)).
    for _ in 0..40 {
        match fs::read_link(&at) {
            Ok(next) => at = folder_of(&at).join(next),
            Err(_) => return Ok(at),
        }
    }
    Err(anyhow!("its links lead in a circle"))
}

pub fn is_special(kind: &fs::FileType) -> bool {
    kind.is_char_device() || kind.is_fifo() || kind.is_block_device() || kind.is_socket()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Under sudo(8), what we make belongs to whoever called it.
pub fn give_to_caller(path: &Path) {
    let number = |name| std::env::var(name).ok()?.parse::<u32>().ok();
    if rustix::process::geteuid().is_root()
        && let (Some(user), Some(group)) = (number("SUDO_UID"), number("SUDO_GID"))
    {
        // Where this fails (a file system without owners), the file is still readable.
        let _ = chown(path, Some(user), Some(group));
    }
}

/// Finds out before a long recording whether its result can be written.
fn check_place(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    if path.is_dir() {
        return Err(anyhow!("write `{shown}`: it is a folder"));
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Err(anyhow!(
            "write `{shown}`: there is no folder `{0}`; make it with `mkdir -p {0}`",
            folder.display()
        ));
    }
    if fs::metadata(path).is_ok_and(|metadata| is_special(&metadata.file_type())) {
        return Ok(());
    }
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).map_err(|errno| {
        anyhow!("write `{shown}`: the folder `{}` may not be written to: {errno}", folder.display())
    })?;
    let room = rustix::fs::statvfs(folder).map(|fs| fs.f_bavail).unwrap_or(1);
    if room == 0 {
        return Err(anyhow!("write `{shown}`: the disk is full"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_decides_the_format() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Output::new(&folder.path().join("a.b.SVG"), None).unwrap().format.name(), "svg");
        assert_eq!(Output::new(&folder.path().join("x.folded"), None).unwrap().format.name(), "folded");
        assert_eq!(Output::new(&folder.path().join("x.PB.gz"), Some("svg")).unwrap().format.name(), "pprof");
        assert_eq!(Output::new(Path::new("-"), Some("folded")).unwrap().format.name(), "folded");
        let bad = [
            folder.path().join("x.png"),
            folder.path().join("x"),
            folder.path().join("no/x.svg"),
            folder.path().into(),
        ];
        for path in bad {
            assert_eq!(Output::new(&path, None).unwrap_err().code, 2, "{}", path.display());
        }
        assert!(Output::new(Path::new("-"), None).is_err());
        let svg = folder.path().join("x.svg");
        assert_eq!(Output::new(Path::new("/dev/null"), Some("folded")).unwrap().format.name(), "folded");
        assert!(Output::new(Path::new("-"), Some("png")).is_err());
        assert!(Output::all(&[svg.clone(), svg], None).is_err());
    }

    #[test]
    fn each_of_several_events_has_its_own_file() {
        let folder = tempfile::tempdir().unwrap();
        for (name, event, expected) in [
            ("flame.svg", "sched:sched_switch", "flame.sched_sched_switch.svg"),
            ("x.v1.PB.gz", "page-faults", "x.v1.page-faults.PB.gz"),
            ("x.out", "page-faults", "x.page-faults.out"),
            ("x", "page-faults", "x.page-faults"),
        ] {
            let output = Output::new(&folder.path().join(name), Some("folded")).unwrap();
            assert_eq!(output.name_for(event), folder.path().join(expected));
        }
    }

    #[test]
    fn an_existing_file_stays_until_the_new_one_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.folded");
        fs::write(&path, "old").unwrap();
        let output = Output::new(&path, None).unwrap();
        let failed = output.write_file(&path, &|out| {
            out.write_all(b"half")?;
            Err(anyhow!("no more"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        output.write_file(&path, &|out| Ok(out.write_all(b"new")?)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target.svg"), folder.path().join("link.svg"));
        fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        Output::new(&link, None).unwrap().write_file(&link, &|out| Ok(out.write_all(b"new")?)).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
    }
}
