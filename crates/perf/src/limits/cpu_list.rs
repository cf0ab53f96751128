//! Lists of CPUs such as `0,2-3`: what the kernel writes into sysfs and what users write after
//! `-C`.

use model::Cpu;

/// No CPU has a higher number: the kernel's largest `NR_CPUS` is 8192, with room to grow.
const HIGHEST: u32 = 65_535;

/// What is wrong with a list of CPUs.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CpuListError {
    /// There is nothing in it.
    #[error("no CPU is named; write numbers and ranges such as `0,2-3`")]
    Empty,
    /// A part is neither a number nor a range.
    #[error("`{0}` is neither a CPU's number nor a range such as `2-3`")]
    NotANumber(String),
    /// A range ends before it begins.
    #[error("the range `{first}-{last}` runs backwards; write `{last}-{first}`")]
    Reversed {
        /// What stands before the hyphen.
        first: u32,
        /// What stands after it.
        last: u32,
    },
    /// A CPU is not there, or switched off.
    #[error("CPU {cpu} is not online; those that are: {online}")]
    Offline {
        /// The CPU.
        cpu: Cpu,
        /// The CPUs that are online, as a list.
        online: String,
    },
}

/// The CPUs of a list, in ascending order, each once.
///
/// # Errors
/// If it is no such list. Whether the CPUs exist is not looked at;
/// [`Limits::wanted_cpus`](super::Limits::wanted_cpus) does.
pub fn parse_cpu_list(list: &str) -> Result<Vec<Cpu>, CpuListError> {
    let list = list.trim();
    if list.is_empty() {
        return Err(CpuListError::Empty);
    }
    let mut cpus = Vec::new();
    for part in list.split(',').map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| {
            let number = text.trim().parse().ok().filter(|&number: &u32| number <= HIGHEST);
            number.ok_or_else(|| CpuListError::NotANumber(part.to_owned()))
        };
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(CpuListError::Reversed { first, last });
        }
        cpus.extend((first..=last).map(Cpu));
    }
    cpus.sort();
    cpus.dedup();
    Ok(cpus)
}

/// CPUs in ascending order as such a list.
pub(super) fn show(cpus: &[Cpu]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &Cpu(cpu) in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let ranges =
        ranges.iter().map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") });
    ranges.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_shown() {
        for (list, expected, shown) in [
            ("0", &[0][..], "0"),
            ("0-3,5\n", &[0, 1, 2, 3, 5], "0-3,5"),
            ("5, 1-2,2", &[1, 2, 5], "1-2,5"),
            ("7-7", &[7], "7"),
        ] {
            let cpus = parse_cpu_list(list).unwrap();
            assert_eq!(cpus, expected.iter().copied().map(Cpu).collect::<Vec<_>>(), "{list}");
            assert_eq!(show(&cpus), shown);
        }
    }

    #[test]
    fn wrong_lists_say_what_is_wrong() {
        for (list, message) in [
            ("", "no CPU is named; write numbers and ranges such as `0,2-3`"),
            ("1,,2", "`` is neither a CPU's number nor a range such as `2-3`"),
            ("a", "`a` is neither a CPU's number nor a range such as `2-3`"),
            ("1-", "`1-` is neither a CPU's number nor a range such as `2-3`"),
            ("0-4294967295", "`0-4294967295` is neither a CPU's number nor a range such as `2-3`"),
            ("3-1", "the range `3-1` runs backwards; write `1-3`"),
        ] {
            assert_eq!(parse_cpu_list(list).unwrap_err().to_string(), message);
        }
    }
}
