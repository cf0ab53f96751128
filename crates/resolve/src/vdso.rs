//! The code that the kernel maps into every process (vdso(7)). It lies in no file.

use model::NameMissing;
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::Write as _;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

/// This machine's, read from our own memory: it is the same in all 64-bit processes.
pub(crate) fn own_vdso() -> Result<File, NameMissing> {
    let range = range().ok_or(NameMissing::FileGone)?;
    copy_of_own_memory(range).map_err(|_| NameMissing::Unreadable)
}

fn range() -> Option<Range<u64>> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    Some(u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?)
}

fn copy_of_own_memory(range: Range<u64>) -> std::io::Result<File> {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    File::open("/proc/self/mem")?.read_exact_at(&mut bytes, range.start)?;
    let mut file = File::from(memfd_create("vdso", MemfdFlags::CLOEXEC)?);
    file.write_all(&bytes)?;
    Ok(file)
}
