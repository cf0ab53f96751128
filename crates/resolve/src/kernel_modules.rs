//! Which kernel module an address of the kernel lies in: by /proc/modules (proc_modules(5)), or
//! by what a recording says. /proc/kallsyms names modules, too, but is read at the end only, when
//! all locations have long got their files.

use model::Address;
use std::ops::Range;

/// The kernel's modules by address.
#[derive(Clone, Debug, Default)]
pub struct KernelModules {
    /// Sorted by start.
    modules: Vec<Module>,
}

/// Where a module's code lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// Its name in brackets, as in `[ext4]`.
    pub name: String,
    /// Its addresses.
    pub addresses: Range<u64>,
}

/// The name of what is no module.
pub const KERNEL: &str = "[kernel]";

impl KernelModules {
    /// The modules of this machine; none where the kernel hides their addresses.
    pub fn live() -> Self {
        std::fs::read_to_string("/proc/modules").map(|text| Self::parse(&text)).unwrap_or_default()
    }

    /// Reads lines `name size references users state address`.
    pub fn parse(text: &str) -> Self {
        let mut modules = Self::default();
        for line in text.lines() {
            let mut fields = line.split_whitespace();
            let (Some(name), Some(size), Some(address)) = (fields.next(), fields.next(), fields.nth(3)) else {
                continue;
            };
            let address = u64::from_str_radix(address.trim_start_matches("0x"), 16).unwrap_or(0);
            if let (1.., Ok(size)) = (address, size.parse()) {
                modules.add(format!("[{name}]"), address..address.saturating_add(size));
            }
        }
        modules
    }

    /// A module was loaded. What lay at its addresses before is gone.
    pub fn add(&mut self, name: String, addresses: Range<u64>) {
        let overlaps = |old: &Range<u64>| old.start < addresses.end && addresses.start < old.end;
        self.modules.retain(|module| !overlaps(&module.addresses));
        let at = self.modules.partition_point(|module| module.addresses.start <= addresses.start);
        self.modules.insert(at, Module { name, addresses });
    }

    /// The module at an address.
    pub fn at(&self, address: Address) -> Option<&Module> {
        let after = self.modules.partition_point(|module| module.addresses.start <= address.0);
        self.modules[..after].last().filter(|module| module.addresses.contains(&address.0))
    }

    /// The module of this name, which stands in brackets.
    pub fn named(&self, name: &str) -> Option<&Module> {
        self.modules.iter().find(|module| module.name == name)
    }

    /// The module's name in brackets, or `[kernel]`.
    pub fn name_of(&self, address: Address) -> &str {
        self.at(address).map_or(KERNEL, |module| &module.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_found_by_address() {
        let modules = KernelModules::parse(
            "ext4 4096 2 - Live 0xffffffffc0002000\nhidden 8192 0 - Live 0x0000000000000000\n\
             nft 8192 1 ext4, Live 0xffffffffc0000000 (OE)\nbroken line\n",
        );
        assert_eq!(modules.name_of(Address(0xffff_ffff_c000_0000)), "[nft]");
        assert_eq!(modules.name_of(Address(0xffff_ffff_c000_2fff)), "[ext4]");
        assert_eq!(modules.name_of(Address(0xffff_ffff_c000_3000)), KERNEL);
        assert_eq!(modules.name_of(Address(0xffff_ffff_8100_0000)), KERNEL);
        assert_eq!(modules.named("[ext4]").unwrap().addresses.start, 0xffff_ffff_c000_2000);
        assert_eq!(modules.named("[hidden]"), None);
    }

    #[test]
    fn a_module_takes_the_place_of_those_before() {
        let mut modules = KernelModules::default();
        modules.add("[a]".into(), 0x1000..0x3000);
        modules.add("[b]".into(), 0x3000..0x4000);
        modules.add("[c]".into(), 0x2000..0x3000);
        let names = [0x1000, 0x2000, 0x3000].map(|address| modules.name_of(Address(address)));
        assert_eq!(names, [KERNEL, "[c]", "[b]"]);
    }
}
