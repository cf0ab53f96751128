//! What ran before the recording began, read from /proc once and told as events: names,
//! mappings, threads of the kernel. All that comes later, the side-band records tell.

use crate::users::Uid;
use model::{Address, Body, Event, FileIdentity, FileOffset, Inode, Mapping, Pid, TaskIds, Tid, text::until_nul};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The parent of all kernel threads.
const KTHREADD: TaskIds = TaskIds::new(2, 2);

/// All processes of this machine, as far as we can see them.
pub fn all_processes() -> Vec<Pid> {
    numbers_in(Path::new("/proc")).unwrap_or_default().into_iter().map(Pid).collect()
}

/// The threads of a process; an error where it is gone.
pub fn threads_of(process: Pid) -> io::Result<Vec<Tid>> {
    let threads = numbers_in(Path::new(&format!("/proc/{process}/task")))?;
    Ok(threads.into_iter().map(Tid).collect())
}

/// The process that a thread belongs to; `None` where it is gone.
pub fn process_of(thread: Tid) -> Option<Pid> {
    let status = fs::read(format!("/proc/{thread}/status")).ok()?;
    let line = status.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b"Tgid:"))?;
    std::str::from_utf8(line).ok()?.trim().parse().ok().map(Pid)
}

/// The name of a process: that of its first thread. `None` where it is gone.
pub fn name_of(process: Pid) -> Option<Vec<u8>> {
    let mut name = fs::read(format!("/proc/{process}/comm")).ok()?;
    name.pop_if(|last| *last == b'\n');
    Some(name)
}

/// The user as whom a process acts, its effective one: the owner of its folder in /proc, whatever
/// else there belongs to root (task_dump_owner in fs/proc/base.c). `None` where it is gone.
pub fn user_of(process: Pid) -> Option<Uid> {
    Some(Uid(fs::metadata(format!("/proc/{process}")).ok()?.uid()))
}

/// CPU time that a process and its ended children have used, in clock ticks of
/// sysconf(_SC_CLK_TCK); `None` where it is gone (proc_pid_stat(5), utime to cstime).
pub fn cpu_ticks(process: Pid) -> Option<u64> {
    let stat = fs::read(format!("/proc/{process}/stat")).ok()?;
    let fields = stat_fields_after_name(&stat)?;
    fields.split(' ').skip(11).take(4).map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// Tells of a process and its threads. What vanishes meanwhile is left out.
pub fn tell(process: Pid, sink: &mut dyn FnMut(Event<'_>)) {
    let leader = TaskIds { pid: process, tid: Tid(process.0) };
    fn told(task: TaskIds, body: Body<'_>) -> Event<'_> {
        Event { time: None, cpu: None, task, body }
    }
    if parent_of(process) == Some(KTHREADD.pid) {
        sink(told(leader, Body::Fork { parent: KTHREADD }));
    }
    let mut tids = threads_of(process).unwrap_or_default();
    // The first thread comes first: its name is the process's.
    tids.sort_by_key(|tid| *tid != leader.tid);
    for tid in tids {
        if let Ok(comm) = fs::read(format!("/proc/{process}/task/{tid}/comm")) {
            let name = comm.strip_suffix(b"\n").unwrap_or(&comm);
            sink(told(TaskIds { pid: process, tid }, Body::Name(until_nul(name))));
        }
    }
    let maps = fs::read(format!("/proc/{process}/maps")).unwrap_or_default();
    for mapping in maps.split(|&byte| byte == b'\n').filter_map(executable_mapping) {
        sink(told(leader, Body::Mapping(mapping)));
    }
}

fn numbers_in(folder: &Path) -> io::Result<Vec<u32>> {
    let names = fs::read_dir(folder)?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    Ok(names.collect())
}

fn parent_of(process: Pid) -> Option<Pid> {
    let stat = fs::read(format!("/proc/{process}/stat")).ok()?;
    stat_fields_after_name(&stat)?.split(' ').nth(1)?.parse().ok().map(Pid)
}

/// The fields from the state on. The name before them is in parentheses and may hold anything,
/// parentheses and bytes that are no text included.
fn stat_fields_after_name(stat: &[u8]) -> Option<&str> {
    let close = stat.iter().rposition(|&byte| byte == b')')?;
    std::str::from_utf8(stat.get(close + 2..)?).ok()
}

/// A line of /proc/PID/maps (proc_pid_maps(5)), if it holds code:
/// `start-end permissions offset major:minor inode      path`.
fn executable_mapping(line: &[u8]) -> Option<Mapping<'_>> {
    let mut rest = line;
    let mut field = || {
        let end = rest.iter().position(|&byte| byte == b' ').unwrap_or(rest.len());
        let (field, after) = rest.split_at(end);
        rest = after.get(1..).unwrap_or_default();
        std::str::from_utf8(field).ok()
    };
    let (start, end) = field()?.split_once('-')?;
    let executable = field()?.as_bytes().get(2) == Some(&b'x');
    let offset = hex(field()?)?;
    let (major, minor) = field()?.split_once(':')?;
    let number: u64 = field()?.parse().ok()?;
    let (start, end) = (hex(start)?, hex(end)?);
    let path = rest.trim_ascii_start();
    let identity = match number {
        0 => FileIdentity::Unknown,
        _ => FileIdentity::Inode(Inode {
            major: u32::from_str_radix(major, 16).ok()?,
            minor: u32::from_str_radix(minor, 16).ok()?,
            number,
            generation: 0,
        }),
    };
    // The page of old system calls belongs to the kernel and lies at a kernel address.
    (executable && path != b"[vsyscall]").then_some(Mapping {
        start: Address(start),
        len: end.checked_sub(start)?,
        offset: FileOffset(offset),
        identity,
        path,
        kernel: false,
    })
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps_are_read_with_any_path() {
        let line = b"7f0000001000-7f0000003000 r-xp 00002000 08:01 1234                       /opt/a b\xff (deleted)";
        let mapping = executable_mapping(line).unwrap();
        assert_eq!(mapping.start, Address(0x7f00_0000_1000));
        assert_eq!((mapping.len, mapping.offset), (0x2000, FileOffset(0x2000)));
        assert_eq!(mapping.path, b"/opt/a b\xff (deleted)");
        let identity = Inode { major: 8, minor: 1, number: 1234, generation: 0 };
        assert_eq!(mapping.identity, FileIdentity::Inode(identity));
        let anonymous = executable_mapping(b"1000-2000 rwxp 00000000 00:00 0 ").unwrap();
        assert_eq!((anonymous.path, anonymous.identity), (&b""[..], FileIdentity::Unknown));
        for no_code in [&b"1000-2000 rw-p 00000000 00:00 0 [heap]"[..], b"", b"junk", b"2000-1000 r-xp 0 0:0 0 /x"] {
            assert_eq!(executable_mapping(no_code), None);
        }
    }

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let stat = b"42 (a) S 1 (b) R 7 42 42 0 -1 4194304 0 0 0 0 11 22 33 44 20";
        assert_eq!(stat_fields_after_name(stat).unwrap().split(' ').nth(1), Some("7"));
    }

    #[test]
    fn our_own_process_is_told_of() {
        let myself = Pid(std::process::id());
        let (mut names, mut files) = (0, 0);
        tell(myself, &mut |event| match event.body {
            Body::Name(_) => names += 1,
            Body::Mapping(mapping) => files += usize::from(mapping.path.ends_with(b"libc.so.6")),
            other => panic!("{other:?}"),
        });
        assert!(names >= 1);
        assert_eq!(files, 1);
        assert_eq!(process_of(Tid(myself.0)), Some(myself));
        assert!(cpu_ticks(myself).is_some());
        assert!(threads_of(myself).unwrap().contains(&Tid(myself.0)));
    }
}
