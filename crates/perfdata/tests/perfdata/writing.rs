//! What is written is what was read, by flamel and by perf.

use crate::corpus::{names, samples, unpacked};
use perfdata::{Info, Input, Reader, WriteOptions, Writer};
use std::fs::File;
use std::path::Path;

/// Writes a recording anew.
fn rewrite(bytes: Vec<u8>, to: &Path, options: WriteOptions) {
    let mut reader = Reader::open(Input::Bytes(bytes)).unwrap();
    let file = File::create(to).unwrap();
    let mut writer = Writer::create(file, reader.events(), reader.info().clone(), options).unwrap();
    reader.read(|event| writer.event(event, None).unwrap()).unwrap();
    let len = writer.finish().unwrap();
    assert_eq!(std::fs::metadata(to).unwrap().len(), len);
}

#[test]
fn samples_stay_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.data");
    for name in names() {
        let bytes = unpacked(&name).unwrap();
        let (before, _) = samples(bytes.clone(), false);
        for compression in [None, Some(3)] {
            rewrite(bytes.clone(), &path, WriteOptions { compression });
            let (after, outcome) = samples(std::fs::read(&path).unwrap(), false);
            let first = before.iter().zip(&after).find(|(before, after)| before != after);
            assert_eq!((first, before.len()), (None, after.len()), "{name}");
            assert!(outcome.damage.is_none(), "{name}: {outcome:?}");
        }
    }
}

#[test]
fn what_was_told_of_the_run_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.data");
    for name in names() {
        let bytes = unpacked(&name).unwrap();
        let before = Reader::open(Input::Bytes(bytes.clone())).unwrap();
        rewrite(bytes, &path, WriteOptions::default());
        let after = Reader::open(Input::new(File::open(&path).unwrap()).unwrap()).unwrap();
        let told = |info: &Info| {
            let groups = info.groups.clone();
            (info.host.clone(), info.machine.clone(), info.command.clone(), info.build_ids.clone(), groups)
        };
        assert!(told(before.info()) == told(after.info()), "{name}");
        let names = |reader: &Reader| reader.events().iter().map(|event| event.description.clone()).collect::<Vec<_>>();
        assert_eq!(names(&before), names(&after), "{name}");
    }
}
