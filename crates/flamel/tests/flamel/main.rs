//! The finished binary against programs whose truth is known. Root is needed for most of it, and
//! said where it is missing.

mod cgroups;
mod dependencies;
mod ends;
mod errors;
mod kinds;
mod looked_up;
mod losses;
mod outputs;
mod peer;
mod perfdata_peer;
mod pprof_peer;
mod recording_ends;
mod recordings;
mod refusals;
mod script;
mod symfs;
mod targets;
mod text;
mod truth;

use testkit::{Finished, Folded, Run};

/// A run of the binary.
fn flamel() -> Run {
    Run::new(env!("CARGO_BIN_EXE_flamel"))
}

/// A recording to folded stacks in a folder of its own.
struct Recorded {
    finished: Finished,
    folded: Folded,
}

/// Records with these words before the output, and these behind it; the command must end well.
fn record<'a>(options: &[&str], rest: impl IntoIterator<Item = &'a str>) -> Recorded {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.folded");
    let finished = flamel().arg("record").args(options).arg("-o").arg(&out).args(rest).finish().success();
    let folded = Folded::read(&out);
    Recorded { finished, folded }
}

/// The same for a launched command.
fn record_command(options: &[&str], command: &[&str]) -> Recorded {
    record(options, std::iter::once("--").chain(command.iter().copied()))
}
