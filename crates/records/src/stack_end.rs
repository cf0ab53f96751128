//! Why a stack ends, in four bits of a sample's header that the kernel leaves at 0 and that perf
//! does not look at: bits 8 to 11 of `misc`. So a recording that flamel wrote keeps it at no cost.

use model::StackEnd;

const SHIFT: u32 = 8;
const MASK: u16 = 0xf << SHIFT;

/// The codes stand in files: new ones are added at the end.
const CODES: [StackEnd; 10] = [
    StackEnd::Bottom,
    StackEnd::Unknown,
    StackEnd::NotRecorded,
    StackEnd::UserExcluded,
    StackEnd::NoUserStack,
    StackEnd::FramePointersEnd,
    StackEnd::CopyTooShort,
    StackEnd::NoUnwindInfo,
    StackEnd::BadAddress,
    StackEnd::Limit,
];

/// The bits for `perf_event_header.misc`.
pub fn to_misc(end: StackEnd) -> u16 {
    // A reason without a code is not said.
    CODES.iter().position(|known| *known == end).map_or(0, |at| (at as u16 + 1) << SHIFT)
}

/// What these bits say; `None` where they say nothing, as in what the kernel or perf wrote.
pub fn of_misc(misc: u16) -> Option<StackEnd> {
    let code = usize::from((misc & MASK) >> SHIFT);
    CODES.get(code.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_goes_there_and_back() {
        for &end in StackEnd::ALL {
            assert_eq!(of_misc(to_misc(end) | 2), Some(end), "{end:?}");
        }
        assert_eq!(of_misc(2), None);
        assert_eq!(of_misc(0xf00), None);
    }
}
