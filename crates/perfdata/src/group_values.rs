//! Samples that hold the values of counters (`PERF_SAMPLE_READ`), such as those of a group of which
//! only the leader fires: each stands for a sample of every counter, whose weight is by how much it
//! has grown since its last one. perf reads them so, too.

use crate::event_table::EventTable;
use model::{Body, Event, Losses, SampleLoss, Tid};
use records::{Layout, flag, read_values};
use rustc_hash::FxHashMap;

/// The last value of each counter.
#[derive(Default)]
pub(crate) struct GroupValues {
    last: FxHashMap<(u64, Option<Tid>), u64>,
}

impl GroupValues {
    /// Gives out a sample for each counter that has grown. False where the record holds no values
    /// that could be told apart, and is a sample like others.
    pub(crate) fn split<'a>(
        &mut self,
        record: &'a [u64],
        layout: &Layout,
        event: &Event<'a>,
        table: &EventTable,
        losses: &mut Losses,
        sink: &mut dyn FnMut(&Event<'_>),
    ) -> bool {
        let Body::Sample(sample) = event.body else { return false };
        let Some(values) = read_values(record, layout) else { return false };
        for read in values {
            let Some(of) = table.event_of(read.id) else {
                losses.add(SampleLoss::UnknownRecord, 1);
                continue;
            };
            // A counter that is inherited has a value for each thread.
            let inherited =
                table.events.get(model::id::Id::index(of)).is_some_and(|of| of.attribute.has(flag::INHERIT));
            let key = (read.id, inherited.then_some(event.task.tid));
            let before = self.last.insert(key, read.value).unwrap_or(0);
            // A counter that has less than before was opened anew, for a thread that got the number of
            // one that has ended.
            let period = read.value.checked_sub(before).unwrap_or(read.value);
            if period > 0 {
                sink(&Event { body: Body::Sample(model::Sample { event: of, period, ..sample }), ..*event });
            }
        }
        true
    }
}
