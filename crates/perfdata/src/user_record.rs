//! The records that perf itself writes between the kernel's: `enum perf_user_event_type` in the
//! kernel's tools/lib/perf/include/perf/event.h.

/// Kinds from here on are perf's own.
pub(crate) const FIRST: u32 = 64;
pub(crate) const HEADER_ATTR: u32 = 64;
/// Names of tracepoints, until Linux 3.10.
pub(crate) const HEADER_EVENT_TYPE: u32 = 65;
/// As many bytes as it states follow it, filled up to whole words.
pub(crate) const HEADER_TRACING_DATA: u32 = 66;
pub(crate) const HEADER_BUILD_ID: u32 = 67;
pub(crate) const FINISHED_ROUND: u32 = 68;
/// As many bytes as it states follow it: a trace by Intel PT, ARM CoreSight and the like.
pub(crate) const AUXTRACE: u32 = 71;
pub(crate) const EVENT_UPDATE: u32 = 78;
pub(crate) const HEADER_FEATURE: u32 = 80;
pub(crate) const COMPRESSED: u32 = 81;
pub(crate) const FINISHED_INIT: u32 = 82;
pub(crate) const COMPRESSED2: u32 = 83;
/// The last kind that is known, `PERF_RECORD_SCHEDSTAT_DOMAIN`.
pub(crate) const LAST: u32 = 86;

/// What `EVENT_UPDATE` changes: the name.
pub(crate) const UPDATE_NAME: u64 = 2;
