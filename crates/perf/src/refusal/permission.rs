//! EACCES and EPERM: which of the guards it was.
//!
//! The kernel answers EACCES where perf_event_paranoid forbids (perf_allow_kernel(),
//! perf_allow_cpu()) and where a process is out of reach, EPERM for raw tracepoints and kernel
//! breakpoints; the usual seccomp filters answer EPERM. The same call can fail for several
//! reasons: the one that is certain by the settings comes first.

use super::{Attempt, Cause, Target};
use crate::events::{EventKind, EventSpec};
use crate::limits::{Capability, Limits, Seccomp};
use rustix::io::Errno;

/// What each value of perf_event_paranoid permits to those without rights.
const LEVELS: &str =
    "2 permits the user side of one's own processes, 1 their kernel side too, 0 whole CPUs, -1 everything";

/// The file capabilities that let flamel observe the system, and other users' processes with
/// their memory maps.
const SETCAP: &str = "sudo setcap cap_perfmon,cap_sys_ptrace=ep $(command -v flamel)";

/// Why the kernel's side is left out, for a remark.
pub fn why_no_kernel(limits: &Limits) -> String {
    match limits.paranoid {
        Some(level) => format!("kernel.perf_event_paranoid is {level}; {}", remedy(limits, 1)),
        None => "the kernel forbids it".into(),
    }
}

/// Whether it may be for the fields of tracepoints that a refusal came.
pub fn forbids_tracepoint_fields(errno: Errno, limits: &Limits) -> bool {
    matches!(errno, Errno::ACCESS | Errno::PERM)
        && !limits.may_observe_all()
        && limits.paranoid.is_none_or(|level| level > -1)
}

/// Why fields of tracepoints are left out, for a remark.
pub fn why_no_tracepoint_fields(limits: &Limits) -> String {
    match limits.paranoid {
        Some(level) => format!("kernel.perf_event_paranoid is {level}; {}", remedy(limits, -1)),
        None => "the kernel forbids it".into(),
    }
}

pub(super) fn explain(errno: Errno, attempt: &Attempt<'_>, limits: &Limits) -> (Cause, String) {
    let event = attempt.event;
    let filtered = matches!(limits.seccomp, Seccomp::Filter | Seccomp::Strict);
    if is_kernel_address(event) && !limits.has(Capability::SysAdmin) {
        let why = "a breakpoint on an address of the kernel needs CAP_SYS_ADMIN: run flamel with `sudo`";
        return (Cause::KernelAddress, why.into());
    }
    if errno == Errno::PERM && filtered && event.kind != EventKind::Tracepoint {
        return (Cause::Seccomp, seccomp(limits));
    }
    if let Some((why, level)) = paranoid(attempt, limits) {
        return (Cause::Paranoid, format!("{why}; {} ({LEVELS})", remedy(limits, level)));
    }
    if let (Target::Process(_) | Target::Thread(_), false) = (attempt.target, limits.may_observe_all()) {
        let why = format!(
            "it belongs to another user or has changed its rights, which needs CAP_PERFMON: run flamel as that user, with \
             `sudo`, or once `{SETCAP}`"
        );
        return (Cause::ForeignProcess, why);
    }
    if filtered {
        return (Cause::Seccomp, seccomp(limits));
    }
    let why = "the settings and the rights of this process permit it, so a security module such as SELinux or AppArmor \
               forbids it: `sudo dmesg | grep -i denied` may show which";
    (Cause::SecurityModule, why.into())
}

/// Whether perf_event_paranoid forbids the kernel's side and nothing else of the attempt.
pub(super) fn forbids_kernel_only(attempt: &Attempt<'_>, limits: &Limits) -> bool {
    !is_kernel_address(attempt.event)
        && limits.paranoid == Some(2)
        && !limits.may_observe_all()
        && !attempt.target.is_of_cpus()
}

/// Whether it is a breakpoint in the kernel's half of the address space, the upper one on every
/// 64-bit machine.
pub(super) fn is_kernel_address(event: &EventSpec) -> bool {
    event.kind == EventKind::Breakpoint && event.config1 >> 63 == 1
}

/// How a filter of system calls is got rid of.
pub(super) fn seccomp(limits: &Limits) -> String {
    let open = match limits.container.as_deref() {
        Some(runtime @ ("docker" | "podman")) => {
            format!("start the container with `{runtime} run --cap-add PERFMON --security-opt seccomp=unconfined …`")
        }
        Some("kubernetes") => {
            "give the container the capability PERFMON and the seccompProfile `type: Unconfined` in its \
                               securityContext"
                .into()
        }
        Some(other) => {
            format!("allow the call in the settings of the container ({other}), or run flamel outside of it")
        }
        None => {
            "allow the call in the filter (for docker `--cap-add PERFMON --security-opt seccomp=unconfined`), or run \
                 flamel outside of it"
                .into()
        }
    };
    format!("a filter of system calls (seccomp) forbids perf_event_open(2): {open}")
}

/// Why perf_event_paranoid forbids the attempt, and the value that would permit it.
fn paranoid(attempt: &Attempt<'_>, limits: &Limits) -> Option<(String, i32)> {
    let level = limits.paranoid.filter(|_| !limits.may_observe_all())?;
    let event = attempt.event;
    let is = format!("kernel.perf_event_paranoid is {level}");
    let needed = match attempt.target {
        Target::System | Target::Cgroup => 0,
        _ if event.includes_kernel() => 1,
        _ => 2,
    };
    if level >= 3 {
        return Some((
            format!("{is}, by which this distribution's kernel forbids perf events to all but root"),
            needed,
        ));
    }
    if attempt.target.is_of_cpus() && level > 0 {
        return Some((format!("{is}, and whole CPUs need 0 or CAP_PERFMON"), needed));
    }
    if event.includes_kernel() && level > 1 {
        let name = &event.name;
        let name = name.split(':').next().filter(|_| !name.contains('/')).filter(|_| event.modifiers.is_default());
        let leave = name.map(|name| format!(" (without it: `-e {name}:u`)")).unwrap_or_default();
        return Some((format!("{is}, and the kernel's side needs 1 or CAP_PERFMON{leave}"), needed));
    }
    if event.kind == EventKind::Tracepoint && level > -1 {
        return Some((format!("{is}, and this tracepoint needs -1 or CAP_PERFMON"), -1));
    }
    None
}

/// The commands that lift perf_event_paranoid, for everybody or for flamel.
fn remedy(limits: &Limits, level: i32) -> String {
    let sysctl = format!("`sudo sysctl kernel.perf_event_paranoid={level}`");
    if limits.user_namespace {
        return format!("{sysctl} outside of this container permits it; rights inside of it do not count");
    }
    if limits.no_new_privileges {
        return format!("{sysctl} from elsewhere permits it; this process can gain no rights (no_new_privs)");
    }
    format!("{sysctl} permits it to all, `{SETCAP}` to flamel")
}
