//! Every recording of tests/corpus, against what `perf script` says of it.

use model::{Address, Body, Event};
use perfdata::{Input, Outcome, Reader};
use std::fmt::Write as _;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// A file of the corpus, unpacked.
pub fn unpacked(name: &str) -> Option<Vec<u8>> {
    let packed = std::fs::read(folder().join(format!("{name}.zst"))).ok()?;
    Some(zstd::decode_all(&*packed).unwrap())
}

/// The names of all recordings.
pub fn names() -> Vec<String> {
    let names = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names
        .filter_map(|name| Some(name.strip_suffix(".zst")?.to_owned()))
        .filter(|name| !name.ends_with(".txt"))
        .collect();
    names.sort();
    names
}

/// One line a sample: process, thread, CPU if `with_cpu`, time, event, period, addresses.
pub fn samples(bytes: Vec<u8>, with_cpu: bool) -> (Vec<String>, Outcome) {
    let mut reader = Reader::open(Input::Bytes(bytes)).unwrap();
    let mut lines = Vec::new();
    let mut add = |event: &Event<'_>| {
        let Body::Sample(sample) = event.body else { return };
        let mut line = format!("{}/{} ", event.task.pid.0 as i32, event.task.tid.0 as i32);
        if with_cpu {
            write!(line, "[{:03}] ", event.cpu.unwrap().0).unwrap();
        }
        let time = event.time.map_or(0, model::Time::as_ns);
        write!(line, "{}.{:09} {:?} {}", time / 1_000_000_000, time % 1_000_000_000, sample.event, sample.period)
            .unwrap();
        // perf script shows no more than 127 frames.
        for (_, address) in sample.callchain.frames().take(127) {
            let Address(address) = address.raw();
            write!(line, " {address:x}").unwrap();
        }
        lines.push(line);
    };
    let outcome = reader.read(&mut add).unwrap();
    // Events are named last: in a pipe their names may come after their samples.
    let names: Vec<String> = reader.events().iter().map(|event| event.description.name.clone()).collect();
    for line in &mut lines {
        for (index, name) in names.iter().enumerate() {
            *line = line.replace(&format!("EventId({index}) "), &format!("{name} "));
        }
    }
    (lines, outcome)
}

/// The same out of the text that perf printed: a line a sample, its callchain on lines of their own.
fn wanted(text: &str) -> (Vec<String>, bool) {
    let with_cpu = text.lines().next().unwrap().contains("cpu");
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().skip(1).filter(|line| !line.trim().is_empty()) {
        if line.starts_with('\t') {
            let address = line.split_whitespace().next().unwrap();
            let last = lines.last_mut().unwrap();
            write!(last, " {address}").unwrap();
            continue;
        }
        let fields: Vec<&str> = line.split_whitespace().collect();
        // The name of the thread may hold blanks; the task is the first field of two numbers.
        let task = fields.iter().position(|field| {
            field.split_once('/').is_some_and(|(pid, tid)| pid.parse::<i64>().is_ok() && tid.parse::<i64>().is_ok())
        });
        let mut rest = fields[task.unwrap_or_else(|| panic!("{line}"))..].iter();
        let mut told = rest.next().unwrap().to_string();
        if with_cpu {
            write!(told, " {}", rest.next().unwrap()).unwrap();
        }
        let time = rest.next().unwrap().trim_end_matches(':');
        let period = rest.next().unwrap();
        let event = rest.next().unwrap().trim_end_matches(':');
        write!(told, " {time} {event} {period}").unwrap();
        rest.for_each(|address| write!(told, " {address}").unwrap());
        lines.push(told);
    }
    (lines, with_cpu)
}

/// perf prints user addresses of a callchain as offsets in their file, which have the same place in
/// the page.
fn is_same(found: &str, wanted: &str) -> bool {
    let in_page = |address: &str| u64::from_str_radix(address, 16).ok().map(|address| address & 0xfff);
    let (found, wanted): (Vec<_>, Vec<_>) = (found.split(' ').collect(), wanted.split(' ').collect());
    let same = |(found, wanted): (&&str, &&str)| found == wanted || in_page(found) == in_page(wanted);
    found.len() == wanted.len() && found[..5] == wanted[..5] && found.iter().zip(&wanted).all(same)
}

#[test]
fn samples_are_those_of_perf_script_in_its_order() {
    let mut compared = 0;
    for name in names() {
        let Some(text) = unpacked(&format!("{name}.txt")) else { continue };
        let (wanted, with_cpu) = wanted(&String::from_utf8(text).unwrap());
        let (found, _) = samples(unpacked(&name).unwrap(), with_cpu);
        for (index, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
            assert!(is_same(found, wanted), "{name}, sample {index}:\n{found}\n{wanted}");
        }
        // The longest texts were cut.
        assert!(found.len() == wanted.len() || wanted.len() > 100, "{name}: {} of {}", found.len(), wanted.len());
        compared += 1;
    }
    assert_eq!(compared, 22);
}

#[test]
fn every_recording_is_read_to_its_end_or_to_its_damage() {
    const DAMAGED: [&str; 1] = ["perf.data.piped.corrupted.zero_size_sample-3.2"];
    for name in names() {
        let (lines, outcome) = samples(unpacked(&name).unwrap(), false);
        assert!(!lines.is_empty() || name.contains("corrupted"), "{name}");
        assert_eq!(outcome.damage.is_some(), DAMAGED.contains(&name.as_str()), "{name}: {outcome:?}");
        assert_eq!(outcome.losses.iter().next(), None, "{name}");
    }
}
