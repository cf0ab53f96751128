//! perf_event_open(2): attributes, event names, mmap rings, records.
