//! What is known of a recording before it begins: whom, where, how.

use crate::request::{Request, Target};
use model::{Cpu, Recording};
use std::time::{Duration, SystemTime};

/// The recording of this request, on these CPUs of this machine.
pub(crate) fn recording(request: &Request, cpus: &[Cpu], remarks: Vec<String>) -> Recording {
    let system = rustix::system::uname();
    let since_start = Duration::from_nanos(perf::now().as_ns());
    Recording {
        target: describe_target(request),
        host: Some(system.nodename().to_string_lossy().into_owned()),
        kernel: Some(system.release().to_string_lossy().into_owned()),
        cpus: Some(cpus.len() as u32),
        wall_offset: SystemTime::now().checked_sub(since_start),
        duration: None,
        call_graph: Some(request.call_graph),
        remarks,
    }
}

fn describe_target(request: &Request) -> String {
    let words = request.command.iter().flatten().map(|word| word.to_string_lossy());
    let command = words.collect::<Vec<_>>().join(" ");
    let whose = match &request.target {
        Target::Command => return command,
        Target::Processes(pids) => format!("pid {}", list(pids, ",")),
        Target::Threads(tids) => format!("tid {}", list(tids, ",")),
        Target::Users(names) => format!("user {}", list(names, ", ")),
        Target::Names(names) => format!("processes named {}", list(names, ", ")),
        Target::Cgroups(names) => format!("cgroup {}", list(names.iter().map(|name| name.display()), ", ")),
        Target::System => "the whole system".into(),
    };
    if command.is_empty() { whose } else { format!("{whose} during: {command}") }
}

fn list(items: impl IntoIterator<Item = impl ToString>, between: &str) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::OwnSamples;
    use model::{CallGraph, Pid};
    use perf::TracepointFields;

    #[test]
    fn titles_say_what_was_profiled() {
        let request = |target, command: &[&str]| Request {
            target,
            command: (!command.is_empty()).then(|| command.iter().map(Into::into).collect()),
            cpus: None,
            inherit: true,
            own_samples: OwnSamples::Keep,
            events: Vec::new(),
            tracepoint_fields: TracepointFields::LeftOut,
            rate: None,
            call_graph: CallGraph::FramePointer,
            duration: None,
            delay: Duration::ZERO,
            ring_bytes: None,
        };
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        for (target, command, expected) in [
            (Target::Command, &["ls", "-l"][..], "ls -l"),
            (Target::Processes(vec![Pid(1), Pid(22)]), &[], "pid 1,22"),
            (Target::Users(names(&["nobody"])), &[], "user nobody"),
            (Target::Names(names(&["a b", "c"])), &[], "processes named a b, c"),
            (Target::Cgroups(vec!["x/y".into()]), &["sleep", "1"], "cgroup x/y during: sleep 1"),
            (Target::System, &["true"], "the whole system during: true"),
        ] {
            assert_eq!(describe_target(&request(target, command)), expected);
        }
    }
}
