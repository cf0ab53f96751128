//! The kernel that samples were taken in: which file's name its code goes by while events come
//! in, and its symbols at the end, which are read on a thread of their own.

use crate::kernel_image::{AtHand, KernelImage};
use crate::kernel_layout::KernelLayout;
use crate::kernel_modules::KernelModules;
use crate::recorded_kernel::RecordedKernel;
use model::{Address, Mapping, NameMissing};
use std::thread::JoinHandle;
use symbols::{KernelCache, KernelSymbols};

/// Which kernel samples were taken in.
#[derive(Debug)]
pub enum KernelSource {
    /// The one that runs now.
    Live {
        /// Where its symbols are kept until the next boot.
        cache: Option<KernelCache>,
    },
    /// That of a recording.
    Recorded(RecordedKernel),
}

/// A kernel, from the first sample to its names.
pub struct Kernel {
    places: Places,
    reading: Reading,
}

/// Where its code lies.
enum Places {
    /// Where /proc/modules says, once it has been asked.
    Live(Option<KernelModules>),
    /// Where the recording says.
    Recorded(KernelLayout),
}

/// How far its symbols are.
enum Reading {
    NotYet(KernelSource),
    Begun(JoinHandle<Result<AtHand, NameMissing>>),
    Done,
}

impl Kernel {
    /// Nothing has been read yet.
    pub fn new(source: KernelSource) -> Self {
        let places = match &source {
            KernelSource::Live { .. } => Places::Live(None),
            KernelSource::Recorded(_) => Places::Recorded(KernelLayout::default()),
        };
        Self { places, reading: Reading::NotYet(source) }
    }

    /// Takes a mapping of kernel code. Those of a live run say nothing that /proc does not.
    pub fn map(&mut self, mapping: &Mapping<'_>) {
        if let Places::Recorded(layout) = &mut self.places {
            layout.map(mapping);
        }
    }

    /// The name of the file that the code at an address belongs to: a module's in brackets, or
    /// `[kernel]`.
    pub fn name_of(&mut self, address: Address) -> &str {
        match &mut self.places {
            Places::Live(modules) => modules.get_or_insert_with(KernelModules::live).name_of(address),
            Places::Recorded(layout) => layout.name_of(address),
        }
    }

    /// Begins to read the symbols on a second thread, unless that has begun. A live run begins at
    /// its end, when all modules are loaded; for a recording, its kernel's own mapping should have
    /// been seen, which may tell the build id.
    pub fn start_reading(&mut self) {
        let Reading::NotYet(_) = self.reading else { return };
        let Reading::NotYet(source) = std::mem::replace(&mut self.reading, Reading::Done) else { return };
        let recorded_id = match &self.places {
            Places::Live(_) => None,
            Places::Recorded(layout) => layout.build_id(),
        };
        self.reading = Reading::Begun(std::thread::spawn(move || match source {
            KernelSource::Live { cache } => {
                KernelSymbols::read_by(cache.as_ref()).map(|symbols| AtHand { symbols, modules: None })
            }
            KernelSource::Recorded(kernel) => {
                RecordedKernel { build_id: kernel.build_id.or(recorded_id), ..kernel }.symbols()
            }
        }));
    }

    /// A sample was taken in it. What a recording has to say of its kernel comes before that, so that
    /// its symbols can be read while the rest of it is.
    pub fn sampled(&mut self) {
        if matches!((&self.places, &self.reading), (Places::Recorded(_), Reading::NotYet(_))) {
            self.start_reading();
        }
    }

    /// Waits for the symbols. An error says why no function of the kernel can be named.
    pub fn image(&mut self) -> Result<KernelImage, NameMissing> {
        self.start_reading();
        let Reading::Begun(thread) = std::mem::replace(&mut self.reading, Reading::Done) else {
            return Err(NameMissing::NotLookedUp);
        };
        let at_hand = thread.join().map_err(|_| NameMissing::Unreadable)??;
        match &self.places {
            Places::Live(_) => Ok(KernelImage::live(at_hand.symbols)),
            Places::Recorded(layout) => KernelImage::recorded(at_hand, layout.clone()),
        }
    }
}
