//! Where a process's perf map lies, and whether it can be trusted: the name is known to all,
//! and /tmp is everybody's, so that anyone could lay one down for somebody else's process.

use crate::perf_map::{PerfMap, Tail};
use model::{NameMissing, Pid};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;

/// The longest map that is read, in bytes. V8 writes some 100 bytes a function.
const LONGEST: u64 = 512 << 20;

/// Reads the perf map of a process: `/tmp/perf-N.map` as the process itself sees it, N being
/// its number in its own pid namespace, or `/tmp/perf-PID.map` here. It has to be a regular
/// file that belongs to the process's user or to root; for a process that has ended, to the
/// user who asks or to root.
///
/// [`NameMissing::NoJitMap`] where there is none, [`NameMissing::Permission`] where it belongs
/// to somebody else or cannot be read.
pub fn read_perf_map(pid: Pid) -> Result<PerfMap, NameMissing> {
    let process = std::fs::read_to_string(format!("/proc/{pid}/status")).ok();
    let owner = process.as_deref().and_then(user).unwrap_or_else(|| rustix::process::geteuid().as_raw());
    // A process that has ended but was not waited for has no files any more.
    let ended =
        process.as_deref().is_none_or(|status| field(status, "State:").is_some_and(|state| state.starts_with('Z')));
    let inner_pid = process.as_deref().and_then(|status| field(status, "NSpid:")?.split_ascii_whitespace().next_back());
    let tail = if ended { Tail::Final } else { Tail::MayGrow };

    let inner = inner_pid.map(|inner| open_inside(pid, &format!("tmp/perf-{inner}.map")));
    let file = match inner {
        Some(Ok(file)) => file,
        _ => open_here(&format!("/tmp/perf-{pid}.map")).map_err(reason)?,
    };
    read(file, owner, tail)
}

/// Opens a path below the process's root. Symbolic links on the way stay below it, too.
fn open_inside(pid: Pid, path: &str) -> rustix::io::Result<File> {
    let root =
        openat(CWD, format!("/proc/{pid}/root"), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    match openat2(&root, path, flags(), Mode::empty(), ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS) {
        // Linux before 5.6.
        Err(Errno::NOSYS) => openat(&root, path, flags(), Mode::empty()),
        result => result,
    }
    .map(File::from)
}

fn open_here(path: &str) -> rustix::io::Result<File> {
    openat(CWD, path, flags(), Mode::empty()).map(File::from)
}

/// A link could lead anywhere, and opening a pipe would wait for its writer.
fn flags() -> OFlags {
    OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC
}

fn read(file: File, owner: u32, tail: Tail) -> Result<PerfMap, NameMissing> {
    let metadata = file.metadata().map_err(|_| NameMissing::Permission)?;
    if !metadata.is_file() || !(metadata.uid() == owner || metadata.uid() == 0) {
        return Err(NameMissing::Permission);
    }
    let mut text = Vec::new();
    let is_cut = metadata.len() > LONGEST;
    let read: io::Result<usize> = file.take(LONGEST).read_to_end(&mut text);
    read.map_err(|_| NameMissing::Permission)?;
    Ok(PerfMap::parse(text, if is_cut { Tail::MayGrow } else { tail }))
}

fn reason(error: Errno) -> NameMissing {
    match error {
        Errno::ACCESS | Errno::PERM | Errno::LOOP => NameMissing::Permission,
        _ => NameMissing::NoJitMap,
    }
}

/// The effective user id of /proc/PID/status: real, effective, saved, file system.
fn user(status: &str) -> Option<u32> {
    field(status, "Uid:")?.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}
