//! Runs a program under test: with a time limit, its output captured, in a process group of its
//! own so that signals can be sent as a terminal sends them and nothing is left behind.

use crate::{Truth, lock};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::ffi::OsStr;
use std::fmt;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the child and its output are looked at.
const POLL: Duration = Duration::from_millis(2);
/// How long output is waited for once the child is gone: its own children may hold the pipe.
const LINGER: Duration = Duration::from_secs(2);

/// A program about to run. It shares the lock of the machine ([`lock::shared`]) while it runs.
#[derive(Debug)]
pub struct Run {
    command: Command,
    timeout: Duration,
}

impl Run {
    /// Runs the program at `path`, with nothing on standard input, for a minute at most.
    pub fn new(path: impl AsRef<Path>) -> Self {
        let mut command = Command::new(path.as_ref());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        Self { command, timeout: Duration::from_secs(60) }
    }

    /// Adds arguments.
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Adds an argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Sets the working directory.
    pub fn dir(mut self, path: impl AsRef<Path>) -> Self {
        self.command.current_dir(path);
        self
    }

    /// Gives the program standard input.
    pub fn stdin(mut self, input: impl Into<Stdio>) -> Self {
        self.command.stdin(input);
        self
    }

    /// Runs it as another user and group, without further groups; needs root.
    pub fn user(mut self, uid: u32, gid: u32) -> Self {
        self.command.uid(uid).gid(gid);
        self
    }

    /// How long it may take before it is killed and the test fails.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Starts it.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start(mut self) -> Running {
        let machine = lock::shared();
        let started = Instant::now();
        let mut child = self.command.spawn().unwrap_or_else(|error| panic!("starting {:?}: {error}", self.command));
        let stdout = Pipe::read(child.stdout.take());
        let stderr = Pipe::read(child.stderr.take());
        let deadline = started + self.timeout;
        Running { child, line: format!("{:?}", self.command), started, deadline, stdout, stderr, _machine: machine }
    }

    /// Starts it and waits for its end.
    ///
    /// # Panics
    /// If it cannot be started or takes too long.
    pub fn finish(self) -> Finished {
        self.start().finish()
    }
}

/// A running program. It is killed, with its process group, if this is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    line: String,
    started: Instant,
    deadline: Instant,
    stdout: Pipe,
    stderr: Pipe,
    _machine: lock::Guard,
}

impl Running {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal, and it alone.
    ///
    /// # Panics
    /// If there is no such process any more.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.raw_pid(), signal).unwrap_or_else(|error| panic!("signalling {}: {error}", self.line));
    }

    /// Sends a signal to it and its children, as a terminal does for Ctrl-C.
    ///
    /// # Panics
    /// If there is no such process any more.
    pub fn signal_group(&self, signal: Signal) {
        kill_process_group(self.raw_pid(), signal).unwrap_or_else(|error| panic!("signalling {}: {error}", self.line));
    }

    /// What it has written to standard output so far.
    pub fn stdout_so_far(&self) -> String {
        self.stdout.text()
    }

    /// What it has written to standard error so far.
    pub fn stderr_so_far(&self) -> String {
        self.stderr.text()
    }

    /// Waits until standard error holds `text`.
    ///
    /// # Panics
    /// If the program ends or its time is over before.
    pub fn wait_for_stderr(&mut self, text: &str) {
        while !self.stderr.text().contains(text) {
            let ended = self.ended().is_some() && self.stderr.is_closed();
            let over = ended || Instant::now() > self.deadline;
            assert!(!over || self.stderr.text().contains(text), "{} never said `{text}`:\n{self}", self.line);
            std::thread::sleep(POLL);
        }
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        self.ended().is_none()
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// If its time is over before; it is killed then.
    pub fn finish(mut self) -> Finished {
        let status = loop {
            if let Some(status) = self.ended() {
                break status;
            }
            if Instant::now() > self.deadline {
                let allowed = self.deadline - self.started;
                let _ = kill_process_group(self.raw_pid(), Signal::KILL);
                panic!("{} took more than {allowed:?}:\n{self}", self.line);
            }
            std::thread::sleep(POLL);
        };
        let elapsed = self.started.elapsed();
        let until = Instant::now() + LINGER;
        while !(self.stdout.is_closed() && self.stderr.is_closed()) && Instant::now() < until {
            std::thread::sleep(POLL);
        }
        Finished {
            status,
            elapsed,
            line: std::mem::take(&mut self.line),
            stdout: self.stdout.take(),
            stderr: self.stderr.text(),
        }
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap_or_else(|error| panic!("waiting for {}: {error}", self.line))
    }

    fn raw_pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The leader may be gone while its group lives on; the group's number stays taken as long.
        let _ = kill_process_group(self.raw_pid(), Signal::KILL);
        let _ = self.child.wait();
    }
}

impl fmt::Display for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--- stdout\n{}\n--- stderr\n{}", self.stdout.text(), self.stderr.text())
    }
}

/// A program that has run.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// How long it took.
    pub elapsed: Duration,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error; what is not UTF-8 is replaced.
    pub stderr: String,
    line: String,
}

impl Finished {
    /// The exit code; `None` where a signal killed it.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The signal that killed it.
    pub fn killed_by(&self) -> Option<i32> {
        self.status.signal()
    }

    /// Standard output as text; what is not UTF-8 is replaced.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// The truth that a workload printed to standard output.
    ///
    /// # Panics
    /// If there is not exactly one line of it.
    pub fn truth(&self) -> Truth {
        Truth::from_output(&self.stdout)
    }

    /// The same, if the exit code is 0.
    ///
    /// # Panics
    /// If it is not, with all that the program said.
    #[track_caller]
    pub fn success(self) -> Self {
        self.exits_with(0)
    }

    /// The same, if this is the exit code.
    ///
    /// # Panics
    /// If it is not, with all that the program said.
    #[track_caller]
    pub fn exits_with(self, code: i32) -> Self {
        assert_eq!(self.code(), Some(code), "{self}");
        self
    }
}

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, status, elapsed) = (&self.line, self.status, self.elapsed);
        writeln!(f, "{line}: {status} after {elapsed:?}\n--- stdout\n{}", self.stdout_text())?;
        write!(f, "--- stderr\n{}", self.stderr)
    }
}

/// What comes out of a pipe, read by a thread of its own so that the writer never waits.
#[derive(Debug)]
struct Pipe {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Pipe {
    fn read(source: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&bytes);
        let reader = std::thread::spawn(move || {
            let Some(mut source) = source else { return };
            let mut buffer = [0; 64 * 1024];
            while let Ok(size @ 1..) = source.read(&mut buffer) {
                into.lock().expect("no holder panics").extend_from_slice(&buffer[..size]);
            }
        });
        Self { bytes, reader }
    }

    fn is_closed(&self) -> bool {
        self.reader.is_finished()
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.bytes.lock().expect("no holder panics"))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().expect("no holder panics")).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Run {
        Run::new("/bin/sh").args(["-c", script])
    }

    #[test]
    fn output_and_status_are_captured() {
        let done = shell("echo out; echo err >&2; exit 7").finish().exits_with(7);
        assert_eq!((done.stdout_text().as_str(), done.stderr.as_str()), ("out\n", "err\n"));
        let killed = shell("kill -TERM $$").finish();
        assert_eq!((killed.code(), killed.killed_by()), (None, Some(15)));
    }

    #[test]
    fn large_output_does_not_stop_the_writer() {
        let done = shell("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2").finish().success();
        assert_eq!((done.stdout.len(), done.stderr.len()), (1_000_000, 1_000_000));
    }

    #[test]
    fn signals_reach_the_program_or_its_group() {
        let script = "trap 'echo caught; exit 3' INT; echo ready >&2; while :; do sleep 0.01; done";
        let mut running = shell(script).start();
        running.wait_for_stderr("ready");
        assert!(running.is_running());
        running.signal(Signal::INT);
        assert_eq!(running.finish().exits_with(3).stdout_text(), "caught\n");
        let mut running = shell(script).start();
        running.wait_for_stderr("ready");
        running.signal_group(Signal::INT);
        running.finish().exits_with(3);
    }

    #[test]
    #[should_panic(expected = "took more than")]
    fn what_hangs_is_killed() {
        shell("sleep 100").timeout(Duration::from_millis(50)).finish();
    }

    #[test]
    fn a_child_left_behind_does_not_hang_the_test() {
        let done = shell("sleep 100 & echo started").finish().success();
        assert!(done.elapsed < LINGER);
        assert_eq!(done.stdout_text(), "started\n");
    }
}
