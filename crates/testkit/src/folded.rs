//! Reads folded text (`frame;frame;frame WEIGHT`, root first) for assertions. Strict on purpose:
//! what it cannot read, flamel should not have written.

/// One stack and its weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The frames, the root first. What the writer put before them (the thread's name) is one.
    pub frames: Vec<String>,
    /// The weight.
    pub weight: u64,
}

impl Stack {
    /// Whether one of the frames is this one.
    pub fn holds(&self, frame: &str) -> bool {
        self.frames.iter().any(|other| bare(other) == frame)
    }

    /// The innermost frame.
    pub fn leaf(&self) -> &str {
        self.frames.last().map_or("", |frame| bare(frame))
    }
}

/// A folded profile. Frames are compared without the annotations `_[k]`, `_[i]` and `_[j]`
/// (kernel, inlined, generated) that the format's writers put behind names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// The stacks, in the order of the lines.
    pub stacks: Vec<Stack>,
}

impl Folded {
    /// Reads folded text.
    ///
    /// # Panics
    /// At the first line that is not `frames WEIGHT`, with the line.
    pub fn parse(text: &str) -> Self {
        let read = |(index, line): (usize, &str)| {
            let (frames, weight) = line.rsplit_once(' ')?;
            let weight = weight.parse().ok()?;
            let frames: Vec<String> = frames.split(';').map(str::to_owned).collect();
            let whole = frames.iter().all(|frame| !frame.is_empty());
            whole.then_some((index, Stack { frames, weight }))
        };
        let stacks = text
            .lines()
            .enumerate()
            .map(|(index, line)| read((index, line)).unwrap_or_else(|| panic!("line {}: `{line}`", index + 1)).1)
            .collect();
        Self { stacks }
    }

    /// Reads a folded file.
    ///
    /// # Panics
    /// If it cannot be read, is not UTF-8, or as [`Self::parse`] does.
    pub fn read(path: impl AsRef<std::path::Path>) -> Self {
        let path = path.as_ref();
        let text =
            std::fs::read_to_string(path).unwrap_or_else(|error| panic!("reading `{}`: {error}", path.display()));
        Self::parse(&text)
    }

    /// The sum of all weights.
    pub fn total(&self) -> u64 {
        self.stacks.iter().map(|stack| stack.weight).sum()
    }

    /// The share, in percent of the total, of the stacks for which `is_wanted` holds; 0 of nothing.
    pub fn share_where(&self, is_wanted: impl Fn(&Stack) -> bool) -> f64 {
        let wanted: u64 = self.stacks.iter().filter(|stack| is_wanted(stack)).map(|stack| stack.weight).sum();
        if wanted == 0 { 0.0 } else { 100.0 * wanted as f64 / self.total() as f64 }
    }

    /// The share of the stacks that hold `frame`, in percent.
    pub fn share_of(&self, frame: &str) -> f64 {
        self.share_where(|stack| stack.holds(frame))
    }

    /// The share of the stacks that end in `frame`, in percent.
    pub fn self_share_of(&self, frame: &str) -> f64 {
        self.share_where(|stack| stack.leaf() == frame)
    }

    /// The stacks that hold `frame`.
    pub fn only(&self, frame: &str) -> Self {
        Self { stacks: self.stacks.iter().filter(|stack| stack.holds(frame)).cloned().collect() }
    }

    /// Checks that the share of the stacks that hold `frame` lies within `tolerance` points of
    /// `expected` percent.
    ///
    /// # Panics
    /// If it does not, with the largest shares that there are.
    #[track_caller]
    pub fn assert_share(&self, frame: &str, expected: f64, tolerance: f64) {
        let share = self.share_of(frame);
        let off = (share - expected).abs();
        assert!(
            off <= tolerance,
            "{frame} has {share:.2} %, expected {expected:.2} ± {tolerance} %; largest stacks:\n{}",
            self.largest(5)
        );
    }

    /// Checks that there are stacks and each holds `frame`.
    ///
    /// # Panics
    /// If one does not, with the largest of those.
    #[track_caller]
    pub fn assert_every_stack_holds(&self, frame: &str) {
        let stacks = self.stacks.iter().filter(|stack| !stack.holds(frame)).cloned().collect();
        let without = Self { stacks };
        assert!(!self.stacks.is_empty(), "no stack at all, so none with {frame}");
        assert!(
            without.stacks.is_empty(),
            "{} of {} is in stacks without {frame}; the largest:\n{}",
            without.total(),
            self.total(),
            without.largest(5)
        );
    }

    /// The `count` stacks of the largest weights, a line each.
    pub fn largest(&self, count: usize) -> String {
        let mut stacks: Vec<&Stack> = self.stacks.iter().collect();
        stacks.sort_by_key(|stack| std::cmp::Reverse(stack.weight));
        let lines = stacks.iter().take(count).map(|stack| format!("  {} {}\n", stack.frames.join(";"), stack.weight));
        lines.collect()
    }
}

fn bare(frame: &str) -> &str {
    ["_[k]", "_[i]", "_[j]"].iter().find_map(|mark| frame.strip_suffix(mark)).unwrap_or(frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "app;main;work a 60\napp;main;other_[i];sys_read_[k] 30\napp;_start 10\n";

    #[test]
    fn shares_are_of_the_whole() {
        let folded = Folded::parse(TEXT);
        assert_eq!(folded.total(), 100);
        assert_eq!(folded.share_of("main"), 90.0);
        assert_eq!(folded.self_share_of("sys_read"), 30.0);
        assert_eq!(folded.share_of("work a"), 60.0);
        assert_eq!(folded.share_of("nowhere"), 0.0);
        assert_eq!(Folded::default().share_of("main"), 0.0);
        assert_eq!(folded.only("other").total(), 30);
        folded.assert_share("main", 90.4, 0.5);
        folded.assert_every_stack_holds("app");
    }

    #[test]
    #[should_panic(expected = "10 of 100 is in stacks without main")]
    fn a_stack_without_the_frame_is_shown() {
        Folded::parse(TEXT).assert_every_stack_holds("main");
    }

    #[test]
    #[should_panic(expected = "main has 90.00 %, expected 50.00")]
    fn a_share_that_is_off_is_shown() {
        Folded::parse(TEXT).assert_share("main", 50.0, 1.0);
    }

    #[test]
    #[should_panic(expected = "line 2: `a;b`")]
    fn what_is_not_folded_is_refused() {
        Folded::parse("a;b 1\na;b\n");
    }

    #[test]
    #[should_panic(expected = "line 1: `a;;b 1`")]
    fn an_empty_frame_is_refused() {
        Folded::parse("a;;b 1\n");
    }
}
