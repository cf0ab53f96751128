//! The records by which perf tells of the run, in a pipe and where flamel writes: events and their
//! names, what a file has sections for, and the contents of files.

use crate::event_table::EventTable;
use crate::info::Info;
use crate::user_record as kind;
use crate::{attributes, build_ids, features};
use model::{Losses, SampleLoss, text};
use records::{ByteOrder, Header};

/// What is known of the run.
pub(crate) struct Run<'a> {
    pub(crate) info: &'a mut Info,
    pub(crate) table: &'a mut EventTable,
    pub(crate) losses: &'a mut Losses,
}

/// A record by which perf tells something of the run.
pub(crate) fn take(header: Header, body: &[u8], order: ByteOrder, run: Run<'_>) {
    let Run { info, table, losses } = run;
    let string = |at: usize| text::from_bytes(text::until_nul(body.get(at..).unwrap_or_default())).into_owned();
    match header.kind {
        kind::HEADER_ATTR => {
            if !attributes::of_record(body, order).is_some_and(|event| table.add(event)) {
                losses.add(SampleLoss::Damaged, 1);
            }
        }
        kind::HEADER_EVENT_TYPE => {
            if let Some(config) = order.u64_at(body, 0) {
                table.set_name_of_tracepoint(config, string(8));
            }
        }
        kind::HEADER_BUILD_ID => {
            info.build_ids.extend(build_ids::of_record(header.misc, body));
        }
        kind::EVENT_UPDATE => {
            if let (Some(kind::UPDATE_NAME), Some(id)) = (order.u64_at(body, 0), order.u64_at(body, 8)) {
                table.set_name_of_id(id, string(16));
            }
        }
        kind::HEADER_FEATURE => {
            let feature = order.u64_at(body, 0).and_then(|feature| usize::try_from(feature).ok());
            if let Some(feature) = feature {
                features::one(feature, body.get(8..).unwrap_or_default(), order, info, table);
            }
        }
        kind::FINISHED_INIT => {}
        known if known <= kind::LAST => {}
        _ => losses.add(SampleLoss::UnknownRecord, 1),
    }
}
