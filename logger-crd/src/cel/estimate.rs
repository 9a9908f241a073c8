//! Ranges of sizes and costs: nothing overflows, the largest number stands for "unknown".

/// A range of sizes or costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Range {
    pub(super) const ZERO: Range = Range::fixed(0);
    pub(super) const ONE: Range = Range::fixed(1);
    pub(super) const UNKNOWN: Range = Range { min: 0, max: u64::MAX };
    /// What the union of nothing is.
    pub(super) const EMPTY: Range = Range { min: u64::MAX, max: 0 };

    pub(super) const fn new(min: u64, max: u64) -> Self {
        Range { min, max }
    }

    pub(super) const fn fixed(size: u64) -> Self {
        Range::new(size, size)
    }

    pub(super) fn plus(self, other: Range) -> Self {
        Range::new(self.min.saturating_add(other.min), self.max.saturating_add(other.max))
    }

    pub(super) fn times(self, other: Range) -> Self {
        Range::new(self.min.saturating_mul(other.min), self.max.saturating_mul(other.max))
    }

    /// Scaled, and rounded up.
    pub(super) fn scaled(self, factor: f64) -> Self {
        Range::new(scale(self.min, factor), scale(self.max, factor))
    }

    pub(super) fn union(self, other: Range) -> Self {
        Range::new(self.min.min(other.min), self.max.max(other.max))
    }
}

/// A number scaled and rounded up. The conversion from float saturates, as the server's does.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn scale(number: u64, factor: f64) -> u64 {
    (number as f64 * factor).ceil() as u64
}
