//! Requests to stop, as data: the first ends the recording, the second skips naming, the third
//! lets the signal do what it does by default.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The signals that stop a recording.
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Counts requests to stop, and makes a descriptor readable at each.
#[derive(Debug)]
pub struct StopRequests {
    wake_up: OwnedFd,
    latest: Arc<AtomicUsize>,
    twice: Arc<AtomicBool>,
}

impl StopRequests {
    /// Takes over SIGINT, SIGTERM and SIGHUP of this process.
    pub fn install() -> io::Result<Self> {
        let (wake_up, on_signal) = UnixStream::pair()?;
        wake_up.set_nonblocking(true)?;
        on_signal.set_nonblocking(true)?;
        let requests = Self { wake_up: wake_up.into(), latest: Arc::default(), twice: Arc::default() };
        let once: Arc<AtomicBool> = Arc::default();
        // What was ignored when we began, as under nohup(1), stays ignored, and the command
        // inherits that.
        let ignored = ignored_signals();
        for signal in SIGNALS.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0) {
            // Actions run in the order in which they were registered, so that each looks at what
            // the signals before this one have set.
            flag::register_conditional_default(signal, requests.twice.clone())?;
            flag::register_usize(signal, requests.latest.clone(), signal as usize)?;
            register_step(signal, once.clone(), requests.twice.clone())?;
            low_level::pipe::register(signal, on_signal.try_clone()?)?;
        }
        Ok(requests)
    }

    /// The signal that asked to stop; the latest where there were several.
    pub fn signal(&self) -> Option<i32> {
        Some(self.latest.load(Ordering::SeqCst) as i32).filter(|signal| *signal != 0)
    }

    /// Whether what takes time at the end is to be skipped.
    pub fn hurry(&self) -> bool {
        self.twice.load(Ordering::SeqCst)
    }

    /// Becomes readable when a signal arrives.
    pub fn wake_up(&self) -> BorrowedFd<'_> {
        self.wake_up.as_fd()
    }
}

/// Makes a file that grows beyond its limit (`ulimit -f`) an error of the write that did it, and not the
/// end of this process; a command that is launched has the signal as usual.
pub fn outlive_file_size_limit() -> io::Result<()> {
    flag::register(signal_hook::consts::SIGXFSZ, Arc::default()).map(drop)
}

/// The signals that are ignored, a bit for each: `SigIgn` of /proc/self/status.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// One more request than before.
#[allow(unsafe_code)]
fn register_step(signal: i32, once: Arc<AtomicBool>, twice: Arc<AtomicBool>) -> io::Result<()> {
    let step = move || {
        if once.swap(true, Ordering::SeqCst) {
            twice.store(true, Ordering::SeqCst);
        }
    };
    // SAFETY: the action only stores to atomics, which is async-signal-safe.
    unsafe { low_level::register(signal, step) }.map(drop)
}
