//! Which of several symbols at one address names it. The choice is perf's, so that the two
//! tools' stacks can be compared: no weak symbol where there is another, a global one before a
//! local one, the fewest underscores in front, the longest name. One exception: a name that new
//! programs cannot link to any more is no name for what they call, as glibc's `cfree` is for `free`.

use elf::Binding;
use std::cmp::Reverse;

/// Whether new programs can link to a symbol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Age {
    /// They can, or versions do not tell.
    Current,
    /// Only programs that were linked long ago use it.
    Superseded,
}

/// Orders symbols of one address; the smallest is the one to show.
pub(crate) fn rank(binding: Binding, age: Age, name: &[u8]) -> impl Ord + use<'_> {
    let underscores = name.iter().take_while(|&&byte| byte == b'_').count();
    // The name itself decides last, so that the same file always gives the same answer.
    (binding == Binding::Weak, binding == Binding::Local, age, underscores, Reverse(name.len()), name)
}

#[cfg(test)]
mod tests {
    use super::Age::{Current, Superseded};
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
            let [better_rank, worse_rank] =
                [better, worse].map(|(binding, name)| rank(binding, Current, name.as_bytes()));
            assert!(better_rank < worse_rank, "{better:?} {worse:?}");
        }
    }

    #[test]
    fn what_new_programs_call_comes_first() {
        assert!(rank(Global, Current, b"free") < rank(Global, Superseded, b"cfree"));
        assert!(rank(Global, Superseded, b"cfree") < rank(Local, Current, b"__GI___libc_free"));
    }
}
