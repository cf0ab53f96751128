//! Which kernel module an address of the kernel lies in, by /proc/modules (proc_modules(5)).

use model::Address;

/// The kernel's modules by address.
#[derive(Clone, Debug, Default)]
pub struct KernelModules {
    /// First address, address behind the last, name in brackets; sorted.
    modules: Vec<(u64, u64, String)>,
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
        let mut modules: Vec<_> = text
            .lines()
            .filter_map(|line| {
                let mut fields = line.split_whitespace();
                let (name, size) = (fields.next()?, fields.next()?.parse::<u64>().ok()?);
                let address = u64::from_str_radix(fields.nth(3)?.trim_start_matches("0x"), 16).ok()?;
                (address != 0).then(|| (address, address.saturating_add(size), format!("[{name}]")))
            })
            .collect();
        modules.sort();
        Self { modules }
    }

    /// The module's name in brackets, or [`KERNEL`].
    pub fn name_of(&self, address: Address) -> &str {
        let after = self.modules.partition_point(|(start, ..)| *start <= address.0);
        match self.modules[..after].last() {
            Some((_, end, name)) if address.0 < *end => name,
            _ => KERNEL,
        }
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
    }
}
