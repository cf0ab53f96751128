//! What a recording says of the machine that it is made on, and of its kernel's memory.

use model::{Address, Body, Event, FileIdentity, FileOffset, Mapping, Pid, TaskIds, Tid};
use std::fs::{self, File};
use std::io::Read as _;

/// This machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Machine {
    /// Its name.
    pub host: String,
    /// The kernel's release.
    pub kernel: String,
    /// The architecture, as uname(2) names it.
    pub architecture: String,
    /// CPUs that are online, and those that there could be.
    pub cpus: (u32, u32),
    /// The CPU's model, from /proc/cpuinfo.
    pub cpu: Option<String>,
    /// Memory in KiB, from /proc/meminfo.
    pub memory_kib: Option<u64>,
}

impl Machine {
    /// Looks at this machine.
    pub fn read() -> Self {
        let system = rustix::system::uname();
        let text = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
        let limits = perf::limits::Limits::read();
        let online = limits.online_cpus.len() as u32;
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        Self {
            host: text(system.nodename()),
            kernel: text(system.release()),
            architecture: text(system.machine()),
            cpus: (online, online),
            cpu: field(&cpuinfo, "model name").map(Into::into),
            memory_kib: field(&meminfo, "MemTotal").and_then(|value| value.split(' ').next()?.parse().ok()),
        }
    }
}

/// The value of the first line `name : value`.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':')).map(str::trim)
}

/// Where the kernel's code lies: its own, then each module's. The name of the first mapping holds a
/// symbol, and its offset is that symbol's address, by which a reader finds out how far the kernel was
/// moved at its start. Nothing where the kernel hides its addresses.
pub fn tell_kernel(sink: &mut dyn FnMut(Event<'_>)) {
    // The kernel's own symbols come first, and its first ones are enough.
    let mut head = Vec::new();
    let _ = File::open("/proc/kallsyms").map(|file| file.take(KALLSYMS_HEAD).read_to_end(&mut head));
    let modules = fs::read_to_string("/proc/modules").unwrap_or_default();
    tell_kernel_of(&String::from_utf8_lossy(&head), &modules, sink);
}

const KALLSYMS_HEAD: u64 = 64 << 10;
/// What the kernel's code takes at most; modules begin behind it.
const KERNEL_EXTENT: u64 = 1 << 30;

fn tell_kernel_of(kallsyms: &str, modules: &str, sink: &mut dyn FnMut(Event<'_>)) {
    let mut tell = |start: u64, len: u64, offset: u64, path: &str| {
        let mapping = Mapping {
            start: Address(start),
            len,
            offset: FileOffset(offset),
            identity: FileIdentity::Unknown,
            path: path.as_bytes(),
            kernel: true,
        };
        let task = TaskIds { pid: Pid(u32::MAX), tid: Tid(0) };
        sink(Event { time: None, cpu: None, task, body: Body::Mapping(mapping) });
    };
    let symbols = kallsyms.lines().filter_map(|line| {
        let (address, rest) = line.split_once(' ')?;
        let address = u64::from_str_radix(address, 16).ok()?;
        Some((address, rest.split_once(' ')?.1))
    });
    let Some((text, name)) =
        symbols.filter(|(address, _)| *address != 0).find(|(_, name)| ["_text", "_stext"].contains(name))
    else {
        return;
    };
    let modules: Vec<_> = modules.lines().filter_map(module).collect();
    let next = modules.iter().map(|(start, ..)| *start).filter(|start| *start > text).min();
    let end = next.unwrap_or(u64::MAX).min(text.saturating_add(KERNEL_EXTENT));
    tell(text, end - text, text, &format!("[kernel.kallsyms]{name}"));
    for (start, len, name) in modules {
        tell(start, len, 0, &format!("[{name}]"));
    }
}

/// A line of /proc/modules (proc_modules(5)): name, size, uses, users, state, address.
fn module(line: &str) -> Option<(u64, u64, &str)> {
    let mut fields = line.split_whitespace();
    let (name, size) = (fields.next()?, fields.next()?.parse().ok()?);
    let start = u64::from_str_radix(fields.nth(3)?.strip_prefix("0x")?, 16).ok()?;
    (start != 0).then_some((start, size, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(kallsyms: &str, modules: &str) -> Vec<(u64, u64, u64, String)> {
        let mut all = Vec::new();
        tell_kernel_of(kallsyms, modules, &mut |event| {
            let Body::Mapping(mapping) = event.body else { panic!() };
            assert!(mapping.kernel);
            let path = String::from_utf8(mapping.path.into()).unwrap();
            all.push((mapping.start.0, mapping.len, mapping.offset.0, path));
        });
        all
    }

    #[test]
    fn the_kernel_and_its_modules_have_their_places() {
        let kallsyms = "0000000000000000 A fixed\nffffffff81000000 T startup_64\nffffffff81000000 T _text\n";
        let modules = "ext4 4096 2 - Live 0xffffffffc0002000\nhidden 8192 0 - Live 0x0000000000000000\n";
        let wanted = [
            (0xffff_ffff_8100_0000, 0x3f00_2000, 0xffff_ffff_8100_0000, "[kernel.kallsyms]_text".to_owned()),
            (0xffff_ffff_c000_2000, 4096, 0, "[ext4]".to_owned()),
        ];
        assert_eq!(told(kallsyms, modules), wanted);
        assert_eq!(told("0000000000000000 T _text\n", modules), []);
    }

    #[test]
    fn fields_have_a_colon_behind_them() {
        assert_eq!(field("processor\t: 0\nmodel name\t: A CPU @ 3 GHz\n", "model name"), Some("A CPU @ 3 GHz"));
        assert_eq!(field("MemTotal:       24 kB\n", "MemTotal"), Some("24 kB"));
        assert_eq!(field("", "MemTotal"), None);
    }
}
