//! Symbols of any tool: each has a readable form, and none grows without bounds.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// What a demangled path may take, and each suffix with its words around it.
const LONGEST: usize = 64 << 10;

fuzz_target!(|bytes: &[u8]| {
    let Ok(name) = std::str::from_utf8(bytes) else { return };
    let readable = symbols::demangle(name);
    assert!(readable.len() <= LONGEST + 16 * (name.len() + 4), "{} bytes for {name:?}", readable.len());
    if !name.starts_with("_R") && !name.starts_with("_Z") {
        assert_eq!(readable, name);
    }
    symbols::without_parameters(name);
});
