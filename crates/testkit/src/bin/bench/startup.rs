//! How much longer `true` takes under a profiler: the price of starting, stopping, naming and
//! drawing where there is nothing to see.

use crate::Setting;
use crate::side::{Side, alternate};
use crate::table::Row;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Runs are short, so there can be more of them.
const ROUNDS: usize = 4;

pub(crate) fn measure(setting: &Setting) -> Row {
    let picture = setting.folder.path().join("true.svg");
    let data = setting.folder.path().join("true.data");
    let sides = [
        Side::new("nothing", || milliseconds(&mut Command::new("true"))),
        Side::new("perf", || {
            milliseconds(Command::new("perf").args(["record", "-g", "-o"]).arg(&data).args(["--", "true"]))
        }),
        Side::new("flamel", || {
            let mut flamel = Command::new(&setting.flamel);
            milliseconds(flamel.args(["record", "--backend", "perf", "-o"]).arg(&picture).args(["--", "true"]))
        }),
    ];
    let [nothing, perf, flamel] = alternate("start-up, ms", setting.rounds * ROUNDS, sides);
    let (perf, flamel) = (perf.less(&nothing), flamel.less(&nothing));
    Row {
        what: "start-up: milliseconds longer than `true` alone".into(),
        peer: format!("perf record -g (no picture): {perf:.1}"),
        ours: format!("{flamel:.1}"),
        ratio: format!("{:.2}", flamel.ratio_to(&perf)),
        target: "< 150 ms".into(),
    }
}

/// How long a command takes. Its exit code does not count: `true` may well end before the first
/// sample, and a profiler may call that a failure.
fn milliseconds(command: &mut Command) -> f64 {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    start.elapsed().as_secs_f64() * 1000.0
}
