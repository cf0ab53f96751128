//! Tracepoints of a made-up tracefs.

use crate::tree::Machine;
use model::Sampling;
use perf::events::{EventKind, EventRate, Roots, TracepointFiles, Tracing, parse};
use std::os::unix::fs::PermissionsExt as _;

fn machine() -> Machine {
    Machine::with(&[
        ("tracing/events/enable", "0\n"),
        ("tracing/events/sched/enable", "0\n"),
        ("tracing/events/sched/filter", "none\n"),
        ("tracing/events/sched/sched_switch/id", "372\n"),
        ("tracing/events/sched/sched_wakeup/id", "374\n"),
        ("tracing/events/sched/sched_wakeup_new/id", "373\n"),
        ("tracing/events/irq/softirq_entry/id", "150\n"),
        ("tracing/events/irq/broken/id", "none\n"),
        ("tracing/events/ftrace/print/format", "no id\n"),
    ])
}

#[test]
fn names_patterns_and_modifiers() {
    for (text, expected) in [
        ("sched:sched_switch", &[("sched:sched_switch", 372)][..]),
        ("sched:sched_switch:u", &[("sched:sched_switch:u", 372)]),
        ("sched:sched_w*", &[("sched:sched_wakeup", 374), ("sched:sched_wakeup_new", 373)]),
        ("sch*:*_switch:k", &[("sched:sched_switch:k", 372)]),
        ("*:softirq_?ntry", &[("irq:softirq_entry", 150)]),
    ] {
        let specs = machine().parse(text).unwrap();
        let found: Vec<_> = specs.iter().map(|spec| (spec.name.as_str(), spec.config)).collect();
        assert_eq!(found, expected, "{text}");
        for spec in specs {
            assert_eq!((spec.kind, spec.rate), (EventKind::Tracepoint, EventRate::Usually(Sampling::Period(1))));
        }
    }
}

#[test]
fn what_cannot_be_found_says_why() {
    for (text, message) in [
        (
            "sched:sched_swich",
            "event `sched:sched_swich`: there is no such event on this machine; similar names: `sched:sched_switch`",
        ),
        ("sched:x*", "event `sched:x*`: there is no such event on this machine"),
        ("ftrace:print", "event `ftrace:print`: there is no such event on this machine"),
        (
            "irq:broken",
            "event `irq:broken`: `/tracing/events/irq/broken/id` does not hold what flamel expects: no number",
        ),
        ("cyclez:u", "event `cyclez:u`: there is no such event on this machine; similar names: `cycles`"),
    ] {
        assert_eq!(machine().error(text), message);
    }
    assert_eq!(
        Machine::bare().error("sched:sched_switch"),
        "event `sched:sched_switch`: tracepoints are found in tracefs, which is not mounted: \
         `sudo mount -t tracefs nodev /sys/kernel/tracing`"
    );
    assert!(Machine::bare().error("cyclez:u").contains("similar names: `cycles`"));
}

#[test]
fn a_closed_folder_names_the_command_that_opens_it() {
    if rustix::process::geteuid().is_root() {
        // Root reads everything; what the error is made of is tested all the same.
        let root = tempfile::tempdir().unwrap();
        let roots = Roots { sys: root.path().into(), tracing: Tracing::At(root.path().join("none")) };
        assert!(parse("sched:sched_switch", &roots).is_err());
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let tracing = root.path().join("tracing");
    std::fs::create_dir(&tracing).unwrap();
    std::fs::set_permissions(&tracing, std::fs::Permissions::from_mode(0o000)).unwrap();
    let roots = Roots { sys: root.path().into(), tracing: Tracing::At(tracing.clone()) };
    let error = parse("sched:sched_switch", &roots).unwrap_err().to_string();
    let remedy = format!("sudo mount -o remount,mode=755,gid=$(id -g) {}", tracing.display());
    assert!(error.contains("may not be read: run as root") && error.contains(&remedy), "{error}");
}

#[test]
fn formats_are_read_of_the_sampled_tracepoints() {
    let files = [
        ("tracing/events/header_page", "page"),
        ("tracing/events/header_event", "event"),
        ("tracing/events/sched/sched_switch/id", "372\n"),
        ("tracing/events/sched/sched_switch/format", "name: sched_switch\n"),
        ("tracing/events/sched/sched_waking/id", "373\n"),
        ("tracing/events/sched/sched_waking/format", "name: sched_waking\n"),
        ("tracing/events/irq/no_format/id", "3\n"),
    ];
    let machine = Machine::with(&files);
    let read = |list| TracepointFiles::read(&machine.roots(), &machine.parse(list).unwrap());
    let found = read("cpu-clock,sched:sched_switch:u").unwrap().unwrap();
    assert_eq!((&found.header_page[..], &found.header_event[..]), (&b"page"[..], &b"event"[..]));
    assert_eq!(found.formats, [("sched".into(), vec![b"name: sched_switch\n".to_vec()])].into());
    assert!(found.printk_formats.is_empty());
    assert_eq!(read("cpu-clock"), Ok(None));
    let error = read("irq:no_format").unwrap_err().to_string();
    assert!(error.contains("events/irq/no_format/format"), "{error}");
}
