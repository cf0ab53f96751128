//! The last walk of each thread. From one sample to the next a thread mostly changes its innermost
//! frames; where a walk comes to a frame in the state in which the last one was there, and all that
//! the last one read from there on still holds the same, it would go on in the same way, and its
//! callers are taken over. Comparing what was read costs a small part of looking up what the tables
//! say, and is exact.

use framehop::{FrameAddress, UnwindRegsNative};
use model::CodeAddress;
use rustc_hash::FxHashMap;

/// Whose stack is walked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Walker {
    /// The thread.
    pub thread: u32,
    /// A number that changes with what is mapped in its process.
    pub space: u32,
}

/// One frame of a walk, before the step to its caller.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) at: FrameAddress,
    pub(crate) registers: UnwindRegsNative,
    pub(crate) frame: CodeAddress,
    /// How many words the walk had read when it came here.
    pub(crate) reads_before: u32,
}

/// A word of the stack that a walk has read.
pub(crate) type Read = (u64, u64);

/// A walk that came to the end of its stack, the outermost frame first.
#[derive(Default)]
struct Walk {
    space: u32,
    steps: Vec<Step>,
    /// For each step, how many of [`Self::reads`] were made from it on.
    reads_from: Vec<u32>,
    reads: Vec<Read>,
}

/// The last walks.
#[derive(Default)]
pub(crate) struct LastWalks {
    by_thread: FxHashMap<u32, Walk>,
}

/// Threads whose walks are remembered; then all are forgotten and learnt anew.
const MOST_THREADS: usize = 256;
/// Steps of a walk that is remembered, some 100 KB: with all threads, 25 MB at the most.
const MOST_STEPS: usize = 512;

/// Where a walk meets the last one.
#[derive(Clone, Copy)]
pub(crate) struct Meeting {
    /// The index of the step in the last walk.
    step: usize,
}

impl LastWalks {
    /// Whether the last walk of the thread was in this state, and would go on today as it did then.
    /// `hint` is how many of its steps cannot be: those further in.
    pub(crate) fn meet(
        &self,
        walker: Walker,
        at: FrameAddress,
        registers: &UnwindRegsNative,
        read: impl Fn(u64) -> Option<u64>,
        hint: &mut usize,
    ) -> Option<Meeting> {
        let walk = self.by_thread.get(&walker.thread).filter(|walk| walk.space == walker.space)?;
        // From the leaf outwards the stack pointer only grows.
        let mut left = walk.steps.len().checked_sub(*hint)?;
        while left > 0 && walk.steps[left - 1].registers.sp() < registers.sp() {
            left -= 1;
            *hint += 1;
        }
        let step = left.checked_sub(1)?;
        let known = &walk.steps[step];
        if known.at != at || known.registers != *registers {
            return None;
        }
        let reads = &walk.reads[..walk.reads_from[step] as usize];
        reads.iter().all(|(address, value)| read(*address) == Some(*value)).then_some(Meeting { step })
    }

    /// The frames from a meeting on, outwards.
    pub(crate) fn callers(&self, walker: Walker, meeting: Meeting) -> impl Iterator<Item = CodeAddress> + '_ {
        let steps = self.by_thread.get(&walker.thread).map_or(&[][..], |walk| &walk.steps[..=meeting.step]);
        steps.iter().rev().map(|step| step.frame)
    }

    /// Remembers a walk that came to the end of its stack: these steps and reads, the leaf first, and
    /// from `meeting` on the last one's.
    pub(crate) fn remember(&mut self, walker: Walker, steps: &[Step], reads: &[Read], meeting: Option<Meeting>) {
        let kept = meeting.map_or(0, |meeting| meeting.step + 1);
        if kept + steps.len() > MOST_STEPS {
            return self.forget(walker);
        }
        if self.by_thread.len() >= MOST_THREADS && !self.by_thread.contains_key(&walker.thread) {
            self.by_thread.clear();
        }
        let walk = self.by_thread.entry(walker.thread).or_default();
        walk.space = walker.space;
        walk.steps.truncate(kept);
        walk.reads_from.truncate(kept);
        walk.reads.truncate(walk.reads_from.last().map_or(0, |count| *count as usize));
        let kept_reads = walk.reads.len() as u32;
        walk.reads.extend(reads.iter().rev());
        for step in steps.iter().rev() {
            walk.reads_from.push(kept_reads + reads.len() as u32 - step.reads_before);
            walk.steps.push(*step);
        }
    }

    /// Forgets the last walk of a thread.
    pub(crate) fn forget(&mut self, walker: Walker) {
        self.by_thread.remove(&walker.thread);
    }
}
