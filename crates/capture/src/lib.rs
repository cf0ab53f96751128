//! A live run: target, sampling, stop, events.
