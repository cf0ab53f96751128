//! Threads as labels of samples, in both directions. The format has no place for a thread;
//! `thread`, `process`, `pid` and `tid` are labels as other profilers of Linux write them.

use super::messages::Label;
use super::tables::Tables;
use model::{Profile, TaskId, TaskIds, TaskInfo};

/// The labels of a thread.
pub(super) fn of_task<'a>(profile: &'a Profile, task: TaskId, tables: &mut Tables<'a>) -> Vec<Label> {
    let TaskInfo { ids, name, process_name, .. } = profile.tasks[task];
    let mut labels = Vec::with_capacity(4);
    for (key, text) in [("thread", name), ("process", process_name)] {
        let (key, str) = (tables.string(key), tables.string(profile.text(text)));
        labels.push(Label { key, str, ..Label::default() });
    }
    // Zero twice is an idle CPU, or a thread of which only the name is known; its name says which.
    if ids != TaskIds::default() {
        for (key, number) in [("pid", ids.pid.0), ("tid", ids.tid.0)] {
            labels.push(Label { key: tables.string(key), num: number.into(), ..Label::default() });
        }
    }
    labels
}

/// What the labels of a sample say of its thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct TaskLabels<'a> {
    thread: Option<&'a str>,
    process: Option<&'a str>,
    pid: Option<u32>,
    tid: Option<u32>,
}

/// A label with its strings looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyValue<'a> {
    pub(super) key: &'a str,
    pub(super) text: &'a str,
    pub(super) number: i64,
}

impl<'a> TaskLabels<'a> {
    /// Takes what a label says; false where it says nothing of the thread.
    pub(super) fn take(&mut self, label: KeyValue<'a>) -> bool {
        match label.key {
            "thread" | "thread_name" | "comm" => self.thread = Some(label.text),
            "process" | "process_name" => self.process = Some(label.text),
            "pid" | "process_id" => self.pid = label.id(),
            "tid" | "thread_id" => self.tid = label.id(),
            _ => return false,
        }
        true
    }

    /// The thread in the profile, added if it is new; none where the labels say nothing of it.
    pub(super) fn task(self, profile: &mut Profile) -> Option<TaskId> {
        if self == Self::default() {
            return None;
        }
        let ids = TaskIds::new(self.pid.unwrap_or(0), self.tid.or(self.pid).unwrap_or(0));
        let named = |text: Option<&'a str>| text.filter(|text| !text.is_empty());
        let name = match (named(self.thread).or(named(self.process)), self.tid, self.pid) {
            (Some(name), ..) => name.into(),
            (None, Some(tid), _) => format!("thread {tid}"),
            (None, None, pid) => format!("process {}", pid.unwrap_or(0)),
        };
        let name = profile.strings.intern_str(&name);
        let process_name = named(self.process).map_or(name, |process| profile.strings.intern_str(process));
        Some(profile.tasks.intern(TaskInfo { ids, generation: 0, name, process_name }))
    }
}

impl KeyValue<'_> {
    /// A process's or thread's number, which some write as text.
    fn id(self) -> Option<u32> {
        if self.text.is_empty() { u32::try_from(self.number).ok() } else { self.text.parse().ok() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(labels: &[(&str, &str, i64)]) -> Option<(String, String, u32, u32)> {
        let mut profile = Profile::default();
        let mut of_task = TaskLabels::default();
        for &(key, text, number) in labels {
            of_task.take(KeyValue { key, text, number });
        }
        let task = of_task.task(&mut profile)?;
        let TaskInfo { ids, name, process_name, .. } = profile.tasks[task];
        let text = |id| profile.text(id).to_owned();
        Some((text(name), text(process_name), ids.pid.0, ids.tid.0))
    }

    #[test]
    fn a_thread_is_what_its_labels_say() {
        let full = [("thread", "worker", 0), ("process", "app", 0), ("pid", "", 7), ("tid", "", 8)];
        assert_eq!(task(&full), Some(("worker".into(), "app".into(), 7, 8)));
        assert_eq!(task(&[("pid", "7", 0)]), Some(("process 7".into(), "process 7".into(), 7, 7)));
        assert_eq!(task(&[("tid", "", 8)]), Some(("thread 8".into(), "thread 8".into(), 0, 8)));
        assert_eq!(task(&[("comm", "x", 0)]), Some(("x".into(), "x".into(), 0, 0)));
        assert_eq!(task(&[("request", "GET /", 0)]), None);
        assert_eq!(task(&[("pid", "", -1)]), None);
    }
}
