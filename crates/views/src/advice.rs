//! What helps against a cut stack or a missing name: one table, so that every output says the
//! same. `None` where nothing that the user can do is known.

use model::{CallGraph, NameMissing, StackEnd};

/// The most bytes of stack that the kernel copies: `perf_event_open(2)` takes a multiple of 8
/// in `sample_stack_user`, a 16-bit field of the record.
const MOST_STACK_BYTES: u16 = 65_528;

pub(crate) fn stack_advice(end: StackEnd, call_graph: Option<CallGraph>) -> Option<String> {
    match (end, call_graph) {
        (StackEnd::CopyTooShort, Some(CallGraph::Auto { stack_bytes } | CallGraph::Dwarf { stack_bytes }))
            if stack_bytes >= MOST_STACK_BYTES =>
        {
            Some("the kernel copies no more; build with `-fno-omit-frame-pointer` and try `--call-graph fp`".into())
        }
        (StackEnd::CopyTooShort, _) => Some(format!("try `--call-graph dwarf,{MOST_STACK_BYTES}`")),
        (StackEnd::FramePointersEnd, Some(CallGraph::Auto { .. } | CallGraph::Dwarf { .. })) => None,
        (StackEnd::FramePointersEnd, _) => Some("try `--call-graph dwarf`".into()),
        (StackEnd::NoUnwindInfo, _) => {
            Some("build it with `-fasynchronous-unwind-tables` or `-fno-omit-frame-pointer`".into())
        }
        (StackEnd::Limit, Some(CallGraph::FramePointer)) => {
            Some("try `sudo sysctl kernel.perf_event_max_stack=1024`".into())
        }
        _ => None,
    }
}

pub(crate) fn name_advice(reason: NameMissing) -> Option<String> {
    let advice = match reason {
        NameMissing::FileGone => {
            "leave the file in place, or give a copy of the machine's files with `--symfs DIR` when a recording is read"
        }
        NameMissing::Permission => "run as root",
        NameMissing::Replaced => "record again, with the file that stands there now",
        NameMissing::OtherBuild => "give the folder with the files that were recorded with `--symfs DIR`",
        NameMissing::OtherKernel => "give its symbols with `--kallsyms FILE`",
        NameMissing::Stripped => "install its debug symbols or build with `-g`",
        NameMissing::KernelHidden => "run as root or `sudo sysctl kernel.kptr_restrict=0`",
        NameMissing::NoJitMap => {
            "run it with its perf-map option, e.g. `node --perf-basic-prof`, `java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit`"
        }
        NameMissing::NotLookedUp | NameMissing::NoMapping | NameMissing::Unreadable | NameMissing::OutOfReach => {
            return None;
        }
    };
    Some(advice.into())
}
