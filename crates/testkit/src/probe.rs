//! Asks the kernel whether an event can be opened, which no file says: seccomp, capabilities,
//! paranoid levels and missing hardware all show only when one tries.
#![allow(unsafe_code)]

use perf_event_open_sys::bindings::{
    PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_SW_CPU_CLOCK, PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE, perf_event_attr,
};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// Opens `cpu-clock` for this process, user space only.
pub(crate) fn cpu_clock() -> io::Result<()> {
    open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK).map(drop)
}

/// Opens the cycle counter of the CPU for this process, user space only.
pub(crate) fn cycles() -> io::Result<()> {
    open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES).map(drop)
}

fn open(kind: u32, config: u32) -> io::Result<OwnedFd> {
    let mut attributes = perf_event_attr { type_: kind, config: config.into(), ..Default::default() };
    attributes.size = size_of::<perf_event_attr>() as u32;
    attributes.set_disabled(1);
    attributes.set_exclude_kernel(1);
    attributes.set_exclude_hv(1);
    // SAFETY: the attributes are a valid structure whose size is in it, and outlive the call; the
    // kernel keeps no pointer to them.
    let descriptor = unsafe { perf_event_open_sys::perf_event_open(&mut attributes, 0, -1, -1, 0) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
