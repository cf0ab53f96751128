//! Which fields of a sample are printed.

use anyhow::anyhow;
use perfdata::RecordedEvent;

/// A field, by perf's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    /// The thread's name.
    Comm,
    /// The process.
    Pid,
    /// The thread.
    Tid,
    /// The CPU.
    Cpu,
    /// When.
    Time,
    /// The event's name.
    Event,
    /// How much of it.
    Period,
    /// Addresses.
    Ip,
    /// Functions.
    Sym,
    /// How far behind the function's start.
    SymOff,
    /// Files.
    Dso,
    /// The address of the data.
    Addr,
    /// The branches before it.
    BrStack,
}

/// Every field and its name.
const ALL: &[(&str, Field)] = &[
    ("comm", Field::Comm),
    ("pid", Field::Pid),
    ("tid", Field::Tid),
    ("cpu", Field::Cpu),
    ("time", Field::Time),
    ("event", Field::Event),
    ("period", Field::Period),
    ("ip", Field::Ip),
    ("sym", Field::Sym),
    ("symoff", Field::SymOff),
    ("dso", Field::Dso),
    ("addr", Field::Addr),
    ("brstack", Field::BrStack),
];

/// What perf prints where nothing is said.
const USUAL: &[Field] = &[
    Field::Comm,
    Field::Tid,
    Field::Cpu,
    Field::Time,
    Field::Period,
    Field::Event,
    Field::Ip,
    Field::Sym,
    Field::SymOff,
    Field::Dso,
];

/// The fields that are printed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fields {
    wanted: Vec<Field>,
    /// Those that the user has named, not those that are printed by themselves.
    named: Vec<Field>,
}

impl Fields {
    /// Reads `comm,ip` or `+addr,-dso`.
    pub fn parse(text: Option<&str>) -> anyhow::Result<Self> {
        let Some(text) = text else { return Ok(Self { wanted: USUAL.to_vec(), named: Vec::new() }) };
        let relative = text.starts_with(['+', '-']);
        let mut named = Vec::new();
        let mut wanted = if relative { USUAL.to_vec() } else { Vec::new() };
        for word in text.split(',') {
            let name = word.trim_start_matches(['+', '-']);
            if word.starts_with(['+', '-']) != relative {
                return Err(anyhow!("`-F {text}`: `+` and `-` stand before each of the fields or before none"));
            }
            let Some((_, field)) = ALL.iter().find(|(known, _)| *known == name) else {
                let known: Vec<_> = ALL.iter().map(|(name, _)| *name).collect();
                return Err(anyhow!("`-F {text}`: there is no field `{name}`; there are {}", known.join(", ")));
            };
            wanted.retain(|known| known != field);
            if !word.starts_with('-') {
                wanted.push(*field);
                named.push(*field);
            }
        }
        let fields = Self { wanted, named };
        for needs_ip in [Field::Sym, Field::SymOff, Field::Dso] {
            if fields.has(needs_ip) && !fields.has(Field::Ip) {
                return Err(anyhow!("`-F {text}`: sym, symoff and dso need ip beside them"));
            }
        }
        Ok(fields)
    }

    /// Refuses a field that the user has named and that samples of no event have.
    pub fn check(&self, events: &[RecordedEvent]) -> anyhow::Result<()> {
        for field in &self.named {
            let (has, option): (fn(&RecordedEvent) -> bool, &str) = match field {
                Field::Cpu => (RecordedEvent::has_cpu, "--sample-cpu"),
                Field::Time => (RecordedEvent::has_time, "-T"),
                Field::Addr => (RecordedEvent::has_data_address, "-d"),
                Field::BrStack => (RecordedEvent::has_branches, "-b"),
                _ => continue,
            };
            if !events.is_empty() && !events.iter().any(has) {
                let name = ALL.iter().find(|(_, known)| known == field).map_or("", |(name, _)| name);
                return Err(anyhow!(
                    "`-F {name}`: the samples of this recording do not say it; leave `{name}` out, or record with \
                     `perf record {option}`"
                ));
            }
        }
        Ok(())
    }

    /// Whether a field is printed.
    pub fn has(&self, field: Field) -> bool {
        self.wanted.contains(&field)
    }

    /// Whether functions have to be looked up.
    pub fn want_names(&self) -> bool {
        self.has(Field::Sym)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named_added_and_left_out() {
        let parse = |text| Fields::parse(Some(text)).map(|fields| fields.wanted);
        assert_eq!(parse("comm,ip").unwrap(), [Field::Comm, Field::Ip]);
        let changed = parse("+addr,-dso").unwrap();
        assert!(changed.contains(&Field::Addr) && !changed.contains(&Field::Dso));
        for bad in ["", "comm,", "weight", "comm,+ip", "sym", "-ip"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert!(Fields::parse(None).unwrap().want_names());
    }
}
