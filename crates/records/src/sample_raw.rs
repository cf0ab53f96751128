//! The raw bytes inside a sample (`PERF_SAMPLE_RAW`): a tracepoint's fields, or what an eBPF program
//! put out.

use crate::fields::{Fields, halves};
use crate::record::{Layout, until_read};
use crate::sample_read;
use perf_event_open_sys::bindings as sys;

/// The raw bytes in a sample's record, header included, with what fills them up to whole words.
/// `None` where there are none, or the sample is damaged.
pub fn raw_bytes<'a>(record: &'a [u64], layout: &Layout) -> Option<&'a [u8]> {
    if !layout.has(sys::PERF_SAMPLE_RAW) {
        return None;
    }
    let mut fields = Fields { rest: record.get(1..)? };
    until_read(&mut fields, layout)?;
    if layout.has(sys::PERF_SAMPLE_READ) {
        sample_read::skip(&mut fields, layout.read_format)?;
    }
    if layout.has(sys::PERF_SAMPLE_CALLCHAIN) {
        let count = fields.word()?;
        fields.words(count)?;
    }
    take(&mut fields)
}

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
        let layout = Layout {
            sample_type: u64::from(sys::PERF_SAMPLE_IP | sys::PERF_SAMPLE_CALLCHAIN | sys::PERF_SAMPLE_RAW),
            ..Layout::default()
        };
        let [a, b, c, d] = 12u32.to_ne_bytes();
        let raw = [[a, b, c, d, 1, 2, 3, 4], [5, 6, 7, 8, 9, 10, 11, 12]].map(u64::from_ne_bytes);
        let record = [0, 0x10, 2, 0x20, 0x30, raw[0], raw[1]];
        assert_eq!(raw_bytes(&record, &layout), Some(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12][..]));
        for len in 0..record.len() {
            assert_eq!(raw_bytes(&record[..len], &layout), None, "{len}");
        }
        assert_eq!(raw_bytes(&record, &Layout { sample_type: 1, ..layout }), None);
    }
}
