//! One event of one thread or CPU: the descriptor that perf_event_open(2) gives, and what can be
//! asked of it.

use model::{Cpu, Tid};
use perf_event_open_sys::{self as sys, bindings::perf_event_attr};
use rustix::io::{Errno, Result};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Whose work an event observes.
#[derive(Clone, Copy, Debug)]
pub enum Whose<'a> {
    /// That of one thread; number 0 is the calling one.
    Thread(Tid),
    /// Everybody's, on one CPU.
    Everybody,
    /// That of the tasks in the cgroup whose folder this is, and in those below it, on one CPU.
    /// The folder must be in the hierarchy to which the controller `perf_event` belongs.
    Cgroup(BorrowedFd<'a>),
}

/// What an event observes.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// Whose work.
    pub whose: Whose<'a>,
    /// On which CPU; `None` for all of them, which a thread alone can be observed on.
    pub cpu: Option<Cpu>,
}

/// An open event.
#[derive(Debug)]
pub struct Counter {
    fd: OwnedFd,
    id: u64,
}

impl Counter {
    /// Opens an event, disabled or not as `attr` says, closed on exec.
    pub fn open(attr: &perf_event_attr, scope: Scope<'_>) -> Result<Self> {
        let mut attr = *attr;
        attr.size = size_of::<perf_event_attr>() as u32;
        let (pid, flags) = match scope.whose {
            Whose::Thread(tid) => (tid.0 as i32, 0),
            Whose::Everybody => (-1, 0),
            Whose::Cgroup(folder) => (folder.as_raw_fd(), sys::bindings::PERF_FLAG_PID_CGROUP),
        };
        let flags = flags | sys::bindings::PERF_FLAG_FD_CLOEXEC;
        let cpu = scope.cpu.map_or(-1, |cpu| cpu.0 as i32);
        // SAFETY: `attr` is a whole structure whose size it states; the kernel copies it and
        // writes back its size field at most. A cgroup's folder is borrowed, and so stays open.
        let raw = unsafe { sys::perf_event_open(&mut attr, pid, cpu, -1, flags.into()) };
        if raw < 0 {
            return Err(last_errno());
        }
        // SAFETY: the call succeeded, so this is a new descriptor that nobody else owns.
        let fd = unsafe { OwnedFd::from_raw_fd(raw) };
        let mut id = 0;
        // SAFETY: the descriptor is an event's, and `id` is where the kernel stores 8 bytes.
        check(unsafe { sys::ioctls::ID(fd.as_raw_fd(), &mut id) })?;
        Ok(Self { fd, id })
    }

    /// The id that its records carry, also those of threads that inherited it.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Starts it, and those of threads that inherited it.
    pub fn enable(&self) -> Result<()> {
        // SAFETY: the descriptor is an event's; this request takes no pointer.
        check(unsafe { sys::ioctls::ENABLE(self.fd.as_raw_fd(), 0) })
    }

    /// Stops it, and those of threads that inherited it.
    pub fn disable(&self) -> Result<()> {
        // SAFETY: the descriptor is an event's; this request takes no pointer.
        check(unsafe { sys::ioctls::DISABLE(self.fd.as_raw_fd(), 0) })
    }

    /// Lets its records go into the ring of `other`, which must be bound to the same CPU.
    pub fn join_output_of(&self, other: &Counter) -> Result<()> {
        // SAFETY: both descriptors are events'; this request takes no pointer.
        check(unsafe { sys::ioctls::SET_OUTPUT(self.fd.as_raw_fd(), other.fd.as_raw_fd()) })
    }

    /// Sets the period, or the frequency if the kernel adapts the period to one.
    pub fn set_period(&self, mut period: u64) -> Result<()> {
        // SAFETY: the descriptor is an event's, and the request reads 8 bytes through the
        // pointer (the kernel's header declares the argument as `__u64`, its code copies it from
        // user memory). libc's type of the request number differs between C libraries.
        check(unsafe { libc::ioctl(self.fd.as_raw_fd(), sys::bindings::PERIOD as _, &raw mut period) })
    }

    /// How many records of this event the kernel could not write, since Linux 6.0; `None` on
    /// kernels and events (`read_format` without `PERF_FORMAT_LOST`) that do not say.
    pub fn lost(&self, reads_lost: bool) -> Result<Option<u64>> {
        if !reads_lost {
            return Ok(None);
        }
        // The layout for `PERF_FORMAT_LOST` alone: the count, then the lost records.
        let mut bytes = [0; 16];
        let len = rustix::io::read(&self.fd, &mut bytes)?;
        let (_, lost) = bytes.split_at(8);
        Ok((len == bytes.len()).then(|| u64::from_ne_bytes(lost.try_into().unwrap_or_default())))
    }
}

impl AsFd for Counter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn check(result: i32) -> Result<()> {
    if result < 0 { Err(last_errno()) } else { Ok(()) }
}

fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)
}
