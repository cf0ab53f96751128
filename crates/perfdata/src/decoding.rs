//! Decodes the records that are next in time and gives out what they tell: mostly one event each.

use crate::event_table::EventTable;
use crate::group_values::GroupValues;
use crate::off_cpu;
use model::{Body, Event, Losses, Lost, SampleLoss, Time};
use records::{ByteOrder, Decoded, decode};

/// What was counted over a while, such as blocked time until Linux 6.14, perf stamps from here on, so
/// that it is sorted behind everything else (`OFF_CPU_TIMESTAMP`).
pub(crate) const NO_MOMENT: u64 = u64::MAX << 32;

/// What decoding goes on from, record by record.
pub(crate) struct Decoding {
    order: ByteOrder,
    values: GroupValues,
    /// Room for callchains that are not aligned.
    chain: Vec<u64>,
    /// What could not be used.
    pub(crate) losses: Losses,
}

impl Decoding {
    pub(crate) fn new(order: ByteOrder) -> Self {
        Self { order, values: GroupValues::default(), chain: Vec::new(), losses: Losses::default() }
    }

    /// Decodes a record and gives out what it tells.
    pub(crate) fn give_out(&mut self, record: &[u64], table: &EventTable, sink: &mut dyn FnMut(&Event<'_>)) {
        let Some(layout) = table.layout_of(record) else { return self.losses.add(SampleLoss::UnknownRecord, 1) };
        let mut event = match decode(record, layout, |id| table.event_of(id)) {
            Decoded::Event(event) => event,
            Decoded::Ignored => return,
            Decoded::Unknown => return self.losses.add(SampleLoss::UnknownRecord, 1),
            Decoded::Damaged => return self.losses.add(SampleLoss::Damaged, 1),
        };
        event.time = event.time.filter(is_moment);
        match event.body {
            Body::Sample(outer) if table.is_off_cpu(outer.event) => {
                return match off_cpu::sample(self.order, &event, &outer, &mut self.chain) {
                    Some(inner) => sink(&inner),
                    None => self.losses.add(SampleLoss::Damaged, 1),
                };
            }
            Body::Sample(_) if self.values.split(record, layout, &event, table, &mut self.losses, sink) => return,
            Body::Lost(lost) if is_lost_of_id(record) => {
                event.body = Body::Lost(Lost { of: table.lost_of(record[1]), ..lost });
            }
            _ => {}
        }
        sink(&event);
    }
}

/// What perf made up itself, such as the mappings that were there before, has 0 or all bits for a
/// time.
fn is_moment(time: &Time) -> bool {
    (1..NO_MOMENT).contains(&time.as_ns())
}

/// Whether a record is `PERF_RECORD_LOST`, which begins with an id, not `PERF_RECORD_LOST_SAMPLES`.
fn is_lost_of_id(record: &[u64]) -> bool {
    const LOST: u32 = 2;
    record.len() > 1 && records::Header::of(record[0]).kind == LOST
}
