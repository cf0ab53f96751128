//! Where results go: files that appear only once they are whole, or standard output.

use crate::failure::Failure;
use anyhow::{Context as _, anyhow};
use model::{EventId, Profile, id::Id as _};
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

/// What can be written, by the end of a file's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// A flame graph.
    Svg,
    /// Folded stacks.
    Folded,
}

/// Every format: the end of the name, and what it is called.
const FORMATS: &[(&str, Format)] = &[("svg", Format::Svg), ("folded", Format::Folded)];

/// A place to write to, checked before any work is done.
#[derive(Clone, Debug)]
pub struct Output {
    path: PathBuf,
    format: Format,
}

/// Draws or encodes one event of a profile.
pub type Write1<'a> = &'a dyn Fn(Format, &Profile, EventId, &mut dyn Write) -> anyhow::Result<()>;

impl Output {
    /// The place `path` in the format of its name, or in `format` for `-`.
    pub fn new(path: &Path, format: Option<&str>) -> Result<Self, Failure> {
        let to_stdout = path.as_os_str() == "-";
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let wanted = match (to_stdout, format) {
            (true, None) => {
                return Err(Failure::usage(anyhow!("write to standard output: say which format with `--format`")));
            }
            (_, Some(format)) => format,
            (false, None) => ending.as_deref().unwrap_or_default(),
        };
        let known = FORMATS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let format = FORMATS.iter().find(|(name, _)| *name == wanted).map(|(_, format)| *format).ok_or_else(|| {
            Failure::usage(anyhow!(
                "write `{}`: `{wanted}` is no format that can be written; there are {known}",
                path.display()
            ))
        })?;
        if !to_stdout {
            check_place(path).map_err(Failure::usage)?;
        }
        Ok(Self { path: path.to_owned(), format })
    }

    /// All the places that were given with `-o`; `format` is that of standard output.
    pub fn all(paths: &[PathBuf], format: Option<&str>) -> Result<Vec<Self>, Failure> {
        let is_stdout = |path: &PathBuf| path.as_os_str() == "-";
        if format.is_some() && !paths.iter().any(is_stdout) {
            return Err(Failure::usage(anyhow!("`--format` is for `-o -`; the name of a file says its format")));
        }
        if let Some(twice) = paths.iter().enumerate().find(|(index, path)| paths[..*index].contains(path)) {
            return Err(Failure::usage(anyhow!("write `{}`: it is given twice", twice.1.display())));
        }
        paths.iter().map(|path| Self::new(path, format.filter(|_| is_stdout(path)))).collect()
    }

    /// Whether this is standard output.
    pub fn is_stdout(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// Writes all events that have samples: the first under the output's own name, where there
    /// are several each under its own. Returns the files that were written.
    pub fn write(&self, profile: &Profile, events: &[EventId], write: Write1<'_>) -> Result<Vec<PathBuf>, Failure> {
        if self.is_stdout() {
            let [event] = events else {
                let names: Vec<_> = events.iter().map(|event| profile.events[event.index()].name.as_str()).collect();
                return Err(Failure::usage(anyhow!(
                    "write to standard output: there are several events ({})",
                    names.join(", ")
                )));
            };
            let mut stdout = BufWriter::new(io::stdout().lock());
            write(self.format, profile, *event, &mut stdout).map_err(Failure::run)?;
            stdout.flush().context("write to standard output").map_err(Failure::run)?;
            return Ok(Vec::new());
        }
        events
            .iter()
            .map(|&event| {
                let path = if events.len() == 1 {
                    self.path.clone()
                } else {
                    name_for(&self.path, &profile.events[event.index()].name)
                };
                self.write_file(&path, &|out| write(self.format, profile, event, out)).map_err(Failure::run)
            })
            .collect()
    }

    /// Writes beside the file first and puts it in place once it is whole. Where that is not
    /// possible (a full disk, a folder that vanished), the result is saved among the temporary
    /// files rather than lost.
    fn write_file(&self, path: &Path, write: &dyn Fn(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<PathBuf> {
        let error = match place(path, write) {
            Ok(path) => return Ok(path),
            Err(error) => error.context(format!("write `{}`", path.display())),
        };
        let name = path.file_name().unwrap_or_default();
        let spare = std::env::temp_dir().join(format!("flamel-{}-{}", std::process::id(), name.to_string_lossy()));
        match place(&spare, write) {
            Ok(saved) => Err(error.context(format!("the result was saved as `{}` instead", saved.display()))),
            Err(_) => Err(error),
        }
    }
}

fn place(path: &Path, write: &dyn Fn(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<PathBuf> {
    // A device or pipe is written as it is; a link's target is what is replaced.
    if fs::metadata(path).is_ok_and(|metadata| is_special(&metadata.file_type())) {
        let mut out = BufWriter::new(File::options().write(true).open(path)?);
        write(&mut out)?;
        out.flush()?;
        return Ok(path.to_owned());
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut file = tempfile::Builder::new()
        .prefix(".flamel-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder_of(&target))?;
    let mut out = BufWriter::new(file.as_file_mut());
    write(&mut out)?;
    out.flush()?;
    drop(out);
    // What is already there keeps its permissions and owner.
    if let Ok(metadata) = fs::metadata(&target) {
        file.as_file().set_permissions(metadata.permissions())?;
    } else {
        give_to_caller(file.path());
    }
    file.persist(&target).map_err(|error| error.error)?;
    Ok(path.to_owned())
}

fn is_special(kind: &fs::FileType) -> bool {
    kind.is_char_device() || kind.is_fifo() || kind.is_block_device() || kind.is_socket()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Under sudo(8), what we make belongs to whoever called it.
fn give_to_caller(path: &Path) {
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

/// `flame.svg` for `page-faults` is `flame.page-faults.svg`.
fn name_for(path: &Path, event: &str) -> PathBuf {
    let safe: String = event.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
    let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    path.with_extension(format!("{safe}.{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_decides_the_format() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Output::new(&folder.path().join("a.b.SVG"), None).unwrap().format, Format::Svg);
        assert_eq!(Output::new(&folder.path().join("x.folded"), None).unwrap().format, Format::Folded);
        assert_eq!(Output::new(Path::new("-"), Some("folded")).unwrap().format, Format::Folded);
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
        assert!(Output::all(std::slice::from_ref(&svg), Some("svg")).is_err());
        assert!(Output::all(&[svg.clone(), svg], None).is_err());
    }

    #[test]
    fn each_of_several_events_has_its_own_file() {
        assert_eq!(
            name_for(Path::new("/a/flame.svg"), "sched:sched_switch"),
            Path::new("/a/flame.sched_sched_switch.svg")
        );
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
