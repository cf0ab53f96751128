//! The fields of a record, read one after the other and checked against its size, and those that
//! every record has.

use crate::record::Layout;
use model::{Cpu, TaskIds, Time};
use perf_event_open_sys::bindings as sys;

/// Reads a record's fields one after the other; `None` once they are used up.
pub(crate) struct Fields<'a> {
    pub(crate) rest: &'a [u64],
}

impl<'a> Fields<'a> {
    pub(crate) fn word(&mut self) -> Option<u64> {
        let (&word, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(word)
    }
    /// The two 32-bit fields of a word.
    pub(crate) fn halves(&mut self) -> Option<(u32, u32)> {
        self.word().map(halves)
    }
    /// A process and a thread.
    pub(crate) fn task(&mut self) -> Option<TaskIds> {
        let (pid, tid) = self.halves()?;
        Some(TaskIds::new(pid, tid))
    }
    /// A CPU, which perf's own records do not always know and then say by all bits.
    pub(crate) fn cpu(&mut self) -> Option<Option<Cpu>> {
        let (cpu, _) = self.halves()?;
        Some((cpu != u32::MAX).then_some(Cpu(cpu)))
    }
    pub(crate) fn words(&mut self, count: u64) -> Option<&'a [u64]> {
        let (words, rest) = self.rest.split_at_checked(usize::try_from(count).ok()?)?;
        self.rest = rest;
        Some(words)
    }
    /// `count` bytes, which the kernel pads to whole words.
    pub(crate) fn bytes(&mut self, count: u64) -> Option<&'a [u8]> {
        let words = self.words(count.div_ceil(8))?;
        bytemuck::cast_slice(words).get(..usize::try_from(count).ok()?)
    }
    pub(crate) fn rest_as_bytes(&self) -> &'a [u8] {
        bytemuck::cast_slice(self.rest)
    }
}

/// The two 32-bit fields of a word, the lower address first.
pub(crate) fn halves(word: u64) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = word.to_ne_bytes();
    (u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h]))
}

/// Task, time, CPU and event id, which samples hold at their start and other records at their
/// end (`struct sample_id`).
#[derive(Default)]
pub(crate) struct SampleId {
    pub(crate) task: TaskIds,
    pub(crate) time: Option<Time>,
    pub(crate) cpu: Option<Cpu>,
    pub(crate) id: Option<u64>,
}

/// The fields of `struct sample_id`, and which are pairs of 32 bits.
pub(crate) const SAMPLE_ID: [(sys::perf_event_sample_format, bool); 6] = [
    (sys::PERF_SAMPLE_TID, true),
    (sys::PERF_SAMPLE_TIME, false),
    (sys::PERF_SAMPLE_ID, false),
    (sys::PERF_SAMPLE_STREAM_ID, false),
    (sys::PERF_SAMPLE_CPU, true),
    (sys::PERF_SAMPLE_IDENTIFIER, false),
];

/// How many words `struct sample_id` takes at the end of a record.
pub(crate) fn sample_id_words(layout: &Layout) -> usize {
    if layout.sample_id_all { SAMPLE_ID.iter().filter(|(bit, _)| layout.has(*bit)).count() } else { 0 }
}

/// Splits `struct sample_id` off the end of a record's body.
pub(crate) fn split_sample_id<'a>(body: &'a [u64], layout: &Layout) -> Option<(&'a [u64], SampleId)> {
    if !layout.sample_id_all {
        return Some((body, SampleId::default()));
    }
    let (body, trailer) = body.split_at_checked(body.len().checked_sub(sample_id_words(layout))?)?;
    let mut fields = Fields { rest: trailer };
    let mut common = SampleId::default();
    if layout.has(sys::PERF_SAMPLE_TID) {
        common.task = fields.task()?;
    }
    if layout.has(sys::PERF_SAMPLE_TIME) {
        common.time = Some(Time::from_ns(fields.word()?));
    }
    if layout.has(sys::PERF_SAMPLE_ID) {
        common.id = Some(fields.word()?);
    }
    if layout.has(sys::PERF_SAMPLE_STREAM_ID) {
        fields.word()?;
    }
    if layout.has(sys::PERF_SAMPLE_CPU) {
        common.cpu = fields.cpu()?;
    }
    if layout.has(sys::PERF_SAMPLE_IDENTIFIER) {
        common.id = Some(fields.word()?);
    }
    Some((body, common))
}
