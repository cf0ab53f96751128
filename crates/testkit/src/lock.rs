//! Keeps tests from disturbing each other across threads and processes. A test that changes the
//! machine (a sysctl, a CPU's state) holds the lock alone; runs that would be disturbed by that
//! share it. [`Run`](crate::Run) shares it by itself.
//!
//! The lock is an flock(2) on a file in the temporary directory, so it ends with its process. A
//! thread may take it again as often as it likes, as long as it does not go from sharing to alone.

use std::cell::RefCell;
use std::fs::File;
use std::marker::PhantomData;

/// The lock, held by this thread until it is dropped.
#[must_use]
#[derive(Debug)]
pub struct Guard {
    /// What one thread holds, another cannot give back.
    not_send: PhantomData<*const ()>,
}

/// Shares the lock with others that share it; waits while someone holds it alone.
///
/// # Panics
/// If the lock's file cannot be made.
pub fn shared() -> Guard {
    take(Mode::Shared)
}

/// Waits until nobody else holds the lock, then holds it alone.
///
/// # Panics
/// If this thread shares it already: it would wait for itself.
pub fn exclusive() -> Guard {
    take(Mode::Exclusive)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Shared,
    Exclusive,
}

struct Held {
    mode: Mode,
    times: usize,
    /// Closing it gives the lock back.
    _file: File,
}

thread_local! {
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

fn take(wanted: Mode) -> Guard {
    HELD.with_borrow_mut(|held| match held {
        Some(held) => {
            let upgrade = held.mode == Mode::Shared && wanted == Mode::Exclusive;
            assert!(!upgrade, "this thread shares the lock of the machine already; take it alone first");
            held.times += 1;
        }
        None => {
            let file = open();
            let locked = match wanted {
                Mode::Shared => file.lock_shared(),
                Mode::Exclusive => file.lock(),
            };
            locked.unwrap_or_else(|error| panic!("locking the machine for a test: {error}"));
            *held = Some(Held { mode: wanted, times: 1, _file: file });
        }
    });
    Guard { not_send: PhantomData }
}

impl Drop for Guard {
    fn drop(&mut self) {
        HELD.with_borrow_mut(|held| {
            if let Some(inner) = held {
                inner.times -= 1;
                if inner.times == 0 {
                    *held = None;
                }
            }
        });
    }
}

/// Reading is enough for flock(2), and the file may belong to another user, in which case the
/// kernel refuses to open it "for creation" (`fs.protected_regular`).
fn open() -> File {
    let path = std::env::temp_dir().join("flamel-tests.lock");
    let opened = File::open(&path).or_else(|_| {
        let mut options = File::options();
        options.write(true).create(true).truncate(false).open(&path)
    });
    opened.unwrap_or_else(|error| panic!("opening `{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    #[test]
    fn alone_is_alone() {
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let _guard = exclusive();
                    let _again = shared();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    std::thread::sleep(Duration::from_millis(10));
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
    }

    #[test]
    fn those_who_share_do_not_wait_for_each_other() {
        let _guard = shared();
        std::thread::spawn(|| drop(shared())).join().unwrap();
    }

    #[test]
    #[should_panic(expected = "take it alone first")]
    fn waiting_for_oneself_is_refused() {
        let _guard = shared();
        let _more = exclusive();
    }
}
