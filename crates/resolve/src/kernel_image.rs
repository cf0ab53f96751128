//! The kernel's symbols at hand, and how a recorded address becomes one of theirs. Between the
//! recording and now the machine may have been booted again: then the same kernel lies elsewhere
//! (KASLR), and each module has been put somewhere else again.

use crate::kernel_layout::KernelLayout;
use crate::kernel_modules::KernelModules;
use model::{Address, NameMissing};
use symbols::{KernelSymbol, KernelSymbols};

/// Symbols of a kernel, and where they come from.
#[derive(Debug)]
pub struct AtHand {
    /// The symbols.
    pub symbols: KernelSymbols,
    /// Where modules lie now, for the symbols of the running kernel; `None` where the symbols
    /// come from a file.
    pub modules: Option<KernelModules>,
}

/// A kernel whose functions can be named by the addresses that were recorded.
#[derive(Debug)]
pub struct KernelImage {
    symbols: KernelSymbols,
    /// Why the running kernel's symbols could not be read once more.
    hidden: Option<NameMissing>,
    moved: Option<Moved>,
}

/// How the recorded kernel lay.
#[derive(Debug)]
struct Moved {
    layout: KernelLayout,
    /// How far its text lay from where its symbols at hand have it, wrapping.
    text: u64,
    /// Where modules lie now.
    modules: Option<KernelModules>,
}

impl KernelImage {
    /// The running kernel, recorded now.
    pub fn live(symbols: KernelSymbols) -> Self {
        Self { symbols, hidden: None, moved: None }
    }

    /// The kernel of a recording. [`NameMissing::OtherKernel`] where it cannot be told how the
    /// symbols' addresses relate to the recorded ones.
    pub fn recorded(at_hand: AtHand, layout: KernelLayout) -> Result<Self, NameMissing> {
        let AtHand { symbols, modules } = at_hand;
        let text = match layout.reference() {
            Some(reference) => {
                let now = symbols.address_of(&reference.symbol).ok_or(NameMissing::OtherKernel)?;
                reference.address.0.wrapping_sub(now.0)
            }
            // The symbols of a file are taken for those of the boot that was recorded.
            None if modules.is_none() => 0,
            None => return Err(NameMissing::OtherKernel),
        };
        Ok(Self { symbols, hidden: None, moved: Some(Moved { layout, text, modules }) })
    }

    /// The function at a recorded address, a look-up address
    /// ([`CodeAddress::lookup`](model::CodeAddress::lookup)), and where the symbols have that
    /// address.
    pub fn find(&mut self, recorded: Address) -> Result<(KernelSymbol<'_>, Address), NameMissing> {
        let place = match &self.moved {
            None => Some(Place { address: recorded, owner: Owner::Any }),
            Some(moved) => moved.place(recorded),
        };
        let Place { address, owner } = place.ok_or(NameMissing::Stripped)?;
        if !self.symbols.covers(address) {
            // What was kept of the running kernel says nothing of its modules.
            match self.hidden {
                Some(reason) => return Err(reason),
                None => self.symbols = KernelSymbols::read().inspect_err(|reason| self.hidden = Some(*reason))?,
            }
        }
        let symbol = self.symbols.find(address).filter(|symbol| owner.has(symbol)).ok_or(NameMissing::Stripped)?;
        Ok((symbol, address))
    }
}

/// A recorded address among the symbols at hand, and whose symbols may name it.
struct Place<'a> {
    address: Address,
    owner: Owner<'a>,
}

enum Owner<'a> {
    Any,
    Kernel,
    /// A module, by its name in brackets.
    Module(&'a str),
}

impl Moved {
    fn place(&self, recorded: Address) -> Option<Place<'_>> {
        let Some(module) = self.layout.module_at(recorded) else {
            // BPF programs and trampolines stay where they are until the next boot.
            let owner = if self.text == 0 { Owner::Any } else { Owner::Kernel };
            return Some(Place { address: Address(recorded.0.wrapping_sub(self.text)), owner });
        };
        let address = match &self.modules {
            Some(now) => {
                let start = now.named(&module.name)?.addresses.start;
                Address(start.wrapping_add(recorded.0 - module.addresses.start))
            }
            // Where a module lay when the file was written is known if that was in the same boot.
            None => (self.text == 0).then_some(recorded)?,
        };
        Some(Place { address, owner: Owner::Module(&module.name) })
    }
}

impl Owner<'_> {
    fn has(&self, symbol: &KernelSymbol<'_>) -> bool {
        match self {
            Self::Any => true,
            Self::Kernel => symbol.module.is_none(),
            Self::Module(name) => {
                let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
                symbol.module == bare.map(str::as_bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{FileIdentity, FileOffset, Mapping};

    const NOW: &str = "\
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000100 T vfs_read
ffffffff82000000 T _etext
ffffffffc0000000 t ext4_a\t[ext4]
ffffffffc0000100 t ext4_b\t[ext4]
ffffffffc0002000 t nft_do\t[nf_tables]
ffffffffc0100000 t bpf_prog_x\t[bpf]
";
    const MODULES: &str = "ext4 4096 2 - Live 0xffffffffc0000000\nnf_tables 4096 0 - Live 0xffffffffc0002000\n";

    fn running() -> AtHand {
        AtHand { symbols: KernelSymbols::parse(NOW.into()).unwrap(), modules: Some(KernelModules::parse(MODULES)) }
    }

    fn file() -> AtHand {
        AtHand { modules: None, ..running() }
    }

    fn layout(mappings: &[(&str, u64, u64)]) -> KernelLayout {
        let mut layout = KernelLayout::default();
        for &(path, start, offset) in mappings {
            layout.map(&Mapping {
                start: Address(start),
                len: 0x1000,
                offset: FileOffset(offset),
                identity: FileIdentity::Unknown,
                path: path.as_bytes(),
                kernel: true,
            });
        }
        layout
    }

    fn name(image: &mut KernelImage, address: u64) -> Result<String, NameMissing> {
        let (symbol, address) = image.find(Address(address))?;
        Ok(format!("{}+{:#x}", String::from_utf8_lossy(symbol.name), address.0 - symbol.start.0))
    }

    #[test]
    fn after_a_reboot_text_and_modules_have_moved_apart() {
        let layout = layout(&[
            ("[kernel.kallsyms]_text", 0xffff_ffff_9a00_0000, 0xffff_ffff_9a00_0000),
            ("[ext4]", 0xffff_ffff_c070_0000, 0),
            ("/lib/modules/6.1/kernel/gone.ko", 0xffff_ffff_c080_0000, 0),
        ]);
        let mut image = KernelImage::recorded(running(), layout).unwrap();
        assert_eq!(name(&mut image, 0xffff_ffff_9a00_0104), Ok("vfs_read+0x4".into()));
        assert_eq!(name(&mut image, 0xffff_ffff_c070_0110), Ok("ext4_b+0x10".into()));
        for (address, what) in [
            (0xffff_ffff_c080_0000, "a module that is not loaded now"),
            (0xffff_ffff_d910_0000, "the text's move would lead to a BPF program"),
            (0xffff_ffff_8100_0100, "nothing was there"),
        ] {
            assert_eq!(name(&mut image, address), Err(NameMissing::Stripped), "{what}");
        }
    }

    #[test]
    fn in_the_same_boot_everything_is_where_it_was() {
        let text = ("[kernel.kallsyms]_stext", 0xffff_ffff_8100_0000, 0xffff_ffff_8100_0000);
        for at_hand in [running(), file()] {
            let layout = layout(&[text, ("[ext4]", 0xffff_ffff_c000_0000, 0)]);
            let mut image = KernelImage::recorded(at_hand, layout).unwrap();
            assert_eq!(name(&mut image, 0xffff_ffff_8100_0100), Ok("vfs_read+0x0".into()));
            assert_eq!(name(&mut image, 0xffff_ffff_c000_0004), Ok("ext4_a+0x4".into()));
            assert_eq!(name(&mut image, 0xffff_ffff_c010_0001), Ok("bpf_prog_x+0x1".into()));
        }
    }

    #[test]
    fn the_symbols_of_a_file_know_where_modules_were_in_their_boot_only() {
        let mappings = [
            ("[kernel.kallsyms]_text", 0xffff_ffff_9a00_0000, 0xffff_ffff_9a00_0000),
            ("[ext4]", 0xffff_ffff_c000_0000, 0),
        ];
        let mut image = KernelImage::recorded(file(), layout(&mappings)).unwrap();
        assert_eq!(name(&mut image, 0xffff_ffff_9a00_0100), Ok("vfs_read+0x0".into()));
        assert_eq!(name(&mut image, 0xffff_ffff_c000_0004), Err(NameMissing::Stripped));
    }

    #[test]
    fn another_module_at_a_modules_place_does_not_name_it() {
        let text = ("[kernel.kallsyms]_text", 0xffff_ffff_8100_0000, 0xffff_ffff_8100_0000);
        let mut image = KernelImage::recorded(file(), layout(&[text, ("[xfs]", 0xffff_ffff_c000_0000, 0)])).unwrap();
        assert_eq!(name(&mut image, 0xffff_ffff_c000_0004), Err(NameMissing::Stripped));
    }

    #[test]
    fn without_a_recorded_symbol_only_a_file_is_believed() {
        assert_eq!(KernelImage::recorded(running(), KernelLayout::default()).err(), Some(NameMissing::OtherKernel));
        let mut image = KernelImage::recorded(file(), KernelLayout::default()).unwrap();
        assert_eq!(name(&mut image, 0xffff_ffff_8100_0100), Ok("vfs_read+0x0".into()));
        let unknown = layout(&[("[kernel.kallsyms]_start_of_all", 1, 1)]);
        assert_eq!(KernelImage::recorded(running(), unknown).err(), Some(NameMissing::OtherKernel));
    }
}
