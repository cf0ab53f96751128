//! The walk from a sample's registers down its copied stack.

use crate::last_walks::{LastWalks, Read, Step, Walker};
use crate::{AddressSpace, frame_kinds, leaf};
use framehop::{CacheNative, Error, FrameAddress, UnwindRegsNative, Unwinder as _};
use model::{Address, CodeAddress, UserRegisters, UserState};

/// Why a walk ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The tables, or a return address or frame pointer of 0, say that there is no caller.
    EndOfStack,
    /// The walk left the copied bytes, and there was more stack than was copied.
    CopyTooShort,
    /// The walk left the stack itself, or went in a circle: what it followed was no frame.
    Astray,
    /// So many frames were found as were wanted at most.
    Limit,
}

/// Walks stacks. Keeps a cache of what it learnt of addresses, for all processes.
pub struct Unwinder {
    cache: CacheNative<framehop::MayAllocateDuringUnwind>,
    last: LastWalks,
    /// What this walk does, to be remembered.
    steps: Vec<Step>,
    reads: Vec<Read>,
}

impl Default for Unwinder {
    fn default() -> Self {
        Self { cache: CacheNative::new(), last: LastWalks::default(), steps: Vec::new(), reads: Vec::new() }
    }
}

impl Unwinder {
    /// Appends the user frames of a sample to `frames`, the leaf first, at most `limit` of them.
    pub fn walk(
        &mut self,
        walker: Walker,
        space: &AddressSpace,
        user: &UserState<'_>,
        limit: usize,
        frames: &mut Vec<CodeAddress>,
    ) -> Stop {
        let stack = Stack { start: user.registers.sp, bytes: user.stack };
        let (mut steps, mut reads) = (std::mem::take(&mut self.steps), std::mem::take(&mut self.reads));
        steps.clear();
        reads.clear();
        let mut registers = registers(&user.registers);
        let mut at = FrameAddress::InstructionPointer(user.registers.ip);
        let (mut meeting, mut passed) = (None, 0);
        let mut stop = Stop::Limit;
        for left in (1..=limit).rev() {
            meeting = self.last.meet(walker, at, &registers, |address| stack.word(address), &mut passed);
            if let Some(meeting) = meeting {
                let before = frames.len();
                frames.extend(self.last.callers(walker, meeting).take(left + 1));
                stop = if frames.len() - before > left { Stop::Limit } else { Stop::EndOfStack };
                frames.truncate(before + left);
                break;
            }
            let in_trampoline = at.is_return_address() && space.is_signal_frame(at.address());
            let frame = match at {
                // Nobody called the trampoline: its address is not that behind a call.
                FrameAddress::ReturnAddress(address) if !in_trampoline => {
                    CodeAddress::ReturnAddress(Address(address.get()))
                }
                at => CodeAddress::InstructionPointer(Address(at.address())),
            };
            frames.push(frame);
            steps.push(Step { at, registers, frame, reads_before: reads.len() as u32 });
            let mut read = |address| {
                let value = stack.word(address).ok_or(())?;
                reads.push((address, value));
                Ok(value)
            };
            let next = if in_trampoline {
                frame_kinds::leave(&mut registers, &mut read)
                    .map(|ip| Some(FrameAddress::InstructionPointer(ip)))
                    .map_err(Error::CouldNotReadStack)
            } else {
                let caller = self.caller(space, at, &mut registers, &mut read);
                caller.map(|address| address.and_then(FrameAddress::from_return_address))
            };
            stop = match next {
                Ok(Some(next)) => {
                    at = next;
                    continue;
                }
                Ok(None) | Err(Error::ReturnAddressIsNull) => Stop::EndOfStack,
                Err(Error::CouldNotReadStack(address)) => {
                    // Where fewer bytes came than were asked for, the stack ended within them.
                    let had_more = user.stack.len() >= user.stack_limit;
                    if had_more && address >= stack.end() { Stop::CopyTooShort } else { Stop::Astray }
                }
                Err(_) => Stop::Astray,
            };
            break;
        }
        // What ended for want of bytes may go on where more are copied.
        match stop {
            Stop::EndOfStack => self.last.remember(walker, &steps, &reads, meeting),
            _ => self.last.forget(walker),
        }
        (self.steps, self.reads) = (steps, reads);
        stop
    }

    /// The return address into the caller of the code at `at`, to which the registers are taken.
    fn caller(
        &mut self,
        space: &AddressSpace,
        at: FrameAddress,
        registers: &mut UnwindRegsNative,
        read: &mut impl FnMut(u64) -> Result<u64, ()>,
    ) -> Result<Option<u64>, Error> {
        let mut at = at;
        // AArch64 has the return address of a leaf in a register, which framehop goes by.
        if cfg!(target_arch = "x86_64") && !at.is_return_address() && !space.has_table_for(at.address()) {
            if let Some(caller) = leaf::leave_without_frame(registers, |address| space.is_code(address), read) {
                return Ok(Some(caller));
            }
            // framehop takes the word at the stack pointer for the caller of a leaf in a gap of a
            // table. As a return address the same place is walked by its frame pointer.
            at = FrameAddress::from_return_address(at.address().wrapping_add(1)).unwrap_or(at);
        }
        space.inner.unwind_frame(at, registers, &mut self.cache, read)
    }
}

/// The copied bytes, at the addresses that they came from.
struct Stack<'a> {
    start: u64,
    bytes: &'a [u8],
}

impl Stack<'_> {
    fn end(&self) -> u64 {
        // A word that is cut by the end counts as beyond it.
        self.start.saturating_add((self.bytes.len() as u64).saturating_sub(7))
    }

    fn word(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.start)?).ok()?;
        let bytes = self.bytes.get(at..at.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }
}

#[cfg(target_arch = "x86_64")]
fn registers(user: &UserRegisters) -> UnwindRegsNative {
    UnwindRegsNative::new(user.ip, user.sp, user.fp)
}

#[cfg(target_arch = "aarch64")]
fn registers(user: &UserRegisters) -> UnwindRegsNative {
    UnwindRegsNative::new(user.lr, user.sp, user.fp)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(stack: &[u8], fp: u64, limit: usize) -> UserState<'_> {
        UserState {
            registers: UserRegisters { ip: 0x1000, sp: 0x7000, fp, lr: 0, is_foreign: false },
            stack,
            stack_limit: limit,
        }
    }

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    const WALKER: Walker = Walker { thread: 1, space: 1 };

    fn walk(user: &UserState<'_>, limit: usize) -> (Vec<u64>, Stop) {
        let mut frames = Vec::new();
        let stop = Unwinder::default().walk(WALKER, &AddressSpace::default(), user, limit, &mut frames);
        (frames.iter().map(|frame| frame.raw().0).collect(), stop)
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn code_without_tables_is_walked_by_frame_pointers() {
        let stack = bytes(&[0x7010, 0x2000, 0, 0x3000]);
        assert_eq!(walk(&state(&stack, 0x7000, 64), 10), (vec![0x1000, 0x2000, 0x3000], Stop::EndOfStack));
        assert_eq!(walk(&state(&stack, 0x7000, 64), 2), (vec![0x1000, 0x2000], Stop::Limit));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_stack_that_was_cut_is_told_from_one_that_is_wrong() {
        let stack = bytes(&[0x7800, 0x2000]);
        assert_eq!(walk(&state(&stack, 0x7000, 16), 10), (vec![0x1000, 0x2000], Stop::CopyTooShort));
        // All of the stack was copied, so an address beyond it is no frame of it.
        assert_eq!(walk(&state(&stack, 0x7000, 8192), 10), (vec![0x1000, 0x2000], Stop::Astray));
        let backwards = bytes(&[0x10, 0x2000]);
        assert_eq!(walk(&state(&backwards, 0x7000, 16), 10).1, Stop::Astray);
    }

    /// The leaf is at 0x1000, its callers' code behind.
    #[cfg(target_arch = "x86_64")]
    fn walk_without_tables(stack: &[u64], fp: u64) -> (Vec<u64>, Stop) {
        let mut space = AddressSpace::default();
        space.map_without_tables(0x1000..0x5000);
        let (stack, mut frames) = (bytes(stack), Vec::new());
        let stop = Unwinder::default().walk(WALKER, &space, &state(&stack, fp, 64), 10, &mut frames);
        (frames.iter().map(|frame| frame.raw().0).collect(), stop)
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_leaf_without_a_table_is_left_by_where_code_lies_on_the_stack() {
        let whole = (vec![0x1000, 0x2000, 0x3000], Stop::EndOfStack);
        // No frame yet; `push rbp` done; frame set up, with a spilled value on top.
        assert_eq!(walk_without_tables(&[0x2000, 9, 0, 0x3000], 0x7010), whole);
        assert_eq!(walk_without_tables(&[0x7018, 0x2000, 9, 0, 0x3000], 0x7018), whole);
        assert_eq!(walk_without_tables(&[9, 0x7018, 0x2000, 0, 0x3000], 0x7008), whole);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_caller_without_a_table_is_walked_by_its_frame_pointer() {
        // What lies on top of the caller's frame looks like code.
        let stack = [0x2000, 0x4000, 0, 0x3000];
        assert_eq!(walk_without_tables(&stack, 0x7010), (vec![0x1000, 0x2000, 0x3000], Stop::EndOfStack));
    }

    /// A stack of frames that keep frame pointers, from 0x7000 on; `values` are return addresses.
    #[cfg(target_arch = "x86_64")]
    fn framed(values: &[u64]) -> Vec<u8> {
        let last = values.len() - 1;
        let next = |index: usize| if index == last { 0 } else { 0x7000 + 16 * (index as u64 + 1) };
        bytes(&values.iter().enumerate().flat_map(|(index, value)| [next(index), *value]).collect::<Vec<_>>())
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_walk_that_takes_callers_over_finds_what_one_from_scratch_does() {
        let mut unwinder = Unwinder::default();
        let space = AddressSpace::default();
        let stacks = [
            framed(&[0x2000, 0x3000, 0x4000, 0x5000]),
            // The same; another caller far out; another near the leaf; a shorter one; the first again.
            framed(&[0x2000, 0x3000, 0x4000, 0x5000]),
            framed(&[0x2000, 0x3000, 0x4000, 0x5001]),
            framed(&[0x2001, 0x3000, 0x4000, 0x5001]),
            framed(&[0x2001, 0x3000]),
            framed(&[0x2000, 0x3000, 0x4000, 0x5000]),
        ];
        for limit in [10, 3, 10] {
            for stack in &stacks {
                for fp in [0x7000, 0x7010] {
                    let user = state(stack, fp, 4096);
                    let mut frames = Vec::new();
                    let stop = unwinder.walk(WALKER, &space, &user, limit, &mut frames);
                    let found: Vec<u64> = frames.iter().map(|frame| frame.raw().0).collect();
                    assert_eq!((found, stop), walk(&user, limit));
                }
            }
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn another_thread_or_other_mappings_take_nothing_over() {
        let mut unwinder = Unwinder::default();
        let stack = framed(&[0x2000, 0x3000]);
        let user = state(&stack, 0x7000, 4096);
        let mut frames = Vec::new();
        unwinder.walk(WALKER, &AddressSpace::default(), &user, 10, &mut frames);
        for other in [Walker { thread: 2, ..WALKER }, Walker { space: 2, ..WALKER }] {
            let at = FrameAddress::InstructionPointer(0x1000);
            assert!(unwinder.last.meet(other, at, &registers(&user.registers), |_| None, &mut 0).is_none());
        }
    }

    #[test]
    fn no_stack_is_the_leaf_alone() {
        let (frames, stop) = walk(&state(&[], 0x7000, 8192), 10);
        assert_eq!(frames[0], 0x1000);
        assert_eq!(stop, Stop::Astray);
    }
}
