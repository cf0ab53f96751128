//! Why a sample, a frame or a name is missing: one list, shared by all stages. A stage that
//! cannot deliver something names its reason here; every output can then tell the user what
//! is missing, how much, and what helps.
//!
//! Three things can be missing, each with its own enum: a sample ([`SampleLoss`]), the outer
//! frames of a stack ([`StackEnd`]), the name of a frame ([`NameMissing`]).

use crate::EventId;
use std::collections::BTreeMap;
use std::time::Duration;

macro_rules! reasons {
    ($(#[$doc:meta])* $name:ident { $($(#[doc = $text:literal])* $variant:ident => $key:literal, $sentence:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[doc = $text])* $variant,)* }

        impl $name {
            /// Every reason, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// A stable word for machines (JSON, labels).
            pub const fn key(self) -> &'static str {
                match self { $(Self::$variant => $key,)* }
            }

            /// What happened, as the end of a sentence, in lower case without a full stop.
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)* }
            }
        }
    };
}

reasons! {
    /// Why a sample is not in the profile.
    SampleLoss {
        /// The kernel found the ring full.
        RingFull => "ring-full", "lost: the ring buffer was full";
        /// Side-band records (mappings, names) did not fit, so that names may be wrong.
        SideBandLost => "side-band-lost", "records of mappings and names lost: the ring buffer was full";
        /// Records did not fit, of whichever kind.
        RecordsLost => "records-lost", "records lost, mostly samples: the ring buffer was full";
        /// A record that does not hold what its header promises.
        Damaged => "damaged", "damaged records skipped";
        /// A record of a kind that this version does not know.
        UnknownRecord => "unknown-record", "records of an unknown kind skipped";
        /// A record that came too late to be sorted in.
        OutOfOrder => "out-of-order", "records later than the sorting window";
        /// The idle task, which is not shown unless asked for.
        Idle => "idle", "samples of idle CPUs left out";
        /// The profiler's own work, which was not wanted.
        Own => "own", "samples of flamel itself left out";
        /// A line or entry of the input that breaks the format.
        Rejected => "rejected", "entries of the input rejected";
    }
}

reasons! {
    /// Why a stack has no further callers.
    StackEnd {
        /// The outermost function of the thread was reached.
        Bottom => "bottom", "whole, down to the first function of the thread";
        /// The input does not say.
        Unknown => "unknown", "of unknown completeness";
        /// No stacks were asked for.
        NotRecorded => "not-recorded", "without callers, as asked";
        /// User space was left out on purpose or for want of permission.
        UserExcluded => "user-excluded", "without the user part, which was not recorded";
        /// The thread had no user part: the process was in execve(2), or exiting.
        NoUserStack => "no-user-stack", "without a user part (the process was starting or ending)";
        /// The chain of frame pointers ended before the first function.
        FramePointersEnd => "frame-pointers-end", "cut where code without frame pointers called";
        /// The stack was deeper than the bytes that were copied.
        CopyTooShort => "copy-too-short", "cut: deeper than the copied bytes";
        /// Code without unwind tables and without a usable frame pointer.
        NoUnwindInfo => "no-unwind-info", "cut at code without unwind information";
        /// A caller's address that lies in no code.
        BadAddress => "bad-address", "cut at an address that is no code";
        /// The limit on frames was reached.
        Limit => "limit", "cut at the limit on frames";
    }
}

reasons! {
    /// Why a frame has no name.
    NameMissing {
        /// Naming was skipped or cut short on request.
        NotLookedUp => "not-looked-up", "naming was skipped";
        /// The address lies in no mapping of the process.
        NoMapping => "no-mapping", "the address lies in no known mapping";
        /// The file could not be found any more.
        FileGone => "file-gone", "the file is gone";
        /// The file may not be read.
        Permission => "permission", "the file may not be read";
        /// Another file stands under the path now.
        Replaced => "replaced", "another file stands under the path now";
        /// Another build of the file stands under the path.
        OtherBuild => "other-build", "the file under its path has another build id";
        /// The file is not an ELF file that can be read.
        Unreadable => "unreadable", "the file is no readable ELF binary";
        /// The file has no symbols that cover the address.
        Stripped => "stripped", "no symbols cover the address (stripped binary)";
        /// The kernel hides its symbols.
        KernelHidden => "kernel-hidden", "the kernel hides its symbols";
        /// The kernel's symbols at hand are not those of the kernel that was recorded.
        OtherKernel => "other-kernel", "recorded on another kernel";
        /// Generated code, and no perf map tells its names.
        NoJitMap => "no-jit-map", "generated code without a perf map";
        /// Code of a virtual machine or hypervisor, out of reach.
        OutOfReach => "out-of-reach", "code of a guest or hypervisor";
    }
}

/// How much is missing from a profile, by reason. What [`StackEnd`] and [`NameMissing`] count
/// follows from the samples themselves; here stands what left no sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    counts: BTreeMap<(SampleLoss, Option<EventId>), u64>,
    /// How often the kernel held an event back.
    pub throttled: u64,
    /// For how long, summed over CPUs.
    pub throttled_time: Duration,
}

impl Losses {
    /// Counts `count` samples or records that are missing because of `reason`, of whichever event.
    pub fn add(&mut self, reason: SampleLoss, count: u64) {
        self.add_to((reason, None), count);
    }

    /// Counts `count` samples of one event that are missing because of `reason`.
    pub fn add_of(&mut self, event: EventId, reason: SampleLoss, count: u64) {
        self.add_to((reason, Some(event)), count);
    }

    fn add_to(&mut self, key: (SampleLoss, Option<EventId>), count: u64) {
        if count > 0 {
            let sum = self.counts.entry(key).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    /// How many are missing because of `reason`, of all events.
    pub fn count(&self, reason: SampleLoss) -> u64 {
        self.sum(reason, |_| true)
    }

    /// The reasons that took something, with how many, of all events.
    pub fn iter(&self) -> impl Iterator<Item = (SampleLoss, u64)> + '_ {
        SampleLoss::ALL.iter().map(|&reason| (reason, self.count(reason))).filter(|(_, count)| *count > 0)
    }

    /// The same for one event: what it has lost, and what nobody knows the event of.
    pub fn iter_of(&self, event: EventId) -> impl Iterator<Item = (SampleLoss, u64)> + '_ {
        let of_event = move |of: Option<EventId>| of.is_none_or(|of| of == event);
        let counts = SampleLoss::ALL.iter().map(move |&reason| (reason, self.sum(reason, of_event)));
        counts.filter(|(_, count)| *count > 0)
    }

    fn sum(&self, reason: SampleLoss, is_wanted: impl Fn(Option<EventId>) -> bool) -> u64 {
        let wanted = self.counts.iter().filter(|((why, event), _)| *why == reason && is_wanted(*event));
        wanted.fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Adds what another stage has lost.
    pub fn merge(&mut self, other: &Losses) {
        for (&key, &count) in &other.counts {
            self.add_to(key, count);
        }
        self.throttled += other.throttled;
        self.throttled_time += other.throttled_time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id as _;

    #[test]
    fn every_reason_has_its_own_key_and_a_sentence() {
        let all: Vec<_> = SampleLoss::ALL
            .iter()
            .map(|r| (r.key(), r.sentence()))
            .chain(StackEnd::ALL.iter().map(|r| (r.key(), r.sentence())))
            .chain(NameMissing::ALL.iter().map(|r| (r.key(), r.sentence())))
            .collect();
        for (index, (key, sentence)) in all.iter().enumerate() {
            assert!(!sentence.is_empty() && !sentence.ends_with('.'), "{key}");
            assert!(all[index + 1..].iter().all(|(other, _)| other != key), "{key} stands twice");
        }
    }

    #[test]
    fn losses_of_stages_add_up() {
        let mut total = Losses::default();
        total.add(SampleLoss::RingFull, 3);
        let mut other = Losses { throttled: 1, throttled_time: Duration::from_millis(4), ..Losses::default() };
        other.add(SampleLoss::RingFull, u64::MAX);
        total.merge(&other);
        assert_eq!(total.count(SampleLoss::RingFull), u64::MAX);
        assert_eq!(total.iter().count(), 1);
        assert_eq!(total.throttled, 1);
    }

    #[test]
    fn an_event_answers_for_its_own_losses_and_for_those_of_nobody() {
        let [first, second] = [0, 1].map(EventId::from_index);
        let mut losses = Losses::default();
        losses.add_of(first, SampleLoss::RingFull, 5);
        losses.add(SampleLoss::Damaged, 1);
        assert_eq!(losses.count(SampleLoss::RingFull), 5);
        let both = [(SampleLoss::RingFull, 5), (SampleLoss::Damaged, 1)];
        assert_eq!(losses.iter_of(first).collect::<Vec<_>>(), both);
        assert_eq!(losses.iter_of(second).collect::<Vec<_>>(), both[1..]);
    }
}
