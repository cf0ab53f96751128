//! /proc/kallsyms: whatever the lines say, each name that is found is one of theirs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::Address;
use symbols::KernelSymbols;

fuzz_target!(|bytes: &[u8]| {
    let Ok(symbols) = KernelSymbols::parse(bytes.to_vec()) else { return };
    for line in bytes.split(|&byte| byte == b'\n').take(64) {
        let digits = line.split(|&byte| byte == b' ').next().unwrap_or_default();
        let number = std::str::from_utf8(digits).ok().and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let number = number.unwrap_or(u64::MAX);
        for address in [number, number.wrapping_add(1), number.wrapping_sub(1)] {
            if let Some(found) = symbols.find(Address(address)) {
                let known = found.name.is_empty() || bytes.windows(found.name.len()).any(|part| part == found.name);
                assert!(known, "{found:?}");
            }
        }
    }
});
