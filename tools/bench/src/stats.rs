//! Samples of one figure.

use crate::program::Taken;

/// What a program took, run after run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timings {
    /// Seconds by the clock.
    pub(crate) elapsed: Samples,
    /// Seconds computed.
    pub(crate) computed: Samples,
}

impl Timings {
    /// Adds one more run.
    pub(crate) fn push(&mut self, taken: Taken) {
        self.elapsed.push(taken.elapsed);
        self.computed.push(taken.computed);
    }
}

/// What was measured, run after run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    /// The one in the middle; not a number if nothing was measured.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.len() {
            0 => f64::NAN,
            n if n % 2 == 1 => sorted[n / 2],
            n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
        }
    }

    /// All of them, in the order in which they were measured.
    pub(crate) fn all(&self) -> &[f64] {
        &self.0
    }

    /// The best: what the machine can do when nothing else runs.
    pub(crate) fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::NAN, f64::min)
    }

    /// One run after the other, each by the peer's run beside it: what else the machine did weighs on both.
    pub(crate) fn ratios_to(&self, peer: &Samples) -> Samples {
        self.0.iter().zip(&peer.0).map(|(ours, theirs)| ours / theirs).collect()
    }

    /// Adds what was measured in one more run.
    pub(crate) fn push(&mut self, sample: f64) {
        self.0.push(sample);
    }
}

impl FromIterator<f64> for Samples {
    fn from_iter<I: IntoIterator<Item = f64>>(samples: I) -> Self {
        Samples(samples.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples<const N: usize>(samples: [f64; N]) -> Samples {
        samples.into_iter().collect()
    }

    #[test]
    fn the_median_is_the_one_in_the_middle() {
        assert_eq!(samples([9.0, 1.0, 2.0]).median(), 2.0);
        assert_eq!(samples([4.0, 1.0, 2.0, 9.0]).median(), 3.0);
        assert!(samples([]).median().is_nan());
        assert_eq!(samples([3.0, 1.0, 2.0]).min(), 1.0);
    }

    #[test]
    fn ratios_are_taken_run_by_run() {
        let ratios = samples([1.0, 4.0, 3.0]).ratios_to(&samples([2.0, 8.0, 2.0]));
        assert_eq!(ratios.median(), 0.5);
    }
}
