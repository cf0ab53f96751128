//! flamel beside perf(1): the same programs give the same stacks in the same shares. Inlined
//! functions are left out on both sides, since perf has addr2line name them, which spells other
//! names; docs/compared.md lists what is spelled or shown differently, and why.

use crate::record_command;
use std::collections::BTreeMap;
use std::path::Path;
use testkit::build::FramePointers;
use testkit::folded::Stack;
use testkit::{Folded, Run, Variant, Workload, lock, requires, workload};

/// A program, and how both tools record it.
struct Case {
    workload: &'static Workload,
    arguments: &'static [&'static str],
    frame_pointers: FramePointers,
    /// What `--call-graph` is given; perf knows the same words.
    call_graph: &'static str,
}

const fn case(workload: &'static Workload, arguments: &'static [&'static str], call_graph: &'static str) -> Case {
    // A copied stack is unwound by tables; a chain needs frame pointers.
    let copied = call_graph.as_bytes()[0] == b'd';
    let frame_pointers = if copied { FramePointers::Omitted } else { FramePointers::Kept };
    Case { workload, arguments, frame_pointers, call_graph }
}

#[test]
fn root_shares_and_stacks_agree_with_perf() {
    if !requires::root() || !requires::perf() {
        return;
    }
    let _alone = lock::exclusive();
    // By units of work rather than by the clock, a run has as many samples on a busy machine.
    let by_units = &["60", "--units", "30000"];
    for case in [
        case(&workload::SHARES, by_units, "dwarf"),
        case(&workload::SHARES, by_units, "fp"),
        case(&workload::SYSCALLS, &["3"], "dwarf"),
    ] {
        // With a thousand samples, five points are more than three standard deviations of the
        // difference between two runs.
        case.measure().assert_agree(2.0, 5.0);
    }
}

#[test]
#[ignore = "slow: run by `make truth`"]
fn truth_stacks_of_many_programs_agree_with_perf() {
    if !requires::root() || !requires::perf() {
        return;
    }
    let _alone = lock::exclusive();
    let seconds = &["10"];
    let cases = [
        case(&workload::SHARES, seconds, "dwarf"),
        case(&workload::SHARES, seconds, "fp"),
        case(&workload::SYSCALLS, seconds, "dwarf"),
        case(&workload::SYSCALLS, seconds, "fp"),
        case(&workload::THREADS, seconds, "dwarf"),
        case(&workload::THREADS, seconds, "fp"),
        case(&workload::PROLOGUE, seconds, "dwarf"),
        case(&workload::VDSO, seconds, "dwarf"),
        case(&workload::INLINED, seconds, "dwarf"),
        case(&workload::DEMO, seconds, "dwarf"),
    ];
    println!(
        "| program | call graph | samples | stacks ≥ 1 % | in both | stack | function, self | function, total | whole |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for case in cases {
        let measured = case.measure();
        println!("{}", measured.row(&case));
        measured.assert_agree(1.0, 5.0);
    }
}

/// What both tools say of a program.
struct Measured {
    perf: Folded,
    flamel: Folded,
}

impl Case {
    fn measure(&self) -> Measured {
        let variant = Variant { frame_pointers: self.frame_pointers, ..Variant::default() };
        let program = self.workload.build(variant).to_str().unwrap().to_owned();
        let command: Vec<&str> = [&[program.as_str()], self.arguments].concat();
        let options = ["-e", "cpu-clock", "-F", "997", "--call-graph", self.call_graph];
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("perf.data");
        let perf = || Run::new(requires::find("perf").unwrap());
        perf().args(["record", "-q"]).args(options).arg("-o").arg(&data).arg("--").args(&command).finish().success();
        let script = perf().args(["script", "--no-inline", "-i"]).arg(&data).finish().success().stdout_text();
        let stacks = fold(&script);
        assert_inferno_agrees(&script, &stacks, folder.path());
        let stacks = stacks.into_iter().map(|(frames, weight)| Stack { frames, weight });
        let flamel = record_command(&[&["--no-inline"], &options[..]].concat(), &command).folded;
        Measured { perf: Folded { stacks: stacks.map(without_versions).collect() }, flamel }
    }
}

/// Folds what `perf script` prints by default: a line `COMM PID TIME: PERIOD EVENT:` a sample,
/// then its frames, the leaf first, `IP SYMBOL+OFFSET (FILE)`, then a blank line.
fn fold(script: &str) -> BTreeMap<Vec<String>, u64> {
    let mut stacks = BTreeMap::new();
    for sample in script.split("\n\n").filter(|sample| !sample.trim().is_empty()) {
        let mut lines = sample.lines().filter(|line| !line.is_empty());
        // Thread names hold blanks, the fields behind them do not.
        let head = lines.next().unwrap_or_default().trim();
        let words: Vec<&str> = head.split_whitespace().collect();
        let [comm @ .., _pid, _time, period, _event] = &words[..] else { panic!("no sample: `{head}`") };
        let mut frames: Vec<String> = lines.map(frame).collect();
        frames.push(comm.join(" "));
        frames.reverse();
        *stacks.entry(frames).or_default() += period.parse::<u64>().unwrap_or_else(|_| panic!("no period: `{head}`"));
    }
    stacks
}

/// The symbol of a line, or its file's name in brackets where perf knows none.
fn frame(line: &str) -> String {
    let (_ip, rest) = line.trim_start().split_once(' ').unwrap_or_else(|| panic!("no frame: `{line}`"));
    let (symbol, file) = rest.rsplit_once(" (").unwrap_or((rest, ""));
    let symbol = symbol.rsplit_once("+0x").map_or(symbol, |(name, _)| name);
    let file = file.trim_end_matches(')');
    match (symbol, file) {
        ("[unknown]", "" | "[unknown]") => symbol.to_owned(),
        ("[unknown]", file) if file.starts_with('[') => file.to_owned(),
        ("[unknown]", file) => format!("[{}]", file.rsplit('/').next().unwrap_or(file)),
        _ => symbol.to_owned(),
    }
}

/// perf shows the version of a symbol, `clock_gettime@@GLIBC_2.17`; flamel does not.
fn without_versions(mut stack: Stack) -> Stack {
    for frame in stack.frames.iter_mut().filter(|frame| !frame.ends_with("@plt")) {
        if let Some(at) = frame.find('@').filter(|at| *at > 0) {
            frame.truncate(at);
        }
    }
    stack
}

/// Where inferno is installed, it must fold the text as the few lines above do.
fn assert_inferno_agrees(script: &str, ours: &BTreeMap<Vec<String>, u64>, folder: &Path) {
    let Some(inferno) = requires::find("inferno-collapse-perf") else { return };
    let text = folder.join("script.txt");
    std::fs::write(&text, script).unwrap();
    let folded = Run::new(inferno).arg(text).finish().success().stdout_text();
    let theirs = Folded::parse(&folded).stacks.into_iter().map(|stack| (stack.frames, stack.weight));
    assert_eq!(&theirs.collect::<BTreeMap<_, _>>(), ours);
}

type Shares = BTreeMap<String, f64>;

/// The shares, in percent, of what `keys` finds in each stack.
fn shares(folded: &Folded, keys: impl Fn(&Stack) -> Vec<String>) -> Shares {
    let mut sums = Shares::new();
    for stack in &folded.stacks {
        let mut keys = keys(stack);
        keys.sort_unstable();
        keys.dedup();
        keys.into_iter().for_each(|key| *sums.entry(key).or_default() += stack.weight as f64);
    }
    let total = folded.total() as f64;
    sums.values_mut().for_each(|sum| *sum *= 100.0 / total);
    sums
}

fn stacks(folded: &Folded) -> Shares {
    shares(folded, |stack| vec![stack.frames.join(";")])
}

fn heavy(shares: &Shares, least: f64) -> impl Iterator<Item = &String> {
    shares.iter().filter(move |(_, share)| **share >= least).map(|(key, _)| key)
}

/// The largest difference of a share, in points.
fn difference(a: &Shares, b: &Shares) -> f64 {
    let of = |shares: &Shares, key| shares.get(key).copied().unwrap_or(0.0);
    a.keys().chain(b.keys()).map(|key| (of(a, key) - of(b, key)).abs()).fold(0.0, f64::max)
}

impl Measured {
    /// Every stack of at least `least` percent in one is in the other, its share within `within`
    /// points.
    fn assert_agree(&self, least: f64, within: f64) {
        let (perf, flamel) = (stacks(&self.perf), stacks(&self.flamel));
        let largest = || format!("perf:\n{}flamel:\n{}", self.perf.largest(5), self.flamel.largest(5));
        assert!(heavy(&perf, least).next().is_some(), "nothing to compare\n{}", largest());
        for stack in heavy(&perf, least).chain(heavy(&flamel, least)) {
            let [Some(perf), Some(flamel)] = [perf.get(stack), flamel.get(stack)] else {
                panic!("only one tool has {stack}\n{}", largest());
            };
            assert!((perf - flamel).abs() <= within, "{perf:.1} % by perf, {flamel:.1} % by flamel: {stack}");
        }
    }

    /// A row of the table in docs/compared.md.
    fn row(&self, case: &Case) -> String {
        const LEAST: f64 = 1.0;
        let leaf = |stack: &Stack| vec![stack.leaf().to_owned()];
        let all = |stack: &Stack| stack.frames[1..].to_vec();
        let (perf, flamel) = (stacks(&self.perf), stacks(&self.flamel));
        let of_stacks = difference(&perf, &flamel);
        let of_self = difference(&shares(&self.perf, leaf), &shares(&self.flamel, leaf));
        let of_total = difference(&shares(&self.perf, all), &shares(&self.flamel, all));
        let both = heavy(&perf, LEAST).filter(|stack| flamel.contains_key(*stack)).count();
        let counts = [heavy(&perf, LEAST).count(), heavy(&flamel, LEAST).count()];
        let is_whole = |stack: &Stack| ["_start", "clone3"].iter().any(|first| stack.holds(first));
        let whole = [&self.perf, &self.flamel].map(|folded| folded.share_where(is_whole));
        let samples = [&self.perf, &self.flamel].map(|folded| folded.total() / 1_003_009);
        format!(
            "| {} | {} | {}, {} | {}, {} | {both} | {of_stacks:.1} | {of_self:.1} | {of_total:.1} | {:.1} %, {:.1} % |",
            case.workload.name, case.call_graph, samples[0], samples[1], counts[0], counts[1], whole[0], whole[1],
        )
    }
}

#[test]
fn perf_script_is_folded_from_the_root() {
    let script = "\
worker 7  4711  5430.360920:    1003009 cpu-clock: 
\tffffffff81 do_syscall_64+0x5 ([kernel.kallsyms])
\t    7f00aa clock_gettime@@GLIBC_2.17+0x4 (/usr/lib/libc.so.6)
\t    55d0c0 [unknown] (/opt/app)
\t        20 [unknown] ([unknown])

worker 7  4711  5430.361921:    1003009 cpu-clock: 

";
    let folded = fold(script);
    let frames = ["worker 7", "[unknown]", "[app]", "clock_gettime@@GLIBC_2.17", "do_syscall_64"];
    assert_eq!(folded[&frames.map(str::to_owned).to_vec()], 1_003_009);
    assert_eq!(folded[&vec!["worker 7".to_owned()]], 1_003_009);
    let stack = Stack { frames: frames.map(str::to_owned).to_vec(), weight: 1 };
    assert_eq!(without_versions(stack).frames[3], "clock_gettime");
}
