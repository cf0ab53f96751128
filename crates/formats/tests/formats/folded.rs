//! Reading and writing folded text.

use formats::folded::{Annotations, decode, encode, encode_with};
use formats::{Decoded, ErrorKind};
use model::id::Id;
use model::{
    Address, CodeKind, Detail, EventDescription, EventId, Frame, Function, Location, LocationAddress, LocationId,
    NameMissing, Profile, SampleLoss, SampleRow, StackEnd, TaskIds, TaskInfo, Totals,
};

fn event() -> EventId {
    EventId::from_index(0)
}

pub(crate) fn decoded(bytes: &[u8]) -> Decoded {
    formats::decode(bytes).unwrap()
}

fn text(profile: &Profile) -> String {
    let mut out = Vec::new();
    encode(profile, event(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn annotated(profile: &Profile) -> String {
    let mut out = Vec::new();
    encode_with(profile, event(), Annotations::Written, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn fold(input: &str) -> String {
    text(&decode(input.as_bytes()).unwrap().profile)
}

/// Stacks and their sums, as they are written.
pub(crate) fn sums(profile: &Profile) -> Vec<(String, String)> {
    let text = text(profile);
    text.lines().map(|line| line.rsplit_once(' ').unwrap()).map(|(stack, sum)| (stack.into(), sum.into())).collect()
}

#[test]
fn weight_and_count_are_the_line_s_count() {
    let profile = decoded(b"a;b 7\na;b 3\nc 18446744073709551615\n").profile;
    assert_eq!(profile.events, [EventDescription::plain_samples()]);
    assert_eq!(profile.totals(event()).weight, 10 + u128::from(u64::MAX));
    assert_eq!(profile.totals(event()).count, u64::MAX);
    assert_eq!(profile.stack_ends(event())[0].0, StackEnd::Unknown);
    assert!(profile.samples.iter().all(|row| row.task.is_none() && row.time.is_none()));
}

#[test]
fn fractions_set_the_smallest_scale_and_counts_are_rounded() {
    let profile = decoded(b"a 0.25\nb 10\nc 2.50\n").profile;
    assert_eq!(profile.weight_scale, 2);
    assert_eq!(profile.totals(event()), Totals { weight: 1275, count: 13 });
    assert_eq!(text(&profile), "a 0.25\nb 10\nc 2.5\n");
    assert_eq!(decoded(b"a 1.0\nb 2\n").profile.weight_scale, 0);
    assert_eq!(decoded(b"a 0.000000001\n").profile.weight_scale, 9);
}

#[test]
fn a_count_that_does_not_fit_beside_a_fraction_is_rejected() {
    let decoded = decoded(b"a 0.5\nb 18446744073709551615\nc 0.0000000001\nd 123456789012345678901234567890.5\n");
    assert_eq!(decoded.profile.weight_scale, 1);
    assert_eq!(
        decoded.notes,
        [
            "line 2 has a count that does not fit in 64 bits: `b 18446744073709551615`",
            "line 3 has a count of more than nine decimals: `c 0.0000000001`",
            "line 4 has a count that does not fit in 64 bits: `d 123456789012345678901234567890.5`",
        ]
    );
}

#[test]
fn rejected_lines_are_counted_and_the_first_quoted() {
    let input = format!("good 1\n{}\nfine 2\n", "bad\n".repeat(20).trim_end());
    let decoded = decode(input.as_bytes()).unwrap();
    assert_eq!(decoded.profile.losses.count(SampleLoss::Rejected), 20);
    assert_eq!(decoded.notes.len(), 6);
    assert_eq!(decoded.notes[0], "line 2 does not end in a count: `bad`");
    assert_eq!(decoded.notes[5], "15 more lines break a rule: 20 of 22 are left out");
    let hostile = decode(format!("good 1\nbad\x1b[31m{}\n", "x".repeat(99)).as_bytes()).unwrap();
    assert!(hostile.notes[0].starts_with("line 2 does not end in a count: `bad\\u{1b}[31mxxx"));
    assert!(hostile.notes[0].ends_with("xx..`"));
}

#[test]
fn an_input_without_a_stack_is_an_error() {
    let failure = |bytes: &[u8]| {
        let error = formats::decode(bytes).unwrap_err();
        (error.kind(), error.to_string())
    };
    for empty in ["", "\n\n", " \r\n", "\u{feff}"] {
        assert_eq!(failure(empty.as_bytes()), (ErrorKind::Empty, "the input is empty".into()));
    }
    assert_eq!(failure(b"# only remarks\n").0, ErrorKind::Empty);
    assert_eq!(
        failure(b"\nhello\nworld\n"),
        (
            ErrorKind::NoValidEntry,
            "no line of the input is a folded stack (`frame;frame count`): line 2 does not end in a count: `hello`"
                .into()
        )
    );
    let (kind, sentence) = failure(b"PERFILE2\x68\0\0\0\0\0\0\0");
    assert_eq!(kind, ErrorKind::Unrecognised);
    assert!(sentence.contains("folded stacks"));
}

#[test]
fn comments_blank_lines_and_zeros_are_no_faults() {
    let decoded = decoded(b"# a remark 7\n\n#1;main 5\n  \nmain;zero 0\n");
    assert!(decoded.notes.is_empty());
    assert_eq!(sums(&decoded.profile), [("#1;main".into(), "5".into())]);
    assert_eq!(decode(b"main 0\n").unwrap().profile.totals(event()), Totals::default());
}

#[test]
fn what_is_not_utf8_becomes_an_escape() {
    let profile = decoded(b"we\xff\xfeb;f\xffoo 10\nwe\xfe\xffb;f\xffoo 3\n").profile;
    assert_eq!(text(&profile), "we\\xfe\\xffb;f\\xffoo 3\nwe\\xff\\xfeb;f\\xffoo 10\n");
}

#[test]
fn annotations_are_read_and_written() {
    let input = "main;f_[i];sys_[k];inner_[k]_[i];js_[j];plain_[w] 5\n";
    let profile = decoded(input.as_bytes()).profile;
    let stack = profile.samples.iter().next().unwrap().stack;
    let kinds: Vec<_> = profile
        .stacks
        .leaf_first(stack)
        .map(|id| (profile.location(id).kind, profile.frames(id).unwrap()[0].inlined))
        .collect();
    use CodeKind::{Jit, Kernel, User};
    assert_eq!(kinds, [(User, false), (Jit, false), (Kernel, true), (Kernel, false), (User, true), (User, false)]);
    assert_eq!(annotated(&profile), input);
    assert_eq!(text(&profile), "main;f;sys;inner;js;plain_[w] 5\n");
}

#[test]
fn folding_what_was_folded_changes_nothing() {
    let inputs = [
        "main;a 5\nmain;a 7\nb 0.5\n",
        "m;<impl for [T; 4]>::f 5\n",
        " lead;a ;b;;c; 3\n;x 1\n",
        "#1;x 2\nx;# y 3\n",
        "a;b\tc 4\n",
        "f_[k];g_[i]_[j] 6\n",
    ];
    for input in inputs {
        let once = fold(input);
        assert_eq!(fold(&once), once, "{input}");
        let profile = decode(input.as_bytes()).unwrap().profile;
        let again = annotated(&decode(annotated(&profile).as_bytes()).unwrap().profile);
        assert_eq!(again, annotated(&profile), "{input}");
        let totals = |text: &str| {
            let profile = decode(text.as_bytes()).unwrap().profile;
            (profile.totals(event()).weight, profile.weight_scale)
        };
        assert_eq!(totals(&once), totals(input));
    }
    assert_eq!(fold("m;<impl for [T; 4]>::f 5\n"), "m;<impl for [T: 4]>::f 5\n");
    assert_eq!(fold(" lead;a ;b;;c; 3\n;x 1\n"), " lead;a ;b;[unknown];c 3\n[unknown];x 1\n");
}

/// A profile that holds what folded text cannot say as it is.
fn hostile() -> Profile {
    let mut profile = Profile::new(Detail::Timeline);
    profile.events.push(EventDescription::plain_samples());
    profile.events.push(EventDescription::plain_samples());
    let name = |profile: &mut Profile, name: &str| {
        let name = profile.strings.intern_str(name);
        profile.tasks.intern(TaskInfo { ids: TaskIds::new(1, 1), generation: 0, name, process_name: name })
    };
    let push = |profile: &mut Profile, task, frames: &[LocationId], weight| {
        let stack = profile.stacks.intern(StackEnd::Bottom, frames.iter().copied());
        let row = SampleRow { time: None, task, cpu: None, event: event(), stack, weight, count: 1 };
        profile.samples.push(row);
        profile.samples.push(SampleRow { event: EventId::from_index(1), ..row });
    };
    let evil = name(&mut profile, "sh;evil\n");
    let remark = name(&mut profile, "# remark");
    let mark = name(&mut profile, "\u{feff}mark");
    let nameless = profile.add_location(Location {
        mapping: None,
        address: LocationAddress::Memory(Address(1)),
        kind: CodeKind::Kernel,
    });
    profile.set_missing(nameless, NameMissing::KernelHidden);
    let inlined = profile.add_location(Location {
        mapping: None,
        address: LocationAddress::Memory(Address(2)),
        kind: CodeKind::User,
    });
    let frames = [("inner", true), ("outer", false)].map(|(text, inlined)| {
        let name = profile.strings.intern_str(text);
        Frame { function: profile.functions.intern(Function { name, file: None }), line: 0, inlined, offset: None }
    });
    profile.set_frames(inlined, &frames);
    let odd = [" lead", "trail \t", "a;b;", ""].map(|name| profile.add_symbol(name, CodeKind::User, false));
    push(&mut profile, Some(evil), &[inlined, nameless], 1);
    push(&mut profile, Some(remark), &odd, 2);
    push(&mut profile, Some(mark), &[odd[1]], 4);
    push(&mut profile, Some(mark), &[], 8);
    push(&mut profile, None, &[], 16);
    push(&mut profile, None, &[odd[1]], u64::MAX);
    push(&mut profile, None, &[odd[1]], u64::MAX);
    profile
}

#[test]
fn names_are_spelled_so_that_they_stay_one() {
    let profile = hostile();
    assert_eq!(
        text(&profile),
        "[no stack] 16\n\
         \\x23 remark;\\x20lead;trail \t;a:b:;[unknown] 2\n\
         \\xef\\xbb\\xbfmark;[no stack] 8\n\
         \\xef\\xbb\\xbfmark;trail\\x20\\x09 4\n\
         sh:evil\\n;outer;inner;[kernel] 1\n\
         trail\\x20\\x09 18446744073709551615\n\
         trail\\x20\\x09 18446744073709551615\n"
    );
    assert_eq!(
        annotated(&profile).lines().find(|line| line.starts_with("sh")),
        Some("sh:evil\\n;outer;inner_[i];[kernel]_[k] 1")
    );
    assert_eq!(fold(&text(&profile)), text(&profile));
}

#[test]
fn sums_beyond_64_bits_read_back() {
    for (input, total) in [
        ("a 18446744073709551615\na 18446744073709551615\na 2\n", 36893488147419103232),
        ("a 1844674407370955161.5\na 1844674407370955161\n", 36893488147419103225),
    ] {
        let profile = decode(input.as_bytes()).unwrap().profile;
        assert_eq!(profile.totals(event()).weight, total);
        let again = decode(text(&profile).as_bytes()).unwrap();
        assert!(again.notes.is_empty(), "{:?}", again.notes);
        assert_eq!((again.profile.totals(event()).weight, again.profile.weight_scale), (total, profile.weight_scale));
    }
}

#[test]
fn a_writer_that_fails_is_an_error() {
    let error = encode(&hostile(), event(), &mut [0u8; 4].as_mut_slice()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Write);
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn a_million_lines_of_a_thousand_stacks_are_summed() {
    let mut input = String::new();
    for n in 0..1_000_000 {
        input.push_str(&format!("main;work_{};step_{} {}\n", n % 1000, n % 10, n % 7 + 1));
    }
    let profile = decode(input.as_bytes()).unwrap().profile;
    assert_eq!(profile.samples.rows(), 1000);
    assert_eq!(profile.totals(event()).weight, (0..1_000_000u128).map(|n| n % 7 + 1).sum::<u128>());
}
