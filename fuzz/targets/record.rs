//! Records of a perf ring under any layout: the first bytes are the attribute's fields, the others
//! are the record's words.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::id::Id as _;
use model::{Body, EventId};
use records::registers::{AARCH64, X86_64};
use records::{Decoded, Layout};

fuzz_target!(|bytes: &[u8]| {
    let mut words = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes each")));
    let mut field = || words.next().unwrap_or(0);
    let (sample_type, read_format, branch_sample_type) = (field(), field(), field());
    let (sample_regs_user, stack_and_machine) = (field(), field());
    let layout = Layout {
        sample_type,
        read_format,
        branch_sample_type,
        sample_regs_user,
        sample_stack_user: stack_and_machine as u32,
        sample_id_all: stack_and_machine >> 62 & 1 == 0,
        period: 1,
        registers: Some(if stack_and_machine >> 63 == 0 { X86_64 } else { AARCH64 }),
    };
    let record: Vec<u64> = words.collect();
    assert!(records::read_values(&record, &layout).is_none_or(|values| values.len() <= record.len()));
    // Some ids are of events that are sampled, some are not.
    let event_of = |id: u64| (id % 4 != 3).then(|| EventId::from_index((id % 4) as usize));
    let Decoded::Event(event) = records::decode(&record, &layout, event_of) else { return };
    match event.body {
        Body::Sample(sample) => {
            assert!(sample.callchain.frames().count() <= record.len());
            assert!(sample.branches.iter().count() <= record.len());
            assert!(sample.user.is_none_or(|user| user.stack.len() <= 8 * record.len()));
        }
        Body::Mapping(mapping) => assert!(mapping.path.len() <= 8 * record.len()),
        Body::Name(name) | Body::Exec(name) => assert!(name.len() <= 8 * record.len()),
        Body::Fork { .. } | Body::Exit | Body::Lost(_) | Body::Throttle(_) => {}
    }
});
