//! Each mistake has its sentence.

use crate::tree::{DESKTOP, Machine};

#[test]
fn each_mistake_has_its_sentence() {
    let machine = Machine::with(DESKTOP);
    for (list, message) in [
        ("", "event ``: no name is given; `cycles` and `cpu-clock` are names, and commas part several"),
        (
            "cs,,r1",
            "event `` (at character 4): no name is given; `cycles` and `cpu-clock` are names, and commas part several",
        ),
        (
            "{cycles,instructions}",
            "event `{cycles`: groups in braces are counted together, and flamel samples events one by one: leave the braces out",
        ),
        (
            "cs, cpu/event=1",
            "event `cpu/event=1` (at character 5): the `/` after the pmu's name has no second `/` to end its terms",
        ),
        ("cylces", "event `cylces`: there is no such event on this machine; similar names: `cycles`"),
        ("cpu-clok", "event `cpu-clok`: there is no such event on this machine; similar names: `cpu-clock`"),
        ("energy-pgk", "event `energy-pgk`: there is no such event on this machine; similar names: `energy-pkg`"),
        ("slot", "event `slot`: there is no such event on this machine; similar names: `slots`, `cpu/slots/`"),
        ("xyzzy", "event `xyzzy`: there is no such event on this machine"),
        ("bpf-output", "event `bpf-output`: it carries what BPF programs write and takes no samples of code"),
        (
            "cycles:ux",
            "event `cycles:ux`: there is no modifier `x`; there are u, k, h (user, kernel, hypervisor), G, H (guests, host), I (not idle), p to ppp, P (precision), D (pinned), e (exclusive)",
        ),
        ("cycles:uu", "event `cycles:uu`: the modifier `u` stands twice"),
        ("cycles:pppp", "event `cycles:pppp`: precision ends at `ppp`"),
        (
            "cycles:S",
            "event `cycles:S`: the modifier `S` speaks of a group of events, and flamel samples events one by one: leave it out",
        ),
        ("r12345678901234567", "event `r12345678901234567`: a raw event is `r` and up to 16 hexadecimal digits"),
        (
            "cpuu/event=1/",
            "event `cpuu/event=1/`: there is no pmu `cpuu` in `/sys/bus/event_source/devices`; similar names: `cpu`",
        ),
        ("../cpu/", "event `../cpu/`: there is no pmu `..` in `/sys/bus/event_source/devices`"),
        ("power/umask=1/", "event `power/umask=1/`: the pmu `power` has no term `umask`; it has `event`, `energy-pkg`"),
        ("power/cycles/", "event `power/cycles/`: the pmu `power` has no term `cycles`; it has `event`, `energy-pkg`"),
        ("power/../", "event `power/../`: the pmu `power` has no term `..`; it has `event`, `energy-pkg`"),
        (
            "power/energy-pkg.unit/",
            "event `power/energy-pkg.unit/`: the pmu `power` has no term `energy-pkg.unit`; it has `event`, `energy-pkg`",
        ),
        (
            "cpu/event=0x100/",
            "event `cpu/event=0x100/`: the value 0x100 does not fit into the term `event`, which takes 0xff at most",
        ),
        (
            "cpu/edge=2/",
            "event `cpu/edge=2/`: the value 0x2 does not fit into the term `edge`, which takes 0x1 at most",
        ),
        (
            "cpu/event=foo/",
            "event `cpu/event=foo/`: the term `event` takes a number, decimal or hexadecimal after 0x, and `foo` is none",
        ),
        (
            "cpu/event=/",
            "event `cpu/event=/`: the term `event` takes a number, decimal or hexadecimal after 0x, and `` is none",
        ),
        (
            "cpu/period=0/",
            "event `cpu/period=0/`: the term `period` takes a number, decimal or hexadecimal after 0x, and `0` is none",
        ),
        ("cpu/event=1,event=2/", "event `cpu/event=1,event=2/`: the term `event` is given twice, as 1 and as 2"),
        (
            "cpu/slots,mem-loads/",
            "event `cpu/slots,mem-loads/`: `slots` and `mem-loads` are two events: give one of them",
        ),
        (
            "cpu/freq=1,period=2/",
            "event `cpu/freq=1,period=2/`: `period` and `freq` exclude each other: give one of them",
        ),
        ("cpu/name=/", "event `cpu/name=/`: the term `name` needs a name after `=`"),
        (
            "cpu/event=1,call-graph=fp/",
            "event `cpu/event=1,call-graph=fp/`: the term `call-graph` is an option of the whole run: `--call-graph`",
        ),
        (
            "cpu-clock/event=1/",
            "event `cpu-clock/event=1/`: the pmu `cpu-clock` has no term `event`; it has `name`, `period`, `freq`",
        ),
        (
            "hv_24x7/HPM_INST/",
            "event `hv_24x7/HPM_INST/`: the event `HPM_INST` of the pmu needs a value for `core`: write `HPM_INST,core=…`",
        ),
        (
            "intel_pt//",
            "event `intel_pt//`: the pmu `intel_pt` writes a stream of its own instead of samples, which flamel does not read",
        ),
        (
            "uprobe/retprobe/",
            "event `uprobe/retprobe/`: a probe needs a place in code, which terms cannot hold: make one with `perf probe`, \
             and sample the tracepoint that it becomes",
        ),
        ("breakpoint//", "event `breakpoint//`: a breakpoint is written `mem:ADDRESS[/LENGTH][:rwx]`"),
        (
            "broken/x/",
            "event `broken/x/`: `/sys/bus/event_source/devices/broken/format/x` does not hold what flamel expects: its bits lie in `config7`, which flamel does not set",
        ),
        (
            "mem:main",
            "event `mem:main`: the address `main` is neither decimal nor hexadecimal after 0x, within 64 bits",
        ),
        ("mem:0x1000/3:w", "event `mem:0x1000/3:w`: a breakpoint watches 1, 2, 4 or 8 bytes, and not `3`"),
        (
            "mem:0x1000:rr",
            "event `mem:0x1000:rr`: after the address may come `/LEN`, `:` with letters of r, w, x, and `:` with modifiers, not `rr`",
        ),
        (
            "mem:0x1000:w:u:k",
            "event `mem:0x1000:w:u:k`: after the address may come `/LEN`, `:` with letters of r, w, x, and `:` with modifiers, not `w:u:k`",
        ),
    ] {
        assert_eq!(machine.error(list), message);
    }
}

#[test]
fn at_most_five_names_are_offered() {
    let message = Machine::with(DESKTOP).error("miss");
    assert_eq!(message.matches('`').count(), 2 + 2 * 5, "{message}");
}

/// Any text is an event or an error, never a panic.
#[test]
fn odd_text_is_refused() {
    let machine = Machine::with(DESKTOP);
    for text in [
        "/",
        "//",
        "/u",
        ":",
        "::",
        ":u",
        "mem:/",
        "mem::",
        "mem:0x",
        "cpu/=/",
        "cpu/=1/",
        "cpu/'/",
        "ü:ü",
        "r",
        "*:*",
        "{",
        "}",
        "'",
        "\0",
        "cpu/event=1/z",
        "é/é=é/é",
        "cycles/",
    ] {
        assert!(machine.parse(text).is_err(), "{text}");
    }
}
