//! pprof there and back, what other programs write, and what is damaged.

use crate::places::{self, Places};
use formats::folded::{self, Annotations};
use formats::{ErrorKind, pprof};
use model::{EventDescription, EventId, Profile, SampleLoss, Sampling, Unit, id::Id as _};
use std::time::Duration;

fn event() -> EventId {
    EventId::from_index(0)
}

fn encoded(profile: &Profile) -> Vec<u8> {
    let mut bytes = Vec::new();
    pprof::encode(profile, event(), &mut bytes).unwrap();
    bytes
}

fn folded(profile: &Profile) -> String {
    let mut text = Vec::new();
    folded::encode_with(profile, event(), Annotations::Written, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// Go's own: two types of values, addresses, inlined functions, a label of its own.
fn of_go() -> Vec<u8> {
    std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/examples/pprof")).unwrap()
}

#[test]
fn what_is_written_reads_back() {
    let profile = places::server();
    let again = formats::decode(&encoded(&profile)).unwrap();
    assert_eq!(again.notes, Vec::<String>::new());
    assert_eq!(folded(&again.profile), folded(&profile));
    assert_eq!(again.profile.totals(event()), profile.totals(event()));
    let cpu = EventDescription { name: "cpu".into(), unit: Unit::Nanoseconds, sampling: Sampling::Period(1_000_000) };
    assert_eq!(again.profile.events, [cpu]);
    assert_eq!(again.profile.recording.duration, Some(Duration::from_secs(10)));
    assert!(again.profile.recording.remarks.contains(&"target: ./server".into()));
    let tasks = |profile: &Profile| {
        let mut ids: Vec<_> = profile.tasks.iter().map(|(_, task)| (task.ids.pid, task.ids.tid)).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(tasks(&again.profile), tasks(&profile));
    // A second time nothing is left to change.
    let once_more = formats::decode(&encoded(&again.profile)).unwrap().profile;
    assert_eq!(folded(&once_more), folded(&profile));
}

#[test]
fn plain_counts_stay_plain_counts() {
    let profile = formats::decode(b"main;a;b 30\nmain;a 10\n").unwrap().profile;
    let again = formats::decode(&encoded(&profile)).unwrap().profile;
    assert_eq!(again.events, [EventDescription::plain_samples()]);
    assert_eq!(again.totals(event()), profile.totals(event()));
    assert_eq!(folded(&again), folded(&profile));
}

#[test]
fn fractions_are_rounded_and_their_sum_stays() {
    // Nine tenths of a sample in all, of which none reaches one.
    let profile = formats::decode(b"a;b 0.3\na;c 0.3\na;d 0.3\na;e 10\n").unwrap().profile;
    let again = formats::decode(&encoded(&profile)).unwrap().profile;
    assert_eq!(again.totals(event()).weight, 11);
}

#[test]
fn sums_beyond_the_format_are_refused() {
    let profile = formats::decode(b"a 9223372036854775807\nb 9223372036854775807\n").unwrap().profile;
    let error = pprof::encode(&profile, event(), &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfRange);
    assert!(error.to_string().contains("18446744073709551614"), "{error}");
}

#[test]
fn a_profile_of_go() {
    let decoded = formats::decode(&of_go()).unwrap();
    assert_eq!(decoded.notes, ["labels left out: `request`"]);
    let profile = decoded.profile;
    let sampling = Sampling::Period(10_000_000);
    assert_eq!(profile.events, [EventDescription { name: "cpu".into(), unit: Unit::Nanoseconds, sampling }]);
    let totals = profile.totals(event());
    assert!(totals.count > 10 && totals.weight == u128::from(totals.count) * 10_000_000, "{totals:?}");
    let text = folded(&profile);
    assert!(text.lines().any(|line| line.contains("main.main;") && line.contains(";main.spin")), "{text}");
    assert!(text.contains(";main.spin;main.step_[i]"), "{text}");
}

#[test]
fn damaged_profiles_are_errors() {
    let whole = of_go();
    for len in [2, 10, 20, whole.len() / 2, whole.len() - 1] {
        let error = pprof::decode(&whole[..len]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged, "{len}");
    }
    for (bytes, kind) in [
        (&b""[..], ErrorKind::Empty),
        (b"\x12\x00\x12\x00", ErrorKind::Empty),
        (b"\x0a\x04\x08\x01\x10\x01\x12\x02\x10\x05", ErrorKind::Damaged),
        (b"\x0a\x00\x32\x00\x12\x05\x0a", ErrorKind::Damaged),
        (b"\x0a\x00\x32\x00\x12\x03\x0a\x09\x01", ErrorKind::Damaged),
        (b"\x0a\x00\x32\x00\x12\x02\x08\x07", ErrorKind::NoValidEntry),
    ] {
        assert_eq!(pprof::decode(bytes).unwrap_err().kind(), kind, "{bytes:?}");
    }
}

/// A sample of values, of the location with this id.
fn sample(location: u8, value: i64) -> Vec<u8> {
    let mut value_bytes = Vec::new();
    let mut rest = value as u64;
    loop {
        let more = rest > 0x7f;
        value_bytes.push(rest as u8 & 0x7f | u8::from(more) << 7);
        rest >>= 7;
        if !more {
            break;
        }
    }
    let mut sample = vec![0x12, value_bytes.len() as u8 + 3, 0x08, location, 0x10];
    sample.extend(value_bytes);
    sample
}

#[test]
fn samples_that_break_a_rule_are_counted() {
    // One type of values without a name, one location without a function or an address.
    let mut bytes = b"\x0a\x00\x32\x00\x22\x02\x08\x01".to_vec();
    bytes.extend([sample(1, 5), sample(1, -1), sample(2, 5), sample(1, i64::MAX)].concat());
    // Two values where there is one type.
    bytes.extend(b"\x12\x06\x08\x01\x10\x01\x10\x02");
    let decoded = formats::decode(&bytes).unwrap();
    assert_eq!(
        decoded.notes,
        [
            "1 of 5 samples have another number of values than there are types",
            "1 of 5 samples have a value below zero, as differences of profiles do",
            "1 of 5 samples refer to a location that is not there",
        ]
    );
    assert_eq!(decoded.profile.losses.count(SampleLoss::Rejected), 3);
    assert_eq!(decoded.profile.totals(event()).weight, i64::MAX as u128 + 5);
    assert_eq!(folded(&decoded.profile), "[unknown] 9223372036854775812\n");
}

#[test]
fn many_stacks_are_written_and_read() {
    let mut places = Places::cpu_clock();
    let functions: Vec<_> = (0..1_000).map(|n| places.in_file("/bin/app", n, &[&format!("function_{n}")])).collect();
    for n in 0..20_000 {
        let stack: Vec<_> = (0..30).map(|depth| functions[(n * (depth + 1) * 31 + n / 1_000) % 1_000]).collect();
        places.push(None, &stack, 1_000, 1);
    }
    let again = formats::decode(&encoded(&places.profile)).unwrap().profile;
    assert_eq!(again.totals(event()), places.profile.totals(event()));
    assert_eq!(again.samples.rows(), places.profile.samples.rows());
}
