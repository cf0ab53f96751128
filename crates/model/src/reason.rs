//! Why a sample, a frame or a name is missing: one list, shared by all stages. A stage that
//! cannot deliver something names its reason here; every output can then tell the user what
//! is missing, how much, and what helps.
//!
//! Three things can be missing, each with its own enum: a sample ([`SampleLoss`]), the outer
//! frames of a stack ([`StackEnd`]), the name of a frame ([`NameMissing`]).

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
        /// A record that does not hold what its header promises.
        Damaged => "damaged", "damaged records skipped";
        /// A record of a kind that this version does not know.
        UnknownRecord => "unknown-record", "records of an unknown kind skipped";
        /// A record that came too late to be sorted in.
        OutOfOrder => "out-of-order", "records later than the sorting window";
        /// The idle task, which is not shown unless asked for.
        Idle => "idle", "samples of idle CPUs left out";
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
        /// The file is not an ELF file that can be read.
        Unreadable => "unreadable", "the file is no readable ELF binary";
        /// The file has no symbols that cover the address.
        Stripped => "stripped", "no symbols cover the address (stripped binary)";
        /// The kernel hides its symbols.
        KernelHidden => "kernel-hidden", "the kernel hides its symbols";
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
    samples: [u64; SampleLoss::ALL.len()],
    /// How often the kernel held an event back.
    pub throttled: u64,
    /// For how long, summed over CPUs.
    pub throttled_time: Duration,
}

impl Losses {
    /// Counts `count` samples or records that are missing because of `reason`.
    pub fn add(&mut self, reason: SampleLoss, count: u64) {
        let slot = &mut self.samples[reason as usize];
        *slot = slot.saturating_add(count);
    }

    /// How many are missing because of `reason`.
    pub fn count(&self, reason: SampleLoss) -> u64 {
        self.samples[reason as usize]
    }

    /// The reasons that took something, with how many.
    pub fn iter(&self) -> impl Iterator<Item = (SampleLoss, u64)> + '_ {
        SampleLoss::ALL.iter().map(|&reason| (reason, self.count(reason))).filter(|(_, count)| *count > 0)
    }

    /// Adds what another stage has lost.
    pub fn merge(&mut self, other: &Losses) {
        for (reason, count) in other.iter() {
            self.add(reason, count);
        }
        self.throttled += other.throttled;
        self.throttled_time += other.throttled_time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
