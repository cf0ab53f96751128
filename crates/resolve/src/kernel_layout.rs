//! Where the kernel and its modules lay when a recording was made, by the recording's own mappings
//! of kernel code, as `perf record` and flamel write them. Such a mapping has a name instead of a
//! path; that of the kernel itself names a symbol, too, and has its address for an offset:
//! `[kernel.kallsyms]_text` at offset 0xffffffff81000000.

use crate::kernel_modules::{KERNEL, KernelModules, Module};
use model::{Address, BuildId, FileIdentity, Mapping, text};

/// The places of a recorded kernel's code.
#[derive(Clone, Debug, Default)]
pub struct KernelLayout {
    modules: KernelModules,
    reference: Option<Reference>,
    build_id: Option<BuildId>,
}

/// A symbol of the kernel whose address was recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    /// `_text` or `_stext`.
    pub symbol: Box<[u8]>,
    /// Where it was.
    pub address: Address,
}

/// What a mapping of kernel code is.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece<'a> {
    /// The kernel itself, and the symbol that the mapping's name ends in; empty where it has none.
    Kernel(&'a [u8]),
    /// A module, by its name in brackets.
    Module(String),
    /// A guest's kernel, or what we do not know.
    Other,
}

impl KernelLayout {
    /// Takes a mapping of kernel code.
    pub fn map(&mut self, mapping: &Mapping<'_>) {
        match piece(mapping.path) {
            Piece::Kernel(symbol) => {
                // A recorder that may not see addresses writes 0.
                if !symbol.is_empty() && mapping.offset.0 != 0 {
                    self.reference = Some(Reference { symbol: symbol.into(), address: Address(mapping.offset.0) });
                }
                if let FileIdentity::BuildId(id) = mapping.identity {
                    self.build_id = Some(id);
                }
            }
            Piece::Module(name) if mapping.start.0 != 0 => {
                self.modules.add(name, mapping.start.0..mapping.start.0.saturating_add(mapping.len));
            }
            Piece::Module(_) | Piece::Other => {}
        }
    }

    /// The module's name in brackets, or `[kernel]`.
    pub fn name_of(&self, address: Address) -> &str {
        self.modules.name_of(address)
    }

    /// The module at an address.
    pub(crate) fn module_at(&self, address: Address) -> Option<&Module> {
        self.modules.at(address)
    }

    /// The symbol whose address is known.
    pub(crate) fn reference(&self) -> Option<&Reference> {
        self.reference.as_ref()
    }

    /// The kernel's build id, where its mapping tells it.
    pub(crate) fn build_id(&self) -> Option<BuildId> {
        self.build_id
    }
}

fn piece(name: &[u8]) -> Piece<'_> {
    if name.starts_with(b"[guest.") {
        return Piece::Other;
    }
    for kernel in [&b"[kernel.kallsyms]"[..], b"[kernel.vmlinux]", KERNEL.as_bytes()] {
        if let Some(symbol) = name.strip_prefix(kernel) {
            return Piece::Kernel(symbol);
        }
    }
    let name = match name.strip_prefix(b"[").and_then(|name| name.strip_suffix(b"]")) {
        Some(name) => name,
        None => match module_of_file(name) {
            Some(name) => name,
            None => return Piece::Other,
        },
    };
    // The file is called `snd-hda-intel.ko`, the module `snd_hda_intel`.
    Piece::Module(format!("[{}]", text::from_bytes(name)).replace('-', "_"))
}

/// `…/ext4.ko`, `…/ext4.ko.xz` → `ext4`
fn module_of_file(path: &[u8]) -> Option<&[u8]> {
    let file = path.rsplit(|&byte| byte == b'/').next()?;
    let packed = [&b".gz"[..], b".xz", b".zst"];
    let plain = packed.iter().find_map(|suffix| file.strip_suffix(*suffix)).unwrap_or(file);
    plain.strip_suffix(b".ko").filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::FileOffset;

    fn layout(mappings: &[(&str, u64, u64, u64)]) -> KernelLayout {
        let mut layout = KernelLayout::default();
        for &(path, start, len, offset) in mappings {
            layout.map(&Mapping {
                start: Address(start),
                len,
                offset: FileOffset(offset),
                identity: FileIdentity::Unknown,
                path: path.as_bytes(),
                kernel: true,
            });
        }
        layout
    }

    #[test]
    fn names_of_mappings() {
        let module = |name: &str| Piece::Module(name.into());
        for (name, expected) in [
            ("[kernel.kallsyms]_text", Piece::Kernel(b"_text")),
            ("[kernel.kallsyms]_stext", Piece::Kernel(b"_stext")),
            ("[kernel.kallsyms]", Piece::Kernel(b"")),
            ("[kernel]", Piece::Kernel(b"")),
            ("[guest.kernel.kallsyms]_text", Piece::Other),
            ("[guest.kernel.kallsyms.123]", Piece::Other),
            ("[ext4]", module("[ext4]")),
            ("/lib/modules/6.1.0-18-amd64/kernel/fs/ext4/ext4.ko", module("[ext4]")),
            ("/lib/modules/6.12.1/kernel/sound/pci/hda/snd-hda-intel.ko.zst", module("[snd_hda_intel]")),
            ("/lib/modules/6.12.1/kernel/x.ko.xz", module("[x]")),
            ("/boot/vmlinux", Piece::Other),
            (".ko", Piece::Other),
            ("", Piece::Other),
        ] {
            assert_eq!(piece(name.as_bytes()), expected, "{name}");
        }
    }

    #[test]
    fn modules_lie_within_what_perf_takes_for_the_kernel() {
        let layout = layout(&[
            ("[kernel.kallsyms]_text", 0xffff_ffff_8100_0000, u64::MAX, 0xffff_ffff_8100_0000),
            ("/lib/modules/6/kernel/ext4.ko", 0xffff_ffff_c000_0000, 0x1000, 0),
            ("[guest.kernel.kallsyms]_text", 0xffff_ffff_a000_0000, 0x1000, 0xffff_ffff_a000_0000),
        ]);
        assert_eq!(layout.name_of(Address(0xffff_ffff_8100_0010)), "[kernel]");
        assert_eq!(layout.name_of(Address(0xffff_ffff_c000_0010)), "[ext4]");
        assert_eq!(layout.name_of(Address(0xffff_ffff_c000_1000)), "[kernel]");
        let reference = Reference { symbol: (*b"_text").into(), address: Address(0xffff_ffff_8100_0000) };
        assert_eq!(layout.reference(), Some(&reference));
    }

    #[test]
    fn hidden_addresses_are_no_addresses() {
        let layout = layout(&[("[kernel.kallsyms]_text", 0, 0x1000, 0), ("[ext4]", 0, 0x1000, 0)]);
        assert_eq!(layout.reference(), None);
        assert_eq!(layout.name_of(Address(0x10)), "[kernel]");
    }
}
