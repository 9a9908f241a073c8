//! What the spec of a Logger declares, in the types of Rust.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kubewright_crd::quantity;
use logger_agent::journal::MAX_DURATION;
use logger_types::{
    duration,
    v2::{LoggerPlacement, LoggerSpec},
};

/// Returns the interval of a spec; `None` if no agent can run with it.
pub(crate) fn interval(spec: &LoggerSpec) -> Option<Duration> {
    let range = Duration::from_secs(1)..=MAX_DURATION;
    duration::parse(&spec.interval).ok().filter(|interval| range.contains(interval))
}

/// Returns the number of bytes, rounded up; `None` if the quantity is not a number of bytes.
pub(crate) fn bytes(quantity: &Quantity) -> Option<u64> {
    const NANOS: i128 = 1_000_000_000;
    let nanos = quantity::Quantity::parse(&quantity.0)?.nanos();
    u64::try_from(nanos / NANOS + i128::from(nanos % NANOS > 0)).ok()
}

/// Returns whether one agent runs on each node, whatever the number of replicas.
pub(crate) fn is_per_node(spec: &LoggerSpec) -> bool {
    spec.placement == Some(LoggerPlacement::PerNode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_of_bytes() {
        for (text, expected) in
            [("16Mi", Some(16 << 20)), ("1k", Some(1000)), ("1500m", Some(2)), ("-1", None), ("x", None)]
        {
            assert_eq!(bytes(&Quantity(text.to_owned())), expected, "{text}");
        }
    }
}
