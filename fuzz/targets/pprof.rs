//! Profiles of pprof. What was read is written again, event by event, and reads back to the same sums.
#![no_main]

use formats::{Decoded, ErrorKind, pprof};
use libfuzzer_sys::fuzz_target;
use model::EventId;
use model::id::Id as _;

fuzz_target!(|bytes: &[u8]| {
    (pprof::FORMAT.sniff)(bytes);
    let Ok(Decoded { profile, .. }) = pprof::decode(bytes) else { return };
    for event in (0..profile.events.len().min(3)).map(EventId::from_index) {
        let mut written = Vec::new();
        match pprof::encode(&profile, event, &mut written) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::OutOfRange => continue,
            Err(error) => panic!("memory takes all that is written: {error}"),
        }
        let again = pprof::decode(&written).expect("what flamel writes is read").profile;
        assert_eq!(again.totals(EventId::from_index(0)).weight, profile.totals(event).weight);
        assert!((pprof::FORMAT.sniff)(&written));
    }
});
