//! The stubs of the procedure linkage table (`.plt`, `.plt.sec`, `.plt.got`): the few instructions
//! through which a file calls the functions of others. No symbol covers them. What a stub jumps to
//! stands in the global offset table, and the relocation of that place names the function
//! (System V ABI, AMD64 supplement, "Procedure Linkage Table"; ELF for the Arm 64-bit Architecture).

use crate::error::Error;
use crate::headers::{Machine, items};
use crate::image::Image;
use object::Endianness;
use object::elf::{self as abi, Rela64};
use std::ops::Range;

/// The code through which a function of another file is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stub {
    /// ELF virtual addresses.
    pub addresses: Range<u64>,
    /// The function's name, as bytes that need not be UTF-8.
    pub name: Vec<u8>,
}

/// A section of stubs.
struct Table<'a> {
    address: u64,
    /// `sh_entsize`, which some linkers leave at 0.
    entry_size: u64,
    code: &'a [u8],
}

/// A stub, and the place of the global offset table that it jumps through.
type Jump = (Range<u64>, u64);

impl Image {
    /// The stubs of this file, in the order of their addresses. Empty where there are none, and
    /// for machines other than x86-64 and AArch64. They are read at every call: keep them.
    pub fn stubs(&self) -> Result<Vec<Stub>, Error> {
        let decode = match self.machine() {
            Machine::X86_64 if self.is_64bit() => x86_64,
            Machine::Aarch64 if self.is_64bit() && self.is_little_endian() => aarch64,
            _ => return Ok(Vec::new()),
        };
        let mut jumps = Vec::new();
        for section in [".plt", ".plt.sec", ".plt.got"].iter().filter_map(|name| self.section(name)) {
            let code = self.section_data(section)?;
            decode(&Table { address: section.address, entry_size: section.entry_size, code: &code }, &mut jumps);
        }
        if jumps.is_empty() {
            return Ok(Vec::new());
        }
        jumps.sort_unstable_by_key(|(addresses, _)| addresses.start);
        let places = self.places()?;
        let Some(symbols) = self.dynamic_symbols() else { return Ok(Vec::new()) };
        let stub = |(addresses, place): Jump| {
            let at = places.binary_search_by_key(&place, |(place, _)| *place).ok()?;
            let name = symbols.name_at(places[at].1).ok().filter(|name| !name.is_empty())?;
            Some(Stub { addresses, name })
        };
        Ok(jumps.into_iter().filter_map(stub).collect())
    }

    /// The places of the global offset table that hold functions' addresses, each with the index
    /// of the function's dynamic symbol; sorted.
    fn places(&self) -> Result<Vec<(u64, u32)>, Error> {
        let mut places = Vec::new();
        for section in [".rela.plt", ".rela.dyn"].iter().filter_map(|name| self.section(name)) {
            let bytes = self.section_data(section)?;
            for relocation in items::<Rela64<Endianness>>(&bytes, "relocations")? {
                let endian = self.headers.endian;
                let info = relocation.r_info.get(endian);
                let (symbol, kind) = ((info >> 32) as u32, info as u32);
                let is_address = [
                    abi::R_X86_64_GLOB_DAT.0,
                    abi::R_X86_64_JUMP_SLOT.0,
                    abi::R_AARCH64_GLOB_DAT.0,
                    abi::R_AARCH64_JUMP_SLOT.0,
                ]
                .contains(&kind);
                // Without a symbol the address is computed, and has no name.
                if is_address && symbol != 0 {
                    places.push((relocation.r_offset.get(endian), symbol));
                }
            }
        }
        places.sort_unstable();
        Ok(places)
    }
}

/// Entries of one size, each with a `jmp *PLACE(%rip)`, perhaps behind an `endbr64` or `bnd`.
fn x86_64(table: &Table<'_>, jumps: &mut Vec<Jump>) {
    /// What all linkers make; `.plt.got` alone has half of it.
    const USUAL_SIZE: usize = 16;
    let size = usize::try_from(table.entry_size).ok().filter(|size| *size >= 8).unwrap_or(USUAL_SIZE);
    for (index, entry) in table.code.chunks_exact(size).enumerate() {
        let start = table.address.wrapping_add((index * size) as u64);
        let jump = entry.windows(6).position(|bytes| bytes.starts_with(&[0xff, 0x25]));
        let Some((behind, displacement)) = jump.and_then(|at| Some((at + 6, entry.get(at + 2..at + 6)?))) else {
            continue;
        };
        let displacement = i32::from_le_bytes(displacement.try_into().unwrap_or_default());
        let place = start.wrapping_add(behind as u64).wrapping_add_signed(displacement.into());
        jumps.push((start..start.saturating_add(size as u64), place));
    }
}

/// `adrp x16, PAGE; ldr x17, [x16, OFFSET]; add x16, …; br x17`, with a `bti c` in front where the
/// program guards its branches.
fn aarch64(table: &Table<'_>, jumps: &mut Vec<Jump>) {
    const BTI_C: u32 = 0xd503_245f;
    let (words, _) = table.code.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    for (index, pair) in words.windows(2).enumerate() {
        let (adrp, ldr) = (pair[0], pair[1]);
        if adrp & 0x9f00_001f != 0x9000_0010 || ldr & 0xffc0_03ff != 0xf940_0211 {
            continue;
        }
        let at = table.address.wrapping_add(4 * index as u64);
        // 21 bits of pages, signed: the low two stand apart from the others.
        let pages = (adrp >> 29 & 3) | (adrp >> 5 & 0x7_ffff) << 2;
        let pages = i64::from((pages << 11) as i32 >> 11);
        let place = (at & !0xfff).wrapping_add_signed(pages << 12).wrapping_add(u64::from(ldr >> 10 & 0xfff) * 8);
        let is_guarded = index > 0 && words[index - 1] == BTI_C;
        jumps.push((at.wrapping_sub(if is_guarded { 4 } else { 0 })..at.saturating_add(16), place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stubs as ld.bfd links them for AArch64: the header's own jump, then one of a program that
    /// guards its branches.
    #[test]
    fn aarch64_stubs_jump_through_a_page_and_an_offset() {
        let words = [
            0xd503_245f_u32, // bti c
            0x9000_0090,     // adrp x16, +0x10000
            0xf947_fe11,     // ldr x17, [x16, #4088]
            0x913f_e210,     // add x16, x16, #0xff8
            0xd61f_0220,     // br x17
            0xd503_201f,     // nop
            0xf0ff_fff0,     // adrp x16, -0x1000
            0xf940_0211,     // ldr x17, [x16]
        ];
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut jumps = Vec::new();
        aarch64(&Table { address: 0x40_0520, entry_size: 0, code: &code }, &mut jumps);
        assert_eq!(jumps, [(0x40_0520..0x40_0534, 0x41_0ff8), (0x40_0538..0x40_0548, 0x3f_f000)]);
    }

    #[test]
    fn a_table_that_is_cut_has_fewer_stubs() {
        let mut code = vec![0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0xf6, 0x2f, 0, 0];
        code.resize(16, 0x90);
        code.extend([0xff, 0x25, 0, 0]);
        let mut jumps = Vec::new();
        x86_64(&Table { address: 0x1000, entry_size: 0, code: &code }, &mut jumps);
        assert_eq!(jumps, [(0x1000..0x1010, 0x4000)]);
    }
}
