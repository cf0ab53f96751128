//! Each errno, on machines that would give it.

use super::*;
use crate::events::{Roots, Tracing, parse};
use crate::limits::{Capability, ResourceLimits};
use model::Cpu;
use std::path::Path;

/// A user without rights on a machine of 2 CPUs.
fn limits(paranoid: i32) -> Limits {
    let resources =
        ResourceLimits { locked_memory: Some(8 << 20), open_files: Some(1024), open_files_hard: Some(4096) };
    let mut limits = Limits::read_below(Path::new("/nonexistent"), resources, 4096);
    limits.paranoid = Some(paranoid);
    limits.max_sample_rate = Some(100_000);
    limits.mlock_kb = Some(516);
    limits.seccomp = Seccomp::Off;
    limits.online_cpus = vec![Cpu(0), Cpu(1)];
    limits
}

fn with(paranoid: i32, change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = limits(paranoid);
    change(&mut limits);
    limits
}

fn root() -> Limits {
    with(2, |limits| limits.capabilities = u64::MAX)
}

fn event(text: &str) -> EventSpec {
    let roots = Roots { sys: "/nonexistent".into(), tracing: Tracing::NotMounted };
    parse(text, &roots).unwrap().remove(0)
}

const COMMAND: Target = Target::Command;
const PROCESS: Target = Target::Process(Pid(12));
const SYSTEM: Target = Target::System;

fn refused(errno: Errno, name: &str, target: Target, limits: &Limits) -> (Refusal, Option<Fallback>) {
    let event = event(name);
    let attempt = Attempt { event: &event, target, sampling: Sampling::Frequency(997) };
    (explain(errno, &attempt, limits), fallback(errno, &attempt, limits))
}

struct Case {
    errno: Errno,
    name: &'static str,
    target: Target,
    limits: Limits,
    cause: Cause,
    /// What the sentence holds.
    says: &'static [&'static str],
    fallback: Option<Fallback>,
}

fn check(cases: Vec<Case>) {
    for Case { errno, name, target, limits, cause, says, fallback } in cases {
        let (refusal, found) = refused(errno, name, target, &limits);
        let sentence = refusal.to_string();
        assert_eq!((refusal.cause, found), (cause, fallback), "{errno:?} {name}: {sentence}");
        assert!(says.iter().all(|part| sentence.contains(part)), "{says:?} in: {sentence}");
        assert!(sentence.starts_with(&format!("sample `{name}` of ")) && !sentence.ends_with('.'), "{sentence}");
        assert!(!sentence.contains("  "), "{sentence}");
    }
}

#[test]
fn permissions() {
    use Cause::*;
    let (acces, perm) = (Errno::ACCESS, Errno::PERM);
    let docker = |paranoid| {
        with(paranoid, |limits| {
            limits.seccomp = crate::limits::Seccomp::Filter;
            limits.container = Some("docker".into());
        })
    };
    let case = |errno, name, target, limits, cause, says, fallback| Case {
        errno,
        name,
        target,
        limits,
        cause,
        says,
        fallback,
    };
    check(vec![
        case(
            acces,
            "cpu-clock",
            COMMAND,
            limits(2),
            Paranoid,
            &[
                "kernel.perf_event_paranoid is 2, and the kernel's side needs 1",
                "`-e cpu-clock:u`",
                "`sudo sysctl kernel.perf_event_paranoid=1`",
                "`sudo setcap cap_perfmon,cap_sys_ptrace=ep $(command -v flamel)`",
                "0 whole CPUs",
            ],
            Some(Fallback::UserOnly),
        ),
        case(acces, "cpu-clock:k", COMMAND, limits(2), Paranoid, &["needs 1"], None),
        case(
            acces,
            "cpu-clock",
            SYSTEM,
            limits(2),
            Paranoid,
            &["of the whole system", "whole CPUs need 0", "paranoid=0`"],
            None,
        ),
        case(acces, "cpu-clock:u", SYSTEM, limits(1), Paranoid, &["is 1", "paranoid=0`"], None),
        case(acces, "cpu-clock:u", COMMAND, limits(3), Paranoid, &["is 3", "distribution", "paranoid=2`"], None),
        case(acces, "cpu-clock", COMMAND, limits(4), Paranoid, &["is 4", "paranoid=1`"], None),
        case(
            acces,
            "cpu-clock:u",
            PROCESS,
            limits(2),
            ForeignProcess,
            &["process 12", "another user", "`sudo setcap"],
            None,
        ),
        case(acces, "cpu-clock:u", Target::Thread(Tid(7)), limits(0), ForeignProcess, &["thread 7"], None),
        case(acces, "cpu-clock", PROCESS, limits(2), Paranoid, &["needs 1"], Some(Fallback::UserOnly)),
        case(
            perm,
            "cpu-clock",
            COMMAND,
            docker(2),
            Seccomp,
            &["seccomp", "docker run --cap-add PERFMON --security-opt seccomp=unconfined"],
            Some(Fallback::UserOnly),
        ),
        case(perm, "cpu-clock:u", COMMAND, docker(2), Seccomp, &["docker run"], None),
        case(acces, "cpu-clock", COMMAND, docker(1), Seccomp, &["seccomp"], None),
        case(acces, "cpu-clock", COMMAND, docker(2), Paranoid, &["needs 1"], Some(Fallback::UserOnly)),
        case(
            perm,
            "cpu-clock",
            COMMAND,
            with(0, |limits| limits.seccomp = crate::limits::Seccomp::Filter),
            Seccomp,
            &["allow the call in the filter"],
            None,
        ),
        case(acces, "mem:0xffffffff81000000:w", COMMAND, limits(2), KernelAddress, &["CAP_SYS_ADMIN"], None),
        case(perm, "mem:0xffffffff81000000:w", COMMAND, limits(1), KernelAddress, &["CAP_SYS_ADMIN"], None),
        case(acces, "cpu-clock", COMMAND, root(), SecurityModule, &["SELinux"], None),
        case(
            acces,
            "cpu-clock",
            COMMAND,
            with(2, |limits| {
                limits.capabilities = u64::MAX;
                limits.user_namespace = true;
            }),
            Paranoid,
            &["outside of this container", "inside of it do not count"],
            Some(Fallback::UserOnly),
        ),
        case(
            acces,
            "cpu-clock",
            COMMAND,
            with(2, |limits| limits.no_new_privileges = true),
            Paranoid,
            &["no_new_privs"],
            Some(Fallback::UserOnly),
        ),
        case(
            acces,
            "cpu-clock",
            SYSTEM,
            with(2, |limits| limits.capabilities = 1 << Capability::Perfmon as u8),
            SecurityModule,
            &[],
            None,
        ),
    ]);
}

#[test]
fn what_the_machine_has_not() {
    use Cause::*;
    let case = |errno, name, target, cause, says, fallback| Case {
        errno,
        name,
        target,
        limits: root(),
        cause,
        says,
        fallback,
    };
    let clock = Some(Fallback::SoftwareClock);
    let lower = Some(Fallback::LowerPrecision);
    check(vec![
        case(Errno::NOENT, "cycles", COMMAND, NoCounter, &["`-e cpu-clock`", "virtual machines"], clock),
        case(Errno::OPNOTSUPP, "LLC-loads", SYSTEM, NoCounter, &["`-e cpu-clock`"], clock),
        case(Errno::NODEV, "r1a8", COMMAND, NoCounter, &[], clock),
        case(Errno::NOENT, "cycles:P", COMMAND, NoCounter, &[], lower),
        case(Errno::OPNOTSUPP, "cycles:P", COMMAND, Precision, &["as exact as `ppp`", "fewer `p`"], lower),
        case(Errno::OPNOTSUPP, "cycles:pp", COMMAND, Precision, &["as exact as `pp`"], None),
        case(Errno::INVAL, "cycles:p", COMMAND, Precision, &["as exact as `p`"], None),
        case(Errno::NOENT, "cgroup-switches", COMMAND, NoEvent, &["too old"], None),
        case(Errno::NODEV, "cpu-clock", SYSTEM, CpuOffline, &["not online"], None),
        case(Errno::NOENT, "mem:0x1000:w", COMMAND, Breakpoint, &[], None),
        case(Errno::INVAL, "mem:0x1001:r", COMMAND, Breakpoint, &["(`rw`)", "(`x`, without a length)"], None),
        case(
            Errno::INVAL,
            "mem:0xffffffff81000000:w:u",
            COMMAND,
            Breakpoint,
            &["an address of the kernel", "leave the modifiers out"],
            None,
        ),
        case(Errno::NOSPC, "mem:0x1000:w", COMMAND, BreakpointsTaken, &["x86 has 4"], None),
        case(Errno::INVAL, "cpu-clock", COMMAND, Attributes, &[], None),
        case(Errno::TOOBIG, "cpu-clock", COMMAND, OldKernel, &[], None),
        case(Errno::MFILE, "cpu-clock", COMMAND, OpenFiles, &["may have 1024", "`ulimit -n 4096`"], None),
        case(Errno::NFILE, "cpu-clock", COMMAND, SystemFiles, &["`sudo sysctl fs.file-max=N`"], None),
        case(Errno::BUSY, "cycles", COMMAND, Busy, &["`sudo sysctl kernel.nmi_watchdog=0`"], None),
        case(Errno::SRCH, "cpu-clock", PROCESS, Gone, &["process 12: it has ended"], None),
        case(Errno::OVERFLOW, "cpu-clock", COMMAND, StackDepth, &["kernel.perf_event_max_stack, which is 127"], None),
        case(Errno::NOMEM, "cpu-clock", COMMAND, Memory, &[], None),
        case(Errno::IO, "cpu-clock", COMMAND, Other(Errno::IO), &[], None),
        case(Errno::NOSYS, "cpu-clock", COMMAND, Seccomp, &["seccomp"], None),
    ]);
    let unbuilt = with(2, |limits| limits.paranoid = None);
    assert_eq!(refused(Errno::NOSYS, "cpu-clock", COMMAND, &unbuilt).0.cause, NoPerfEvents);
}

#[test]
fn pmus_that_count_and_do_not_sample() {
    let mut spec = event("r1");
    spec.kind = EventKind::Pmu(14);
    for (target, placement, modifiers, says) in [
        (COMMAND, Placement::Packages(vec![Cpu(0)]), "", "use `-a`"),
        (SYSTEM, Placement::Packages(vec![Cpu(0)]), "", "only counts, for whole packages"),
        (SYSTEM, Placement::Anywhere, "u", "try it without them"),
        (SYSTEM, Placement::Anywhere, "", "or the terms do not go together"),
    ] {
        spec.placement = placement;
        spec.modifiers = crate::events::Modifiers::parse(modifiers).unwrap();
        let attempt = Attempt { event: &spec, target, sampling: Sampling::Period(1) };
        let refusal = explain(Errno::INVAL, &attempt, &root());
        assert!(refusal.cause == Cause::NotForTarget && refusal.sentence.contains(says), "{refusal}");
    }
}

#[test]
fn cgroups_need_the_rights_of_cpus_and_the_right_hierarchy() {
    let target = Target::Cgroup;
    let root = root();
    for (errno, limits, cause, says) in [
        (Errno::ACCESS, limits(2), Cause::Paranoid, "whole CPUs need 0"),
        (Errno::BADF, root.clone(), Cause::NotForTarget, "hierarchy"),
        (Errno::INVAL, root.clone(), Cause::NotForTarget, "CONFIG_CGROUP_PERF"),
        (Errno::NOENT, root, Cause::Gone, "removed"),
    ] {
        let (refusal, fallback) = refused(errno, "cpu-clock", target, &limits);
        assert_eq!((refusal.cause, fallback), (cause, None), "{refusal}");
        assert!(refusal.sentence.contains(says) && refusal.sentence.contains("of the cgroup"), "{refusal}");
    }
}

#[test]
fn a_frequency_above_the_limit_names_both() {
    let event = event("cpu-clock");
    let attempt = Attempt { event: &event, target: COMMAND, sampling: Sampling::Frequency(200_000) };
    let refusal = explain(Errno::INVAL, &attempt, &limits(2));
    assert_eq!(refusal.cause, Cause::Frequency);
    assert_eq!(
        refusal.to_string(),
        "sample `cpu-clock` of the command: 200000 Hz is above kernel.perf_event_max_sample_rate, which is 100000: \
         `-F 100000`, or `sudo sysctl kernel.perf_event_max_sample_rate=200000`"
    );
}

#[test]
fn open_files_at_the_hard_limit_need_root() {
    let limits = with(2, |limits| limits.resources.open_files_hard = Some(1024));
    assert!(
        refused(Errno::MFILE, "cs", COMMAND, &limits).0.sentence.contains("`sudo prlimit --nofile=16384 --pid $$`")
    );
}

#[test]
fn rings_beyond_the_budget_name_the_setting() {
    let attempt = RingAttempt { rings: 2, pages: 2 * 8193 };
    let refusal = explain_ring(Errno::PERM, attempt, &limits(2));
    assert_eq!(refusal.cause, Cause::LockedMemory);
    assert_eq!(
        refusal.to_string(),
        "map 2 rings of 65544 KiB in all: this user may lock 9224 KiB for rings (kernel.perf_event_mlock_kb for each CPU, \
         and `ulimit -l`): `sudo sysctl kernel.perf_event_mlock_kb=32772` makes them fit, and so does `ulimit -l 65544` in a shell of root"
    );
    let small = explain_ring(Errno::PERM, RingAttempt { rings: 2, pages: 2 * 9 }, &limits(2));
    assert!(small.sentence.contains("of which other recordings have taken a part"), "{small}");
    assert!(small.sentence.contains("perf_event_mlock_kb=552`"), "{small}");
    for (errno, cause) in [
        (Errno::NOMEM, Cause::Memory),
        (Errno::INVAL, Cause::Attributes),
        (Errno::ACCESS, Cause::SecurityModule),
        (Errno::IO, Cause::Other(Errno::IO)),
    ] {
        assert_eq!(explain_ring(errno, attempt, &limits(2)).cause, cause);
    }
}

#[test]
fn the_missing_kernel_side_is_one_remark() {
    assert_eq!(
        why_no_kernel(&limits(2)),
        "kernel.perf_event_paranoid is 2; `sudo sysctl kernel.perf_event_paranoid=1` permits it to all, \
         `sudo setcap cap_perfmon,cap_sys_ptrace=ep $(command -v flamel)` to flamel"
    );
}
