//! Events to a profile: tasks and mappings as of each event, unwinding, names.
