//! Who runs: processes and threads as of the event that is being handled.

use crate::binary::{Binaries, BinaryId};
use crate::files::Files;
use crate::regions::{Code, Region, Regions};
use model::{Mapping, Pid, Profile, StringId, TaskId, TaskIds, TaskInfo, Tid, text};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The parent of all kernel threads.
const KTHREADD: Pid = Pid(2);

/// A process that is alive.
#[derive(Clone)]
pub struct Process {
    /// Counts the processes that have had this pid.
    pub generation: u32,
    /// Tells states of the process's memory apart: no other state of any process has the number.
    pub address_space: u32,
    /// What is mapped.
    pub regions: Regions,
    /// Whether [`Self::regions`] is all there is: false for a process that nobody told of.
    pub mappings_known: bool,
    /// Whether it is a thread of the kernel, without a user side.
    pub kernel_thread: bool,
    threads: u32,
    name: StringId,
}

struct Thread {
    pid: Pid,
    name: StringId,
    /// Its entry in the profile, made when it is first sampled under its name.
    task: Option<TaskId>,
}

/// All processes and threads that are alive.
#[derive(Default)]
pub struct Processes {
    processes: FxHashMap<Pid, Process>,
    threads: FxHashMap<Tid, Thread>,
    generations: FxHashMap<Pid, u32>,
    /// How many numbers of address spaces were given out.
    address_spaces: u32,
    /// Threads that have ended, the first first.
    ended: VecDeque<Tid>,
}

/// How many ended threads are remembered.
const ENDED_KEPT: usize = 1024;

impl Processes {
    /// The process of this number, which is made up if nothing told of it.
    pub fn process(&mut self, pid: Pid, profile: &mut Profile) -> &mut Process {
        let Self { processes, generations, address_spaces, .. } = self;
        processes.entry(pid).or_insert_with(|| {
            let generation = generations.entry(pid).and_modify(|count| *count += 1).or_insert(0);
            *address_spaces += 1;
            Process {
                generation: *generation,
                address_space: *address_spaces,
                regions: Regions::default(),
                mappings_known: false,
                kernel_thread: pid.0 == 0 || pid == KTHREADD,
                threads: 0,
                // The spelling of perf for a task whose name nobody told.
                name: profile.strings.intern_str(&if pid.0 == 0 { "swapper".into() } else { format!(":{pid}") }),
            }
        })
    }

    fn thread(&mut self, ids: TaskIds, profile: &mut Profile) -> &mut Thread {
        let known = self.threads.get(&ids.tid).is_some_and(|thread| thread.pid == ids.pid);
        if !known {
            let process = self.process(ids.pid, profile);
            process.threads += 1;
            let name = process.name;
            self.threads.insert(ids.tid, Thread { pid: ids.pid, name, task: None });
        }
        self.threads.get_mut(&ids.tid).expect("was just inserted")
    }

    /// The profile's entry for a thread under its present name.
    pub fn task(&mut self, ids: TaskIds, profile: &mut Profile) -> TaskId {
        let thread = self.thread(ids, profile);
        if let Some(task) = thread.task {
            return task;
        }
        let name = thread.name;
        let process = self.process(ids.pid, profile);
        let info = TaskInfo { ids, generation: process.generation, name, process_name: process.name };
        let task = profile.tasks.intern(info);
        self.thread(ids, profile).task = Some(task);
        task
    }

    /// The thread has this name from now on.
    pub fn name(&mut self, ids: TaskIds, name: &[u8], profile: &mut Profile) {
        let name = profile.strings.intern_str(&text::from_bytes(name));
        let thread = self.thread(ids, profile);
        thread.name = name;
        thread.task = None;
        if ids.pid.0 == ids.tid.0 {
            self.process(ids.pid, profile).name = name;
        }
    }

    /// The process replaced its program. Its other threads are gone, and the calling thread has
    /// taken the process's number.
    pub fn exec(&mut self, ids: TaskIds, name: &[u8], profile: &mut Profile) {
        self.threads.retain(|_, thread| thread.pid != ids.pid);
        self.address_spaces += 1;
        let address_space = self.address_spaces;
        let process = self.process(ids.pid, profile);
        process.address_space = address_space;
        process.regions = Regions::default();
        process.mappings_known = true;
        process.kernel_thread = false;
        process.threads = 0;
        self.name(ids, name, profile);
    }

    /// A thread or, where the pids differ, a process was started.
    pub fn fork(&mut self, child: TaskIds, parent: TaskIds, profile: &mut Profile) {
        let name = self.thread(parent, profile).name;
        if child.pid != parent.pid {
            // Whoever had the number before is gone, even if its end was not recorded.
            self.remove_process(child.pid);
            let Process { regions, mappings_known, .. } = self.process(parent.pid, profile).clone();
            let kernel_thread = parent.pid == KTHREADD;
            let process = self.process(child.pid, profile);
            *process = Process { regions, mappings_known, kernel_thread, name, ..*process };
        }
        self.ended.retain(|tid| *tid != child.tid);
        self.forget_thread(child.tid);
        self.thread(child, profile).name = name;
    }

    /// The thread ended.
    pub fn exit(&mut self, ids: TaskIds) {
        // A thread is sampled on its way out after its end was recorded: it is remembered for a
        // while, and forgotten when its number is given to another or when many have come after.
        self.ended.push_back(ids.tid);
        if self.ended.len() > ENDED_KEPT
            && let Some(oldest) = self.ended.pop_front()
        {
            self.forget_thread(oldest);
        }
    }

    fn forget_thread(&mut self, tid: Tid) {
        let Some(thread) = self.threads.remove(&tid) else { return };
        if let Some(process) = self.processes.get_mut(&thread.pid) {
            process.threads = process.threads.saturating_sub(1);
            if process.threads == 0 {
                self.processes.remove(&thread.pid);
            }
        }
    }

    /// A piece of the process's memory became executable; the file behind it, if there is one.
    pub fn map(
        &mut self,
        pid: Pid,
        mapping: &Mapping<'_>,
        files: &dyn Files,
        binaries: &mut Binaries,
        profile: &mut Profile,
    ) -> Option<BinaryId> {
        let binary = (!is_generated(mapping.path)).then(|| binaries.of(pid, mapping, files));
        let code = binary.map_or(Code::Generated, Code::Binary);
        let (start, end) = (mapping.start.0, mapping.start.0.saturating_add(mapping.len));
        let region = Region { start, end, offset: mapping.offset, code };
        self.address_spaces += 1;
        let address_space = self.address_spaces;
        let process = self.process(pid, profile);
        process.address_space = address_space;
        process.regions.insert(region, binaries);
        process.mappings_known = true;
        binary
    }

    fn remove_process(&mut self, pid: Pid) {
        if self.processes.remove(&pid).is_some() {
            self.threads.retain(|_, thread| thread.pid != pid);
        }
    }
}

/// Whether no file stands behind memory of this name. (`/dev/zero` and SysV segments are shared
/// anonymous memory.)
fn is_generated(path: &[u8]) -> bool {
    let of_kernel = path == b"[vdso]";
    let file = path.starts_with(b"/")
        && !path.starts_with(b"//anon")
        && !path.starts_with(b"/dev/zero")
        && !path.starts_with(b"/SYSV")
        && !path.starts_with(b"/anon_hugepage");
    !(file || of_kernel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Detail;

    fn task_of(all: &mut Processes, ids: TaskIds, profile: &mut Profile) -> (String, String, u32) {
        let task = all.task(ids, profile);
        let info = profile.tasks[task];
        (profile.text(info.name).into(), profile.text(info.process_name).into(), info.generation)
    }

    #[test]
    fn names_follow_threads_execs_and_reused_pids() {
        let mut profile = Profile::new(Detail::Timeline);
        let mut all = Processes::default();
        let leader = TaskIds::new(10, 10);
        assert_eq!(all.task(leader, &mut profile), all.task(leader, &mut profile));
        all.name(leader, b"server", &mut profile);
        let worker = TaskIds::new(10, 11);
        all.fork(worker, leader, &mut profile);
        assert_eq!(task_of(&mut all, worker, &mut profile), ("server".into(), "server".into(), 0));
        all.name(worker, b"work;\xff", &mut profile);
        assert_eq!(task_of(&mut all, worker, &mut profile), ("work;\\xff".into(), "server".into(), 0));

        let child = TaskIds::new(20, 20);
        all.fork(child, worker, &mut profile);
        assert_eq!(task_of(&mut all, child, &mut profile).0, "work;\\xff");
        all.exec(child, b"tool", &mut profile);
        assert_eq!(task_of(&mut all, child, &mut profile), ("tool".into(), "tool".into(), 0));
        all.exit(child);
        all.fork(child, leader, &mut profile);
        assert_eq!(task_of(&mut all, child, &mut profile), ("server".into(), "server".into(), 1));
    }

    #[test]
    fn threads_of_the_kernel_descend_from_kthreadd() {
        let mut profile = Profile::new(Detail::Timeline);
        let mut all = Processes::default();
        all.fork(TaskIds::new(77, 77), TaskIds::new(2, 2), &mut profile);
        assert!(all.process(Pid(77), &mut profile).kernel_thread);
        all.exec(TaskIds::new(77, 77), b"modprobe", &mut profile);
        assert!(!all.process(Pid(77), &mut profile).kernel_thread);
        assert!(!all.process(Pid(78), &mut profile).kernel_thread);
    }

    #[test]
    fn memory_without_a_file_is_generated_code() {
        for path in [&b"//anon"[..], b"[heap]", b"[stack]", b"[anon:v8]", b"/dev/zero (deleted)", b"/SYSV00000000", b""]
        {
            assert!(is_generated(path));
        }
        for path in [&b"/usr/bin/x"[..], b"/memfd:jit (deleted)", b"[vdso]"] {
            assert!(!is_generated(path));
        }
    }
}
