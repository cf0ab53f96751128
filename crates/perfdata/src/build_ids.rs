//! Which contents the mapped files had: `struct perf_record_header_build_id`.

use model::{BuildId, text::until_nul};
use records::ByteOrder;

/// The identity of a file's contents when it was recorded.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FileBuildId {
    /// Its path, or the kernel's name (`[kernel.kallsyms]`, `[vdso]`).
    pub path: Box<[u8]>,
    /// The build id.
    pub build_id: BuildId,
    /// Whether it is the kernel or one of its modules.
    pub kernel: bool,
}

const HEADER: usize = 8;
/// Process, build id in 20 bytes, its length and padding; then the path.
const PATH: usize = 4 + 24;
const LENGTH_STATED: u16 = 1 << 15;
const CPU_MODE: u16 = 7;
const KERNEL_MODES: [u16; 2] = [1, 4];

/// Reads the entry whose header says `misc`; `body` follows the header.
pub(crate) fn of_record(misc: u16, body: &[u8]) -> Option<FileBuildId> {
    let (fixed, path) = body.split_at_checked(PATH)?;
    let stated = if misc & LENGTH_STATED != 0 { usize::from(fixed[24]).min(BuildId::MAX_LEN) } else { 0 };
    let bytes = &fixed[4..4 + BuildId::MAX_LEN];
    // Where the length is not said, an id that is shorter is filled up with zeroes.
    let len = if stated > 0 { stated } else { bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1) };
    Some(FileBuildId {
        path: until_nul(path).into(),
        build_id: BuildId::new(&bytes[..len])?,
        kernel: KERNEL_MODES.contains(&(misc & CPU_MODE)),
    })
}

/// Reads all entries of a file's section.
pub(crate) fn of_section(bytes: &[u8], order: ByteOrder) -> impl Iterator<Item = FileBuildId> + '_ {
    let mut rest = bytes;
    let entry = move || {
        let (misc, size) = (order.u16_at(rest, 4)?, order.u16_at(rest, 6)?);
        let (entry, after) = rest.split_at_checked(usize::from(size).max(HEADER))?;
        rest = after;
        Some((misc, &entry[HEADER..]))
    };
    std::iter::from_fn(entry).filter_map(|(misc, body)| of_record(misc, body))
}
