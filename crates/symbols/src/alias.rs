//! Which of several symbols at one address names it. The choice is perf's, so that the two
//! tools' stacks can be compared: no weak symbol where there is another, a global one before a
//! local one, the fewest underscores in front, the longest name.

use elf::Binding;
use std::cmp::Reverse;

/// Orders symbols of one address; the smallest is the one to show.
pub(crate) fn rank(binding: Binding, name: &[u8]) -> impl Ord + use<'_> {
    let underscores = name.iter().take_while(|&&byte| byte == b'_').count();
    // The name itself decides last, so that the same file always gives the same answer.
    (binding == Binding::Weak, binding == Binding::Local, underscores, Reverse(name.len()), name)
}

#[cfg(test)]
mod tests {
    use super::rank;
    use elf::Binding::{Global, Local, Weak};

    #[test]
    fn the_choice_is_perfs() {
        for (better, worse) in [
            ((Global, "__write"), (Weak, "write")),
            ((Global, "__a"), (Local, "a")),
            ((Global, "malloc"), (Global, "__libc_malloc")),
            ((Global, "do_sys_open"), (Global, "do_sys")),
            ((Local, "abc"), (Local, "abd")),
        ] {
            assert!(rank(better.0, better.1.as_bytes()) < rank(worse.0, worse.1.as_bytes()), "{better:?} {worse:?}");
        }
    }
}
