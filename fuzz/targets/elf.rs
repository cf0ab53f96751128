//! ELF files: everything that an image can be asked.
#![no_main]

use elf::Image;
use libfuzzer_sys::fuzz_target;
use model::FileOffset;

fuzz_target!(|bytes: &[u8]| {
    let Ok(image) = Image::from_bytes(bytes.to_vec()) else { return };
    for section in image.sections() {
        let stated = image.section_len(section);
        if let Ok(data) = image.section_data(section) {
            // What is read has the length that was told before, so that it can be judged by that.
            assert!(!section.name.starts_with(b".debug") || data.is_empty() || stated.ok() == Some(data.len() as u64));
        }
    }
    let mut places = vec![0, image.entry().unwrap_or(0), image.base_address(), image.file_len(), u64::MAX];
    for table in [image.symbols(), image.dynamic_symbols()].into_iter().flatten() {
        let _ = table.for_each(|symbol| {
            let _ = table.name(&symbol);
            if places.len() < 16 {
                places.push(symbol.address);
            }
        });
    }
    for place in places {
        image.function_containing(place);
        image.address_of(FileOffset(place));
    }
    let _ = image.unwind_sections();
    let _ = image.stubs();
    let _ = (image.segments(), image.machine(), image.damage().map(ToString::to_string));
    let _ = (image.build_id(), image.debug_link(), image.has_symbols(), image.has_debug_info());
});
