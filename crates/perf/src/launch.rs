//! A command that waits, forked but not yet exec'd, until its events are open: with
//! `enable_on_exec` nothing of the command is missed and nothing before it is seen.

use model::Pid;
use rustix::pipe::{PipeFlags, pipe_with};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::thread::JoinHandle;

/// A forked child that waits for [`Waiting::go`].
#[derive(Debug)]
pub struct Waiting {
    pid: Pid,
    /// Both are there until the child was let go.
    go: Option<std::fs::File>,
    spawner: Option<JoinHandle<io::Result<Child>>>,
}

impl Waiting {
    /// Forks the child. It ends again, without having run anything, if this value is dropped.
    pub fn fork(mut command: Command) -> io::Result<Self> {
        let (ready_read, ready_write) = pipe_with(PipeFlags::CLOEXEC)?;
        let (go_read, go_write) = pipe_with(PipeFlags::CLOEXEC)?;
        let parents_end = go_write.as_raw_fd();
        let wait_for_go = move || {
            let pid = rustix::process::getpid().as_raw_nonzero().get();
            rustix::io::write(&ready_write, &pid.to_ne_bytes())?;
            // SAFETY: in the child, this is its own copy of the parent's end of the pipe, which
            // nothing here uses. As long as it is open, the parent's end cannot be seen closing.
            unsafe { rustix::io::close(parents_end) };
            match rustix::io::read(&go_read, &mut [0u8; 1])? {
                1 => Ok(()),
                _ => Err(io::Error::from(rustix::io::Errno::CANCELED)),
            }
        };
        // SAFETY: between fork and exec the closure makes the system calls write, close and read
        // only, which are async-signal-safe; it allocates nothing.
        unsafe { command.pre_exec(wait_for_go) };
        // `spawn` returns only after the exec, so it waits on a thread of its own. The command
        // and with it our copies of the child's pipe ends are dropped there.
        let spawner = std::thread::Builder::new().name("launch".into()).spawn(move || command.spawn())?;
        let mut pid = [0; 4];
        if std::fs::File::from(ready_read).read_exact(&mut pid).is_err() {
            // The fork itself failed; why is what `spawn` returns.
            return Err(joined(spawner).err().unwrap_or_else(|| io::ErrorKind::Other.into()));
        }
        Ok(Self { pid: Pid(u32::from_ne_bytes(pid)), go: Some(go_write.into()), spawner: Some(spawner) })
    }

    /// The child's number, which the command will have.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Lets the child exec. Fails as the exec does: no such command, not permitted.
    pub fn go(mut self) -> io::Result<Child> {
        // Where the child was killed meanwhile, what `spawn` says of it is the better error.
        let told = self.go.take().map_or(Ok(()), |mut go| go.write_all(&[1]));
        match self.spawner.take() {
            Some(spawner) => joined(spawner),
            None => Err(told.err().unwrap_or_else(|| io::ErrorKind::Other.into())),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // The child sees the pipe close, gives up, and reports that to `spawn`, which must still
        // be there to hear it.
        self.go.take();
        self.spawner.take().map(joined);
    }
}

fn joined(spawner: JoinHandle<io::Result<Child>>) -> io::Result<Child> {
    spawner.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_runs_only_when_told() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("ran");
        let mut command = Command::new("touch");
        command.arg(&mark);
        let waiting = Waiting::fork(command).unwrap();
        let pid = waiting.pid();
        std::thread::sleep(std::time::Duration::from_millis(30));
        assert!(!mark.exists());
        let mut child = waiting.go().unwrap();
        assert_eq!(child.id(), pid.0);
        assert!(child.wait().unwrap().success());
        assert!(mark.exists());
    }

    #[test]
    fn a_command_that_is_not_there_is_an_error() {
        let waiting = Waiting::fork(Command::new("/no/such/command")).unwrap();
        assert_eq!(waiting.go().unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_child_that_is_not_wanted_ends() {
        let waiting = Waiting::fork(Command::new("true")).unwrap();
        let pid = waiting.pid();
        drop(waiting);
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }
}
