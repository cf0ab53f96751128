//! The raw bytes inside a sample (`PERF_SAMPLE_RAW`): a tracepoint's fields, or what an eBPF program
//! put out.

use crate::fields::{Fields, halves};

/// Passes over the bytes and gives them. A 32-bit size stands before them, and both together fill
/// whole words.
pub(crate) fn take<'a>(fields: &mut Fields<'a>) -> Option<&'a [u8]> {
    let size = u64::from(halves(*fields.rest.first()?).0);
    let words = fields.words((SIZE as u64 + size).div_ceil(8))?;
    bytemuck::cast_slice(words).get(SIZE..SIZE + usize::try_from(size).ok()?)
}

/// Bytes of the size.
pub(crate) const SIZE: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stand_behind_their_size() {
        let [a, b, c, d] = 12u32.to_ne_bytes();
        let raw = [[a, b, c, d, 1, 2, 3, 4], [5, 6, 7, 8, 9, 10, 11, 12]].map(u64::from_ne_bytes);
        let mut fields = Fields { rest: &[raw[0], raw[1], 0x30] };
        assert_eq!(take(&mut fields), Some(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12][..]));
        assert_eq!(fields.rest, [0x30]);
        for len in 0..raw.len() {
            assert_eq!(take(&mut Fields { rest: &raw[..len] }), None, "{len}");
        }
    }
}
