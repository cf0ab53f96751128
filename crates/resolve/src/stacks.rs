//! The frames of one sample: the kernel's callchain, and the user's part by whichever way is
//! whole. Says why a stack ends where it does.

use crate::binary::{Binaries, BinaryId};
use crate::process::Process;
use crate::regions::Code;
use model::{Address, CallGraph, Callchain, CodeAddress, Context, Sample, StackEnd, Tid, UserStack, UserState};
use rustc_hash::FxHashMap;
use unwind::{Stop, Unwinder, Walker};

/// How stacks are taken.
#[derive(Clone, Copy, Debug)]
pub struct StackOptions {
    /// How the user's part is found.
    pub call_graph: CallGraph,
    /// The most frames of the user's part.
    pub max_frames: usize,
    /// The most words that the kernel puts into a callchain (`kernel.perf_event_max_stack`).
    pub kernel_limit: usize,
}

/// Walks user stacks; keeps its buffers between samples.
pub struct UserStacks {
    unwinder: Unwinder,
    first_functions: FirstFunctions,
    walked: Vec<CodeAddress>,
    chain: Vec<CodeAddress>,
    /// Which of the two the last stack was, and why it ends.
    last: (Source, StackEnd),
}

/// Where a stack's user part was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// There is none.
    Nowhere,
    /// In the copied stack, and perhaps further on in the chain.
    Walk,
    /// In the chain of frame pointers.
    Chain,
}

impl Default for UserStacks {
    fn default() -> Self {
        Self {
            unwinder: Unwinder::default(),
            first_functions: FirstFunctions::default(),
            walked: Vec::new(),
            chain: Vec::new(),
            last: (Source::Nowhere, StackEnd::NoUserStack),
        }
    }
}

impl UserStacks {
    /// Finds the user's part of a sample's stack, which [`Self::last`] then gives; why it ends.
    pub fn of(
        &mut self,
        thread: Tid,
        sample: &Sample<'_>,
        process: &mut Process,
        binaries: &Binaries,
        options: &StackOptions,
    ) -> StackEnd {
        self.last = self.find(thread, sample, process, binaries, options);
        self.last.1
    }

    /// Takes the user's part of a callchain as it is.
    pub fn as_recorded(&mut self, callchain: Callchain<'_>) {
        self.chain.clear();
        self.chain.extend(callchain.frames_of(Context::User));
        self.last = (Source::Chain, StackEnd::Unknown);
    }

    /// The stack that was found last, the leaf first.
    pub fn last(&self) -> UserStack<'_> {
        let (source, end) = self.last;
        let frames = match source {
            Source::Nowhere => &[],
            Source::Walk => &self.walked[..],
            Source::Chain => &self.chain,
        };
        UserStack { frames, end }
    }

    fn find(
        &mut self,
        thread: Tid,
        sample: &Sample<'_>,
        process: &mut Process,
        binaries: &Binaries,
        options: &StackOptions,
    ) -> (Source, StackEnd) {
        if options.call_graph == CallGraph::None {
            self.chain.clear();
            self.chain.extend(sample.callchain.frames_of(Context::User).take(1));
            return (Source::Chain, StackEnd::NotRecorded);
        }
        if let (Some(end), None) = (sample.stack_end, sample.user) {
            self.chain.clear();
            self.chain.extend(sample.callchain.frames_of(Context::User));
            return (Source::Chain, end);
        }
        let in_kernel = sample.callchain.frames_of(Context::Kernel).next().is_some();
        if in_kernel && is_between_programs(sample, process) {
            return (Source::Nowhere, StackEnd::NoUserStack);
        }
        let user = sample.user.filter(|user| !user.registers.is_foreign);
        let walker = Walker { thread: thread.0, space: process.address_space };
        let walked = user.map(|user| self.walk(walker, &user, process, binaries, options.max_frames));
        if walked == Some(StackEnd::Bottom) {
            return (Source::Walk, StackEnd::Bottom);
        }
        if user.is_none()
            && let Some(registers) = sample.user.map(|user| user.registers)
            && sample.callchain.frames_of(Context::User).next().is_none()
        {
            // It cannot be walked here, but its leaf is known.
            self.chain.clear();
            self.chain.push(CodeAddress::InstructionPointer(Address(registers.ip)));
            return (Source::Chain, StackEnd::NoUnwindInfo);
        }
        let chain_end = self.follow_chain(sample.callchain, process, binaries, options);
        match (walked, chain_end) {
            (Some(end), None) => (Source::Walk, end),
            (None, Some(end)) => (Source::Chain, end),
            (None, None) if process.kernel_thread => (Source::Nowhere, StackEnd::Bottom),
            (None, None) => (Source::Nowhere, StackEnd::NoUserStack),
            (Some(end), Some(chain_end)) => self.join(end, chain_end),
        }
    }

    /// Both ways gave something and the walk did not reach the bottom. Where the outermost
    /// walked frame stands in the chain too, the chain knows its callers; otherwise the walk is
    /// what can be trusted, unless the chain is whole.
    fn join(&mut self, walk_end: StackEnd, chain_end: StackEnd) -> (Source, StackEnd) {
        if let Some(last) = self.walked.last() {
            let meeting = self.chain.iter().position(|frame| frame.raw() == last.raw());
            if let Some(callers) = meeting.and_then(|at| self.chain.get(at + 1..)).filter(|rest| !rest.is_empty()) {
                self.walked.extend_from_slice(callers);
                return (Source::Walk, chain_end);
            }
        }
        if chain_end == StackEnd::Bottom || self.walked.is_empty() {
            (Source::Chain, chain_end)
        } else {
            (Source::Walk, walk_end)
        }
    }

    fn walk(
        &mut self,
        walker: Walker,
        user: &UserState<'_>,
        process: &mut Process,
        binaries: &Binaries,
        limit: usize,
    ) -> StackEnd {
        self.walked.clear();
        let stop = self.unwinder.walk(walker, process.regions.unwind_space(binaries), user, limit, &mut self.walked);
        // A walk that reaches the bottom was right, whatever lies between.
        if self.first_functions.end(&mut self.walked, process, binaries) {
            return StackEnd::Bottom;
        }
        let cut = cut_at_what_is_no_code(&mut self.walked, process);
        match stop {
            // The memory of a process that is starting or ending cannot be read.
            _ if user.stack.is_empty() => StackEnd::NoUserStack,
            _ if cut => StackEnd::BadAddress,
            Stop::CopyTooShort => StackEnd::CopyTooShort,
            Stop::Limit => StackEnd::Limit,
            Stop::EndOfStack | Stop::Astray => StackEnd::NoUnwindInfo,
        }
    }

    /// `None` where the sample has no user part.
    fn follow_chain(
        &mut self,
        callchain: Callchain<'_>,
        process: &Process,
        binaries: &Binaries,
        options: &StackOptions,
    ) -> Option<StackEnd> {
        self.chain.clear();
        self.chain.extend(callchain.frames_of(Context::User));
        if self.chain.is_empty() {
            return None;
        }
        let cut = cut_at_what_is_no_code(&mut self.chain, process);
        let whole = self.first_functions.end(&mut self.chain, process, binaries);
        let too_many = self.chain.len() > options.max_frames;
        self.chain.truncate(options.max_frames);
        Some(if whole && !too_many {
            StackEnd::Bottom
        } else if too_many || !cut && callchain.frames().count() >= options.kernel_limit {
            StackEnd::Limit
        } else {
            StackEnd::FramePointersEnd
        })
    }
}

/// Cuts a stack at its first caller that lies in no executable memory, and says whether there was
/// one. A walk that lost its way, or the kernel's where code without frame pointers keeps numbers
/// in the register, picks up what is no address; what it finds from there on is no caller, even if
/// it happens to be code again. The leaf is kept whatever it is: the CPU was there. Where nothing
/// is known of the process, everything is kept.
fn cut_at_what_is_no_code(frames: &mut Vec<CodeAddress>, process: &Process) -> bool {
    if !process.mappings_known {
        return false;
    }
    let is_no_code = |frame: &CodeAddress| process.regions.find(frame.lookup()).is_none();
    let Some(callers) = frames.iter().skip(1).position(is_no_code) else { return false };
    frames.truncate(1 + callers);
    true
}

/// Whether the process is inside execve(2): its memory is the new program's already, its
/// registers are still the old one's, so that it has no user stack.
fn is_between_programs(sample: &Sample<'_>, process: &Process) -> bool {
    let leaf = sample.user.map(|user| Address(user.registers.ip));
    let leaf = leaf.or_else(|| sample.callchain.frames_of(Context::User).next().map(CodeAddress::raw));
    process.mappings_known && leaf.is_some_and(|leaf| process.regions.find(leaf).is_none())
}

/// Which places lie in the first function of a thread. The files are asked once for each place:
/// that costs a few system calls, and all stacks of a program end in the same places.
#[derive(Default)]
struct FirstFunctions {
    known: FxHashMap<(BinaryId, u64), bool>,
}

impl FirstFunctions {
    /// Whether the frames, leaf first, reach the first function. What a walk found beyond it is
    /// no caller, and is taken off.
    fn end(&mut self, frames: &mut Vec<CodeAddress>, process: &Process, binaries: &Binaries) -> bool {
        // It is the last one in nearly all stacks.
        if frames.last().is_some_and(|last| self.has(*last, process, binaries)) {
            return true;
        }
        let first = frames.iter().position(|frame| self.has(*frame, process, binaries));
        frames.truncate(first.map_or(frames.len(), |first| first + 1));
        first.is_some()
    }

    fn has(&mut self, frame: CodeAddress, process: &Process, binaries: &Binaries) -> bool {
        let address = frame.lookup();
        let Some(region) = process.regions.find(address) else { return false };
        let Code::Binary(id) = region.code else { return false };
        let offset = region.offset_of(address);
        *self.known.entry((id, offset.0)).or_insert_with(|| {
            let Ok(contents) = &binaries[id].contents else { return false };
            contents.image.address_of(offset).is_some_and(|address| contents.is_first_function(address))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Processes;
    use crate::regions::Region;
    use model::{Detail, FileOffset, Pid, Profile};

    /// What is left of the frames in a process whose code lies at 0x1000..0x2000.
    fn cut(frames: &[u64], mappings_known: bool) -> (usize, bool) {
        let (mut processes, mut profile) = (Processes::default(), Profile::new(Detail::Timeline));
        let process = processes.process(Pid(1), &mut profile);
        let region = Region { start: 0x1000, end: 0x2000, offset: FileOffset(0), code: Code::Generated };
        process.regions.insert(region, &Binaries::default());
        process.mappings_known = mappings_known;
        let mut frames: Vec<_> = frames.iter().map(|&frame| CodeAddress::ReturnAddress(Address(frame))).collect();
        let was_cut = cut_at_what_is_no_code(&mut frames, process);
        (frames.len(), was_cut)
    }

    #[test]
    fn a_stack_is_cut_at_its_first_caller_that_is_no_code() {
        assert_eq!(cut(&[0x1100, 0x1200, 0x1300], true), (3, false));
        assert_eq!(cut(&[0x1100, 0x1200, 0x9000, 0x1300], true), (2, true));
        assert_eq!(cut(&[0x1100, 0x1200, 0x9000], true), (2, true));
    }

    #[test]
    fn the_leaf_is_kept_and_what_is_not_known_is_not_judged() {
        assert_eq!(cut(&[0x9000, 0x1200], true), (2, false));
        assert_eq!(cut(&[0x9000, 0x9000], true), (1, true));
        assert_eq!(cut(&[0x1100, 0x9000, 0x1300], false), (3, false));
        assert_eq!(cut(&[], true), (0, false));
    }
}
