//! What every source yields, live or from a file. An event borrows from its reader's buffer;
//! whoever keeps something copies it.

use crate::{Address, BuildId, Callchain, CodeAddress, Cpu, EventId, FileOffset, StackEnd, TaskIds, Time};

/// One thing that happened, and to whom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event<'a> {
    /// When; `None` for what was counted in the kernel over a while.
    pub time: Option<Time>,
    /// On which CPU, where the source says.
    pub cpu: Option<Cpu>,
    /// The thread that it concerns; for [`Body::Fork`] the new one.
    pub task: TaskIds,
    /// What happened.
    pub body: Body<'a>,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Body<'a> {
    /// A sample was taken.
    Sample(Sample<'a>),
    /// A file or anonymous region became executable memory of the process.
    Mapping(Mapping<'a>),
    /// The thread has this name from now on.
    Name(&'a [u8]),
    /// The process replaced its program: its mappings are gone, and this is its name.
    Exec(&'a [u8]),
    /// The task was created by `parent`; a thread where both have the same pid.
    Fork {
        /// Who called fork(2) or clone(2).
        parent: TaskIds,
    },
    /// The thread ended.
    Exit,
    /// Records did not fit into the buffer.
    Lost(Lost),
    /// The kernel began or ended to hold back an event that fired too often.
    Throttle(Throttle),
}

/// A sample: where an event found a thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'a> {
    /// Which event fired, an index into the source's list.
    pub event: EventId,
    /// The weight: how much of the event this sample stands for, in the event's unit.
    pub period: u64,
    /// How many samples this is: 1, or more where the kernel counted.
    pub count: u64,
    /// The callchain; empty where none was asked for.
    pub callchain: Callchain<'a>,
    /// Registers and stack bytes of user space, to be unwound.
    pub user: Option<UserState<'a>>,
    /// The latest branches, newest first; empty where none were asked for.
    pub branches: BranchStack<'a>,
    /// The address of the data that was touched.
    pub data_address: Option<Address>,
    /// What the event says beyond that, as the kernel laid it out (`PERF_SAMPLE_RAW`): a tracepoint's
    /// fields. Empty where none was asked for.
    pub raw: &'a [u8],
    /// Why the callchain's user part ends where it does, where the source has found that out.
    pub stack_end: Option<StackEnd>,
}

/// The user's part of a stack, as it was found.
#[derive(Clone, Copy, Debug)]
pub struct UserStack<'a> {
    /// Its addresses, the leaf first.
    pub frames: &'a [CodeAddress],
    /// Why it has no further callers.
    pub end: StackEnd,
}

/// What an unwinder starts from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UserState<'a> {
    /// The registers when the thread was last in user space.
    pub registers: UserRegisters,
    /// The bytes from the stack pointer upwards; fewer than asked for near the stack's end.
    pub stack: &'a [u8],
    /// How many bytes were asked for. Where [`Self::stack`] is as long, there may have been more.
    pub stack_limit: usize,
}

/// The registers that unwinding starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct UserRegisters {
    /// Instruction pointer (x86-64 `rip`, AArch64 `pc`).
    pub ip: u64,
    /// Stack pointer.
    pub sp: u64,
    /// Frame pointer (x86-64 `rbp`, AArch64 `x29`).
    pub fp: u64,
    /// Link register (AArch64 `x30`); 0 where the machine has none.
    pub lr: u64,
    /// Whether they are of code that this machine's rules do not fit: a 32-bit process's, or another
    /// architecture's.
    pub is_foreign: bool,
}

/// The branches before a sample, newest first, as the kernel laid them out: three words each.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct BranchStack<'a> {
    words: &'a [u64],
}

impl<'a> BranchStack<'a> {
    /// The branches of these words, a multiple of three (`struct perf_branch_entry`).
    pub const fn new(words: &'a [u64]) -> Self {
        Self { words }
    }
    /// The words as the source gave them.
    pub const fn words(self) -> &'a [u64] {
        self.words
    }
    /// The branches, newest first.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Branch> + 'a {
        self.words.chunks_exact(3).map(|entry| Branch {
            from: Address(entry[0]),
            to: Address(entry[1]),
            flags: entry[2],
        })
    }
}

/// One entry of a branch stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The branch instruction.
    pub from: Address,
    /// Its target.
    pub to: Address,
    /// The flags of `struct perf_branch_entry`, as the kernel gave them.
    pub flags: u64,
}

/// Part of a process's address space that holds code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mapping<'a> {
    /// Its first address.
    pub start: Address,
    /// Its length in bytes.
    pub len: u64,
    /// The file's offset at [`Self::start`].
    pub offset: FileOffset,
    /// Which file it is.
    pub identity: FileIdentity,
    /// The path, or the kernel's name in brackets (`[vdso]`, `//anon`).
    pub path: &'a [u8],
    /// Whether it is mapped into the kernel rather than into the process.
    pub kernel: bool,
}

/// How a mapped file is told from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileIdentity {
    /// By where it lies.
    Inode(Inode),
    /// By its contents.
    BuildId(BuildId),
    /// Not at all: anonymous memory, or the source does not say.
    Unknown,
}

/// A file's place on a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inode {
    /// The device's major number.
    pub major: u32,
    /// The device's minor number.
    pub minor: u32,
    /// The inode's number.
    pub number: u64,
    /// The inode's generation, 0 where it is not known.
    pub generation: u64,
}

/// Which records a source could not deliver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LostRecords {
    /// Samples.
    Samples,
    /// Mappings, names, forks and the like.
    SideBand,
    /// Of any kind: they shared one ring.
    Any,
}

/// Records that a source could not deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// How many.
    pub count: u64,
    /// Which.
    pub of: LostRecords,
}

/// The kernel's brake on an event, `PERF_RECORD_THROTTLE` and `PERF_RECORD_UNTHROTTLE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttle {
    /// The event that is held back, where the source knows it.
    pub event: Option<EventId>,
    /// True when it begins, false when it ends.
    pub begins: bool,
}
