//! Runs the sides of a measurement in turn.

use crate::series::Series;
use std::process::{Command, Output, Stdio};

/// A side: its name, and how to run it once for a number.
pub(crate) struct Side<'a> {
    pub(crate) name: &'static str,
    pub(crate) run: Box<dyn FnMut() -> f64 + 'a>,
}

impl<'a> Side<'a> {
    pub(crate) fn new(name: &'static str, run: impl FnMut() -> f64 + 'a) -> Self {
        Self { name, run: Box::new(run) }
    }
}

/// Runs every side once a round, starting with another one each time; the series are in the order
/// of the sides.
pub(crate) fn alternate<const N: usize>(what: &str, rounds: usize, mut sides: [Side<'_>; N]) -> [Series; N] {
    let mut series = std::array::from_fn(|_| Series::default());
    for round in 0..rounds {
        for turn in 0..N {
            let at = (round + turn) % N;
            let number = (sides[at].run)();
            eprintln!("{what}, round {} of {rounds}, {}: {number:.4}", round + 1, sides[at].name);
            series[at].0.push(number);
        }
    }
    series
}

/// Runs a command to its end and returns what it said. What it says of losses goes on to standard
/// error: a profiler that drops samples has it easier.
pub(crate) fn output(command: &mut Command) -> Output {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{stderr}", output.status);
    let lossy = |line: &&str| ["lost", "LOST", "throttled"].iter().any(|word| line.contains(word));
    stderr.lines().filter(lossy).for_each(|line| eprintln!("  {}", line.trim()));
    output
}
