//! The counter values inside a sample (`PERF_SAMPLE_READ`): those of a whole group where the
//! sampled event leads one. `struct read_format` of perf_event_open(2).

use crate::fields::Fields;
use crate::record::{Layout, until_read};
use perf_event_open_sys::bindings as sys;

/// The value of one counter when the sample was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadValue {
    /// How much the counter has counted since it was opened.
    pub value: u64,
    /// The counter's id.
    pub id: u64,
}

/// The counters in a sample's record, header included: the group's, or the one. `None` where the
/// sample holds none with ids, or is damaged.
pub fn read_values<'a>(record: &'a [u64], layout: &Layout) -> Option<impl ExactSizeIterator<Item = ReadValue> + 'a> {
    let format = layout.read_format;
    if !layout.has(sys::PERF_SAMPLE_READ) || !has(format, sys::PERF_FORMAT_ID) {
        return None;
    }
    let mut fields = Fields { rest: record.get(1..)? };
    until_read(&mut fields, layout)?;
    let (times, each) = sizes(format);
    // The times stand before a group's members, and between the value and the id of a single one.
    let (values, each, id) = if has(format, sys::PERF_FORMAT_GROUP) {
        let members = fields.word()?;
        fields.words(times)?;
        (fields.words(members.checked_mul(each)?)?, each, 1)
    } else {
        (fields.words(times + each)?, times + each, 1 + times)
    };
    let value_of = move |member: &[u64]| ReadValue { value: member[0], id: member[id as usize] };
    Some(values.chunks_exact(each as usize).map(value_of))
}

/// Passes over the values; see [`read_values`].
pub(crate) fn skip(fields: &mut Fields<'_>, format: u64) -> Option<()> {
    let (times, each) = sizes(format);
    if has(format, sys::PERF_FORMAT_GROUP) {
        let members = fields.word()?;
        fields.words(times.checked_add(members.checked_mul(each)?)?)?;
    } else {
        fields.words(times + each)?;
    }
    Some(())
}

/// The words of the times, and those of each value.
fn sizes(format: u64) -> (u64, u64) {
    let present = |bit| u64::from(has(format, bit));
    let times = present(sys::PERF_FORMAT_TOTAL_TIME_ENABLED) + present(sys::PERF_FORMAT_TOTAL_TIME_RUNNING);
    (times, 1 + present(sys::PERF_FORMAT_ID) + present(sys::PERF_FORMAT_LOST))
}

fn has(format: u64, bit: sys::perf_event_read_format) -> bool {
    format & u64::from(bit) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_gives_each_member_with_its_id() {
        let layout = Layout {
            sample_type: u64::from(sys::PERF_SAMPLE_IDENTIFIER | sys::PERF_SAMPLE_IP | sys::PERF_SAMPLE_READ),
            read_format: u64::from(sys::PERF_FORMAT_GROUP | sys::PERF_FORMAT_ID | sys::PERF_FORMAT_TOTAL_TIME_RUNNING),
            ..Layout::default()
        };
        let record = [0, 7, 0x10, 2, 99, 1000, 7, 20, 8];
        let values: Vec<_> = read_values(&record, &layout).unwrap().collect();
        assert_eq!(values, [ReadValue { value: 1000, id: 7 }, ReadValue { value: 20, id: 8 }]);
        for len in 0..record.len() {
            assert!(read_values(&record[..len], &layout).is_none(), "{len}");
        }
        let with_time = sys::PERF_FORMAT_ID | sys::PERF_FORMAT_TOTAL_TIME_ENABLED;
        let alone = Layout { read_format: u64::from(with_time), ..layout };
        let values: Vec<_> = read_values(&[0, 7, 0x10, 1000, 99, 7], &alone).unwrap().collect();
        assert_eq!(values, [ReadValue { value: 1000, id: 7 }]);
        assert!(read_values(&record, &Layout { read_format: 0, ..layout }).is_none());
    }
}
