//! Ranges of sizes and costs. Arithmetic saturates: the maximum `u64` stands for an unknown size.

use super::constants::STRING_TRAVERSAL_COST_FACTOR;

/// A range of sizes or costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Estimate {
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Estimate {
    pub(super) const ZERO: Estimate = Estimate::fixed(0);
    pub(super) const ONE: Estimate = Estimate::fixed(1);
    pub(super) const UNKNOWN: Estimate = Estimate { min: 0, max: u64::MAX };
    /// The neutral element of [`union`](Self::union).
    pub(super) const EMPTY: Estimate = Estimate { min: u64::MAX, max: 0 };

    pub(super) const fn new(min: u64, max: u64) -> Self {
        Estimate { min, max }
    }

    pub(super) const fn fixed(size: u64) -> Self {
        Estimate::new(size, size)
    }

    pub(super) fn add(self, other: Estimate) -> Self {
        Estimate::new(self.min.saturating_add(other.min), self.max.saturating_add(other.max))
    }

    pub(super) fn multiply(self, other: Estimate) -> Self {
        Estimate::new(self.min.saturating_mul(other.min), self.max.saturating_mul(other.max))
    }

    /// Multiplies by a cost factor and rounds up.
    pub(super) fn multiply_by_factor(self, factor: f64) -> Self {
        Estimate::new(multiply_by_factor(self.min, factor), multiply_by_factor(self.max, factor))
    }

    /// The cost of traversing a string or list of this size.
    pub(super) fn traversal_cost(self) -> Self {
        self.multiply_by_factor(STRING_TRAVERSAL_COST_FACTOR)
    }

    pub(super) fn union(self, other: Estimate) -> Self {
        Estimate::new(self.min.min(other.min), self.max.max(other.max))
    }
}

/// Multiplies by a cost factor and rounds up. The conversion from float saturates, as the server's does.
pub(super) fn multiply_by_factor(number: u64, factor: f64) -> u64 {
    (number as f64 * factor).ceil() as u64
}
