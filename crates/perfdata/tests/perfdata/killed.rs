//! A recording whose writer was killed, or whose disk is full, can be read as far as it was written.

use crate::corpus::unpacked;
use crate::made;
use perfdata::{Error, Input, Reader, WriteOptions, Writer};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::requires;

const RECORDING: &str = "perf.data.throttle-3.8";
const OPTIONS: [WriteOptions; 2] = [WriteOptions { compression: None }, WriteOptions { compression: Some(1) }];

#[test]
fn what_a_killed_writer_leaves_can_be_read() {
    let bytes = unpacked(RECORDING).unwrap();
    let (whole, _) = made::samples(bytes.clone());
    for options in OPTIONS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.data");
        let mut reader = Reader::open(Input::Bytes(bytes.clone())).unwrap();
        let file = File::create(&path).unwrap();
        let mut writer = Writer::create(file, reader.events(), reader.info().clone(), options).unwrap();
        let names = names(&path);
        let (mut count, mut before) = (0, 0);
        let mut look = || {
            let found = samples(&path, &whole);
            assert!(found >= before, "{found} samples after {before}");
            before = found;
        };
        look();
        reader
            .read(|event| {
                writer.event(event, None).unwrap();
                count += 1;
                if count % 500 == 0 {
                    look();
                }
            })
            .unwrap();
        let unfinished = before;
        writer.finish().unwrap();
        assert_eq!(samples(&path, &whole), whole.len());
        assert!((whole.len() / 2..whole.len()).contains(&unfinished), "{unfinished} of {}", whole.len());
        let wanted: Vec<_> = reader.events().iter().map(|event| event.description.name.clone()).collect();
        assert_eq!(names, wanted, "names stand before the samples");
    }
}

fn names(path: &Path) -> Vec<String> {
    let reader = Reader::open(Input::new(File::open(path).unwrap()).unwrap()).unwrap();
    reader.events().iter().map(|event| event.description.name.clone()).collect()
}

/// How many samples there are: the first of those that were written, and whole, also where the file
/// is cut anywhere behind what its header says.
fn samples(path: &Path, whole: &[(u64, u64)]) -> usize {
    let mut bytes = std::fs::read(path).unwrap();
    let (found, outcome) = made::samples(bytes.clone());
    assert_eq!((outcome.damage, found.as_slice()), (None, &whole[..found.len()]));
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let told = number(40) + number(48);
    let behind = bytes.len() - told;
    for keep in [0, behind / 3, behind.saturating_sub(1)] {
        bytes.truncate(told + keep);
        // Before the first round, nothing is told, and the file holds what comes before the records.
        assert_eq!(made::samples(bytes.clone()).0.len(), found.len(), "cut {keep} bytes behind its records");
        std::fs::write(path.with_extension("cut"), &bytes).unwrap();
        bytes = std::fs::read(path).unwrap();
    }
    found.len()
}

/// A small file system, for as long as it lives.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path, bytes: usize) -> Self {
        let size = format!("size={bytes}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(at).status();
        assert!(mounted.unwrap().success());
        Self(at.to_owned())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn root_a_disk_that_fills_up_keeps_what_was_written() {
    if !requires::root() {
        return;
    }
    let bytes = unpacked(RECORDING).unwrap();
    let (whole, _) = made::samples(bytes.clone());
    for (options, size) in OPTIONS.into_iter().zip([512 << 10, 80 << 10]) {
        let folder = tempfile::tempdir().unwrap();
        let disk = SmallDisk::mount(folder.path(), size);
        let path = folder.path().join("x.data");
        let mut reader = Reader::open(Input::Bytes(bytes.clone())).unwrap();
        let file = File::create(&path).unwrap();
        let mut writer = Writer::create(file, reader.events(), reader.info().clone(), options).unwrap();
        let mut failed = 0;
        reader.read(|event| failed += u32::from(writer.event(event, None).is_err())).unwrap();
        assert!(failed > 0, "{options:?}: the disk took everything");
        assert!(matches!(writer.finish(), Err(Error::Write(_))));
        let (found, outcome) = made::samples(std::fs::read(&path).unwrap());
        assert!(found.len() > 100 && outcome.damage.is_none(), "{} {outcome:?}", found.len());
        assert_eq!(found, whole[..found.len()]);
        drop(disk);
    }
}

#[test]
fn a_device_that_is_full_is_an_error() {
    let bytes = unpacked(RECORDING).unwrap();
    let reader = Reader::open(Input::Bytes(bytes)).unwrap();
    let file = File::options().write(true).open("/dev/full").unwrap();
    let created = Writer::create(file, reader.events(), reader.info().clone(), WriteOptions::default());
    assert!(matches!(created.err(), Some(Error::Write(_))));
}
