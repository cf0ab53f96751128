//! What stands after `-e`, on a machine without pmus and tracepoints: events, or an error that
//! can be told.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf::events::{self, Roots, Tracing};

fuzz_target!(|bytes: &[u8]| {
    let Ok(list) = std::str::from_utf8(bytes) else { return };
    let roots = Roots { sys: "/nonexistent".into(), tracing: Tracing::NotMounted };
    match events::parse(list, &roots) {
        Ok(specs) => assert!(specs.iter().all(|spec| !spec.name.is_empty())),
        Err(error) => {
            assert!((1..=list.chars().count() + 1).contains(&error.position));
            assert!(!error.to_string().is_empty());
        }
    }
});
