//! Folded text. What was read is written again, and that must read back to the same stacks and sums.
#![no_main]

use formats::{Decoded, folded};
use libfuzzer_sys::fuzz_target;
use model::id::Id as _;
use model::{EventId, Profile};

fuzz_target!(|bytes: &[u8]| {
    let Ok(Decoded { profile, .. }) = folded::decode(bytes) else { return };
    let once = written(&profile);
    if once.is_empty() {
        return;
    }
    // Not by what it looks like, which is a guess that a few odd bytes may mislead.
    let again = folded::decode(&once).expect("what flamel writes is read").profile;
    assert_eq!(total(&profile), total(&again), "{}", String::from_utf8_lossy(&once));
    assert_eq!(once, written(&again), "{}", String::from_utf8_lossy(&once));
});

fn written(profile: &Profile) -> Vec<u8> {
    let mut text = Vec::new();
    folded::encode(profile, EventId::from_index(0), &mut text).expect("memory takes all that is written");
    text
}

/// The sum of all weights in the smallest decimal that any input is read with.
fn total(profile: &Profile) -> u128 {
    let missing = 18 - u32::from(profile.weight_scale);
    profile.totals(EventId::from_index(0)).weight * 10u128.pow(missing)
}
