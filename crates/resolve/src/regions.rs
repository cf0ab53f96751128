//! What code lies where in one process.

use crate::binary::{Binaries, BinaryId};
use model::{Address, FileOffset};
use unwind::AddressSpace;

/// What stands behind a piece of executable memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// A file.
    Binary(BinaryId),
    /// Nothing: the process wrote the code itself.
    Generated,
}

/// A piece of executable memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// Its first address.
    pub start: u64,
    /// The address behind its last.
    pub end: u64,
    /// The file's offset at `start`.
    pub offset: FileOffset,
    /// What stands behind it.
    pub code: Code,
}

impl Region {
    /// The file's offset at an address of the region.
    pub fn offset_of(&self, address: Address) -> FileOffset {
        FileOffset(self.offset.0 + (address.0 - self.start))
    }
}

/// All executable memory of a process, in order.
#[derive(Clone, Default)]
pub struct Regions {
    regions: Vec<Region>,
    /// The unwind tables for the regions; made when a stack is first unwound, so that processes
    /// which are never sampled cost nothing.
    unwind: Option<AddressSpace>,
}

impl Regions {
    /// The region that an address lies in.
    pub fn find(&self, address: Address) -> Option<&Region> {
        let after = self.regions.partition_point(|region| region.start <= address.0);
        self.regions[..after].last().filter(|region| address.0 < region.end)
    }

    /// Adds a region. Whatever it covers is gone, as mmap(2) with `MAP_FIXED` replaces it.
    pub fn insert(&mut self, new: Region, binaries: &Binaries) {
        if new.start >= new.end {
            return;
        }
        let first = self.regions.partition_point(|region| region.end <= new.start);
        let last = self.regions.partition_point(|region| region.start < new.end);
        if first < last {
            let (head, tail) = (self.regions[first], self.regions[last - 1]);
            let left = (head.start < new.start).then_some(Region { end: new.start, ..head });
            let right = (tail.end > new.end).then(|| Region {
                start: new.end,
                offset: tail.offset_of(Address(new.end)),
                ..tail
            });
            self.regions.splice(first..last, left.into_iter().chain([new]).chain(right));
            self.unwind = None;
        } else {
            self.regions.insert(first, new);
            if let Some(space) = &mut self.unwind {
                add_module(space, &new, binaries);
            }
        }
    }

    /// The unwind tables of all regions.
    pub fn unwind_space(&mut self, binaries: &Binaries) -> &AddressSpace {
        let regions = &self.regions;
        self.unwind.get_or_insert_with(|| {
            let mut space = AddressSpace::default();
            regions.iter().for_each(|region| add_module(&mut space, region, binaries));
            space
        })
    }
}

fn add_module(space: &mut AddressSpace, region: &Region, binaries: &Binaries) {
    let range = region.start..region.end;
    match region.code {
        Code::Binary(id) => {
            if let Ok(contents) = &binaries[id].contents
                && let Some(bias) = contents.bias(region.start, region.offset)
            {
                let base = bias.wrapping_add(contents.image.base_address());
                return space.map(range, base, &contents.module);
            }
        }
        Code::Generated => {}
    }
    space.map_without_tables(range);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(start: u64, end: u64, offset: u64) -> Region {
        Region { start, end, offset: FileOffset(offset), code: Code::Generated }
    }

    fn filled(regions: &[Region]) -> Regions {
        let mut all = Regions::default();
        regions.iter().for_each(|&region| all.insert(region, &Binaries::default()));
        all
    }

    #[test]
    fn an_address_belongs_to_the_region_around_it() {
        let all = filled(&[region(0x3000, 0x4000, 0), region(0x1000, 0x2000, 0x500)]);
        assert_eq!(all.find(Address(0xfff)), None);
        assert_eq!(all.find(Address(0x1010)).unwrap().offset_of(Address(0x1010)), FileOffset(0x510));
        assert_eq!(all.find(Address(0x2000)), None);
        assert_eq!(all.find(Address(0x3fff)).unwrap().start, 0x3000);
    }

    #[test]
    fn a_new_mapping_replaces_what_it_covers() {
        let all = filled(&[region(0x1000, 0x5000, 0x100), region(0x6000, 0x7000, 0), region(0x2000, 0x3000, 0x9000)]);
        let expected = [
            region(0x1000, 0x2000, 0x100),
            region(0x2000, 0x3000, 0x9000),
            region(0x3000, 0x5000, 0x2100),
            region(0x6000, 0x7000, 0),
        ];
        assert_eq!(all.regions, expected);
        let over_all = filled(&[region(0x1000, 0x2000, 0), region(0x3000, 0x4000, 0), region(0, 0x9000, 7)]);
        assert_eq!(over_all.regions, [region(0, 0x9000, 7)]);
        let empty = filled(&[region(5, 5, 0)]);
        assert_eq!(empty.regions, []);
    }
}
