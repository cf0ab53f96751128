//! Modifiers: the letters after an event's name.

use std::fmt;

/// How exact a sample's address is to be: `precise_ip` of `struct perf_event_attr`, from 0 (any
/// skid) over 1 (constant skid) and 2 (no skid asked for) to 3 (no skid).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Precision {
    /// This level, or the event is refused: one `p` a level.
    Exactly(u8),
    /// As exact as the machine can, from this level downwards: `P`.
    AtMost(u8),
}

impl Precision {
    /// The highest level there is.
    pub const HIGHEST: u8 = 3;

    /// The level to be asked for.
    pub const fn level(self) -> u8 {
        match self {
            Self::Exactly(level) | Self::AtMost(level) => level,
        }
    }
}

/// What of an event is counted, and how.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Modifiers {
    /// What happens in user space (`u`).
    pub user: bool,
    /// What happens in the kernel (`k`).
    pub kernel: bool,
    /// What happens in the hypervisor (`h`).
    pub hypervisor: bool,
    /// What happens in this machine itself (`H`).
    pub host: bool,
    /// What happens in its virtual machines (`G`); left out unless asked for, but see [`Self::parse`].
    pub guest: bool,
    /// What happens while a CPU idles (false with `I`).
    pub idle: bool,
    /// How exact addresses are to be (`p`, `P`).
    pub precision: Precision,
    /// Always on a counter, or in an error state (`D`).
    pub pinned: bool,
    /// Alone on the processor's counters (`e`).
    pub exclusive: bool,
}

impl Default for Modifiers {
    fn default() -> Self {
        Self {
            user: true,
            kernel: true,
            hypervisor: true,
            host: true,
            guest: false,
            idle: true,
            precision: Precision::Exactly(0),
            pinned: false,
            exclusive: false,
        }
    }
}

/// What is wrong with modifiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ModifierError {
    /// There is no such letter.
    #[error(
        "there is no modifier `{0}`; there are u, k, h (user, kernel, hypervisor), G, H (guests, host), I (not idle), p to ppp, P (precision), D (pinned), e (exclusive)"
    )]
    Unknown(char),
    /// A letter other than `p` stands twice.
    #[error("the modifier `{0}` stands twice")]
    Twice(char),
    /// More than three times `p`.
    #[error("precision ends at `ppp`")]
    TooPrecise,
    /// `p` and `P` together.
    #[error("`p` asks for one level of precision and `P` for the highest there is: give one of them")]
    BothPrecisions,
    /// A modifier that speaks of a group of counters.
    #[error("the modifier `{0}` speaks of a group of events, and flamel samples events one by one: leave it out")]
    ForGroups(char),
    /// A modifier that lets a BPF program count.
    #[error("the modifier `b` counts in a BPF program, which takes no samples: leave it out")]
    BpfCounter,
}

/// All letters that have a meaning to perf, in the order in which they are shown.
const LETTERS: &str = "ukhGHIpPDeSWb";

impl Modifiers {
    /// Whether `text` is made of modifier letters only, right or wrong in their number.
    pub(super) fn looks_like(text: &str) -> bool {
        text.chars().all(|letter| LETTERS.contains(letter))
    }

    /// The modifiers `text`, as in perf: where one of `u`, `k`, `h` is given the others are left
    /// out, the same goes for `G` and `H`.
    ///
    /// Guests are left out unless `G` is given, also for `:k`, `:h`, `:I`, `:D` and `:e`, where
    /// perf (6.1) includes them without being asked. With `P` they are included, as in perf: AMD's
    /// precise events refuse to leave them out.
    pub fn parse(text: &str) -> Result<Self, ModifierError> {
        for (index, letter) in text.char_indices() {
            match letter {
                'S' | 'W' => return Err(ModifierError::ForGroups(letter)),
                'b' => return Err(ModifierError::BpfCounter),
                'p' => {}
                _ if !LETTERS.contains(letter) => return Err(ModifierError::Unknown(letter)),
                _ if text[..index].contains(letter) => return Err(ModifierError::Twice(letter)),
                _ => {}
            }
        }
        let given = |letter: char| text.contains(letter);
        let level = text.matches('p').count();
        if level > usize::from(Precision::HIGHEST) {
            return Err(ModifierError::TooPrecise);
        }
        if level > 0 && given('P') {
            return Err(ModifierError::BothPrecisions);
        }
        let any_side = given('u') || given('k') || given('h');
        let any_machine = given('G') || given('H');
        Ok(Self {
            user: !any_side || given('u'),
            kernel: !any_side || given('k'),
            hypervisor: !any_side || given('h'),
            host: !any_machine || given('H'),
            guest: given('G') || (given('P') && !any_machine),
            idle: !given('I'),
            precision: if given('P') { Precision::AtMost(Precision::HIGHEST) } else { Precision::Exactly(level as u8) },
            pinned: given('D'),
            exclusive: given('e'),
        })
    }

    /// Whether nothing but user space is counted.
    pub fn is_user_only(self) -> bool {
        self.user && !self.kernel && !self.hypervisor
    }

    /// Whether no modifier is given.
    pub fn is_default(self) -> bool {
        self == Self::default()
    }
}

impl fmt::Display for Modifiers {
    /// The letters, which read back as the same modifiers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all_sides = self.user && self.kernel && self.hypervisor;
        let precise_with_guests = matches!(self.precision, Precision::AtMost(_)) && self.guest && self.host;
        let usual_machines = self.host && !self.guest && !matches!(self.precision, Precision::AtMost(_));
        let machines = !usual_machines && !precise_with_guests;
        let letters = [
            (!all_sides && self.user, "u"),
            (!all_sides && self.kernel, "k"),
            (!all_sides && self.hypervisor, "h"),
            (machines && self.guest, "G"),
            (machines && self.host, "H"),
            (!self.idle, "I"),
            (matches!(self.precision, Precision::AtMost(_)), "P"),
            (self.precision == Precision::Exactly(1), "p"),
            (self.precision == Precision::Exactly(2), "pp"),
            (self.precision == Precision::Exactly(3), "ppp"),
            (self.pinned, "D"),
            (self.exclusive, "e"),
        ];
        letters.iter().filter(|(given, _)| *given).try_for_each(|(_, letter)| f.write_str(letter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_read_back_as_they_are_shown() {
        for text in [
            "", "u", "k", "h", "uk", "uh", "kh", "G", "GH", "uG", "kG", "I", "p", "pp", "ppp", "P", "D", "e", "ukIpDe",
            "HP",
        ] {
            let modifiers = Modifiers::parse(text).unwrap();
            assert_eq!(modifiers.to_string(), text, "shown");
            assert_eq!(modifiers.is_default(), text.is_empty());
        }
        // What is the same without the letters is shown without them.
        for (text, shown) in [("ukh", ""), ("H", ""), ("pup", "upp"), ("ku", "uk")] {
            assert_eq!(Modifiers::parse(text).unwrap().to_string(), shown);
        }
    }

    #[test]
    fn wrong_modifiers_say_what_is_wrong() {
        for (text, error) in [
            ("uu", ModifierError::Twice('u')),
            ("pppp", ModifierError::TooPrecise),
            ("pP", ModifierError::BothPrecisions),
            ("z", ModifierError::Unknown('z')),
            ("uS", ModifierError::ForGroups('S')),
            ("W", ModifierError::ForGroups('W')),
            ("b", ModifierError::BpfCounter),
        ] {
            assert_eq!(Modifiers::parse(text), Err(error), "{text}");
        }
    }
}
