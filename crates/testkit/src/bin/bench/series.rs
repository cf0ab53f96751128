//! Numbers of the same kind, one a round.

use std::fmt;

/// One number a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Series(pub(crate) Vec<f64>);

impl Series {
    /// The middle one, or the mean of the two in the middle; NaN of nothing.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.len() {
            0 => f64::NAN,
            odd if odd % 2 == 1 => sorted[odd / 2],
            even => (sorted[even / 2 - 1] + sorted[even / 2]) / 2.0,
        }
    }

    pub(crate) fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::NAN, f64::min)
    }

    pub(crate) fn max(&self) -> f64 {
        self.0.iter().copied().fold(f64::NAN, f64::max)
    }

    /// This divided by `other`, round by round.
    pub(crate) fn ratio_to(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(ours, theirs)| ours / theirs).collect())
    }

    /// This less `other`, round by round.
    pub(crate) fn less(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(ours, theirs)| ours - theirs).collect())
    }
}

impl fmt::Display for Series {
    /// `median (min–max)`, with the precision of the format.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(3);
        write!(f, "{:.digits$} ({:.digits$}–{:.digits$})", self.median(), self.min(), self.max())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(Series(vec![3.0, 1.0, 2.0]).median(), 2.0);
        assert_eq!(Series(vec![4.0, 1.0, 2.0, 3.0]).median(), 2.5);
        assert!(Series::default().median().is_nan());
        assert_eq!(format!("{:.1}", Series(vec![3.0, 1.0, 2.0])), "2.0 (1.0–3.0)");
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        let (ours, theirs) = (Series(vec![1.0, 4.0]), Series(vec![2.0, 2.0]));
        assert_eq!(ours.ratio_to(&theirs), Series(vec![0.5, 2.0]));
        assert_eq!(ours.less(&theirs), Series(vec![-1.0, 2.0]));
    }
}
