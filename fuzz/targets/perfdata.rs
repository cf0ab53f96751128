//! A recording of perf, as a file in memory and as a pipe: both are read to their end or their damage,
//! twice with the same result.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::Body;
use perfdata::{Input, Reader};
use std::io::Cursor;

/// How many events there are, how many words their stacks have, and where it ends.
fn read(input: Input) -> Option<(u64, usize, Option<u64>)> {
    let mut reader = Reader::open(input).ok()?;
    let (mut count, mut words) = (0, 0usize);
    let known = reader.events().len();
    let outcome = reader.read(|event| {
        count += 1;
        if let Body::Sample(sample) = event.body {
            words = words.wrapping_add(sample.callchain.frames().count() + sample.branches.iter().count());
        }
    });
    assert!(reader.events().len() >= known);
    Some((count, words, outcome.expect("bytes in memory can be read").damage.map(|damage| damage.offset)))
}

fuzz_target!(|bytes: &[u8]| {
    let as_bytes = read(Input::Bytes(bytes.to_vec()));
    let as_pipe = read(Input::stream(Cursor::new(bytes.to_vec())));
    assert_eq!(as_bytes, as_pipe);
});
