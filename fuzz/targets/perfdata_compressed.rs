//! The records inside a compressed recording: the input is compressed as it is, and begins after the
//! attribute of one event.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfdata::{Input, Reader};

/// A pipe's header and `PERF_RECORD_HEADER_ATTR`: cpu-clock, with id, address, task, time, period and
/// callchain, and `sample_id_all`.
fn front() -> Vec<u8> {
    let mut words = vec![u64::from_le_bytes(*b"PERFILE2"), 16, 64 | (8 + 72) << 48];
    words.extend([1 | 64 << 32, 0, 1_000_000, 0x1_0127, 0, 1 << 18, 0, 0, 7]);
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

fuzz_target!(|bytes: &[u8]| {
    const COMPRESSED: u64 = 81;
    let Ok(packed) = zstd::bulk::compress(bytes, 1) else { return };
    let mut recording = front();
    // Records of the stream are cut without regard to what they hold.
    for piece in packed.chunks(97) {
        recording.extend((COMPRESSED | (8 + piece.len() as u64) << 48).to_le_bytes());
        recording.extend_from_slice(piece);
    }
    let mut reader = Reader::open(Input::Bytes(recording)).expect("the front is sound");
    assert_eq!(reader.events().len(), 1);
    let mut last = 0;
    let outcome = reader.read(|event| last = event.time.map_or(last, model::Time::as_ns)).expect("bytes can be read");
    assert!(outcome.damage.is_none_or(|damage| damage.offset > 16));
});
