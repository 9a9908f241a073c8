//! Samples and their statistics.

use crate::program::Timing;

/// The times of several runs of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timings {
    /// Wall times in seconds.
    pub(crate) elapsed: Samples,
    /// CPU times in seconds.
    pub(crate) cpu_time: Samples,
}

impl Timings {
    /// Adds a run.
    pub(crate) fn push(&mut self, timing: Timing) {
        self.elapsed.push(timing.elapsed);
        self.cpu_time.push(timing.cpu_time);
    }
}

/// The samples of several runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    /// Returns the median, or NaN without samples.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.len() {
            0 => f64::NAN,
            n if n % 2 == 1 => sorted[n / 2],
            n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
        }
    }

    /// Returns the smallest sample that this percentage of the samples does not exceed, or NaN without samples.
    pub(crate) fn percentile(&self, percentage: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (sorted.len() * percentage).div_ceil(100).max(1);
        sorted.get(rank - 1).copied().unwrap_or(f64::NAN)
    }

    /// Returns all samples in the order of measurement.
    pub(crate) fn all(&self) -> &[f64] {
        &self.0
    }

    /// Returns the minimum, the sample with the least influence of other load.
    pub(crate) fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::NAN, f64::min)
    }

    /// Returns the ratio of each sample to the peer's sample of the same round, which other load affects equally.
    pub(crate) fn ratios_to(&self, peer: &Samples) -> Samples {
        self.0.iter().zip(&peer.0).map(|(ours, theirs)| ours / theirs).collect()
    }

    /// Adds a sample.
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
    fn the_median_is_the_middle_sample() {
        assert_eq!(samples([9.0, 1.0, 2.0]).median(), 2.0);
        assert_eq!(samples([4.0, 1.0, 2.0, 9.0]).median(), 3.0);
        assert!(samples([]).median().is_nan());
        assert_eq!(samples([3.0, 1.0, 2.0]).min(), 1.0);
    }

    #[test]
    fn a_percentile_is_a_sample() {
        let hundred: Samples = (1..=100).rev().map(f64::from).collect();
        assert_eq!([1, 50, 99, 100].map(|percentage| hundred.percentile(percentage)), [1.0, 50.0, 99.0, 100.0]);
        assert_eq!(samples([3.0, 1.0]).percentile(99), 3.0);
        assert!(samples([]).percentile(50).is_nan());
    }

    #[test]
    fn ratios_are_computed_per_round() {
        let ratios = samples([1.0, 4.0, 3.0]).ratios_to(&samples([2.0, 8.0, 2.0]));
        assert_eq!(ratios.median(), 0.5);
    }
}
