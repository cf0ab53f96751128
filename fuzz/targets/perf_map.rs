//! Maps of generated code: whatever the lines say, each name that is found is one of theirs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::Address;
use symbols::{PerfMap, Tail};

fuzz_target!(|bytes: &[u8]| {
    let words = bytes.split(|byte| byte.is_ascii_whitespace());
    let numbers: Vec<u64> = words
        .filter_map(|word| u64::from_str_radix(std::str::from_utf8(word).ok()?.trim_start_matches("0x"), 16).ok())
        .take(64)
        .collect();
    let text = model::text::from_bytes(bytes);
    for tail in [Tail::MayGrow, Tail::Final] {
        let map = PerfMap::parse(bytes.to_vec(), tail);
        for &number in &numbers {
            for address in [number, number.wrapping_add(1), number.wrapping_sub(1)] {
                if let Some(code) = map.find(Address(address)) {
                    assert!(!map.is_empty() && text.contains(&*code.name), "{code:?}");
                }
            }
        }
    }
});
