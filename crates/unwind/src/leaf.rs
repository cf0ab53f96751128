//! The step from a leaf that no unwind table covers: generated code, node's builtins,
//! hand-written assembly.
//!
//! Such code keeps frame pointers or calls nobody, and can be stopped at any instruction. On
//! x86-64 its return address lies in one of three places:
//!
//! ```text
//!  no frame (yet, any more, or at all)   rsp -> return address
//!  `push rbp` done, rbp not yet moved    rsp -> rbp as it is | return address
//!  frame set up                          rsp -> anything       rbp -> caller's rbp | return address
//! ```
//!
//! The stack tells which it is. Without a frame the word at the stack pointer is always the address
//! of code; in a frame that is set up it is a spilled value and hardly ever is. Of 4,000 leaves that
//! had code there, in node and in Lua (gcc -O2 with frame pointers, judged by the tables that were
//! withheld), fewer than ten had their frame set up. The frame pointer is no witness against it: the
//! caller's frame looks as good as the leaf's own.

use framehop::UnwindRegsNative;

/// Goes to the caller of a leaf without a frame and returns the return address. `None`, with the
/// registers as they were, where the frame pointer is to be followed.
#[cfg(target_arch = "x86_64")]
pub(crate) fn leave_without_frame(
    registers: &mut UnwindRegsNative,
    is_code: impl Fn(u64) -> bool,
    read: &mut impl FnMut(u64) -> Result<u64, ()>,
) -> Option<u64> {
    let sp = registers.sp();
    let top = read(sp).ok()?;
    let (return_address, words) = if is_code(top) {
        (top, 1)
    } else if top == registers.bp() {
        (read(sp.checked_add(8)?).ok().filter(|&above| is_code(above))?, 2)
    } else {
        return None;
    };
    let caller_sp = sp.checked_add(8 * words)?;
    *registers = UnwindRegsNative::new(return_address, caller_sp, registers.bp());
    Some(return_address)
}

/// AArch64 has the return address in a register: nothing is to be looked for on the stack.
#[cfg(target_arch = "aarch64")]
pub(crate) fn leave_without_frame(
    _: &mut UnwindRegsNative,
    _: impl Fn(u64) -> bool,
    _: &mut impl FnMut(u64) -> Result<u64, ()>,
) -> Option<u64> {
    None
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    const CODE: std::ops::Range<u64> = 0x1000..0x2000;
    const FP: u64 = 0x7040;

    /// The return address, stack pointer and frame pointer of the caller.
    fn left(stack: [u64; 2]) -> Option<(u64, u64, u64)> {
        let mut registers = UnwindRegsNative::new(0x1100, 0x7000, FP);
        let mut read = |address: u64| stack.get((address - 0x7000) as usize / 8).copied().ok_or(());
        let found = leave_without_frame(&mut registers, |address| CODE.contains(&address), &mut read)?;
        assert_eq!(found, registers.ip());
        Some((found, registers.sp(), registers.bp()))
    }

    #[test]
    fn before_the_frame_is_set_up_the_top_word_is_the_return_address() {
        assert_eq!(left([0x1500, 0x1600]), Some((0x1500, 0x7008, FP)));
    }

    #[test]
    fn a_pushed_frame_pointer_lies_below_the_return_address() {
        assert_eq!(left([FP, 0x1600]), Some((0x1600, 0x7010, FP)));
        assert_eq!(left([FP, 0x9000]), None);
    }

    #[test]
    fn a_top_word_that_is_no_code_is_no_return_address() {
        assert_eq!(left([0x9000, 0x1600]), None);
        assert_eq!(left([0x2000, 0]), None);
    }
}
