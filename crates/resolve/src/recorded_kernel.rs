//! Which symbols belong to the kernel of a recording: those that the user gave, those of the
//! running kernel if it is the same one, or those of files that can be shown to be its own.

use crate::files::open_regular;
use crate::kernel_image::AtHand;
use crate::kernel_modules::KernelModules;
use crate::search_places::SearchPlaces;
use elf::Image;
use model::{BuildId, NameMissing};
use std::fs::File;
use std::path::Path;
use symbols::{KernelCache, KernelSymbols};

/// What is known of the kernel under which a recording was made.
#[derive(Debug, Default)]
pub struct RecordedKernel {
    /// Its build id, where the recording tells it beside the mappings.
    pub build_id: Option<BuildId>,
    /// Its release, as `uname -r` prints it.
    pub release: Option<String>,
    /// Whether host and release are this machine's.
    pub same_machine: bool,
    /// The symbols that the user gave for it, which are believed
    /// ([`KernelSymbols::from_file`]).
    pub given: Option<KernelSymbols>,
    /// Where its files are looked for.
    pub places: SearchPlaces,
    /// Where the running kernel's symbols are kept until the next boot.
    pub cache: Option<KernelCache>,
}

impl RecordedKernel {
    /// Reads its symbols. [`NameMissing::OtherKernel`] where none are at hand,
    /// [`NameMissing::KernelHidden`] where it is the running kernel, which hides them.
    pub(crate) fn symbols(self) -> Result<AtHand, NameMissing> {
        let is_running = match self.build_id {
            Some(id) => running_build_id() == Some(id),
            None => self.same_machine,
        };
        let from_file = |symbols| Ok(AtHand { symbols, modules: None });
        if let Some(given) = self.given {
            return from_file(given);
        }
        let mut reason = NameMissing::OtherKernel;
        if is_running {
            match KernelSymbols::read_by(self.cache.as_ref()) {
                Ok(symbols) => return Ok(AtHand { symbols, modules: Some(KernelModules::live()) }),
                Err(hidden) => reason = hidden,
            }
        }
        let Self { build_id, release, places, .. } = self;
        let by_id = build_id.and_then(|id| by_build_id(id, &places));
        by_id.or_else(|| by_release(&release?, build_id, &places)).map_or(Err(reason), from_file)
    }
}

/// The build id of the running kernel: `/sys/kernel/notes` holds its ELF notes.
pub fn running_build_id() -> Option<BuildId> {
    elf::build_id_of_notes(&std::fs::read("/sys/kernel/notes").ok()?)
}

/// perf's cache keeps a copy of /proc/kallsyms, or the `vmlinux` that it found.
fn by_build_id(id: BuildId, places: &SearchPlaces) -> Option<KernelSymbols> {
    ["kallsyms", "elf"].iter().find_map(|cached| {
        places.by_build_id(id, cached).find_map(|file| match Image::open(&file) {
            Ok(image) => (image.build_id() == Some(id)).then(|| KernelSymbols::from_vmlinux(&image).ok())?,
            Err(_) => KernelSymbols::from_file(file).ok(),
        })
    })
}

/// The `vmlinux` where distributions put it. Without a build id to compare, one is believed that
/// lies in the tree which the user gave.
fn by_release(release: &str, wanted: Option<BuildId>, places: &SearchPlaces) -> Option<KernelSymbols> {
    let below_debug_dir = [format!("boot/vmlinux-{release}"), format!("lib/modules/{release}/vmlinux")];
    let in_tree =
        ["", "usr/lib/debug"].iter().flat_map(|top| below_debug_dir.iter().map(move |path| Path::new(top).join(path)));
    let in_tree = in_tree.filter_map(|path| places.in_symfs(&path)?.ok()).map(|file| (file, wanted.is_none()));
    let in_debug_dirs = places.debug_dirs.iter().flat_map(|dir| below_debug_dir.iter().map(|path| dir.join(path)));
    let in_debug_dirs = in_debug_dirs.filter_map(|path| open_regular(&path).ok()).map(|file| (file, false));
    let vmlinux = |(file, is_believed): (File, bool)| {
        let image = Image::open(&file).ok()?;
        let is_right = is_believed || wanted.is_some() && image.build_id() == wanted;
        is_right.then(|| KernelSymbols::from_vmlinux(&image).ok())?
    };
    in_tree.chain(in_debug_dirs).find_map(vmlinux)
}
