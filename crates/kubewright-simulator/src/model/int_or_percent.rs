//! Numbers that can be percentages: how `maxSurge`, `maxUnavailable` and `minAvailable` are resolved.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

/// How a fraction of a pod is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    Up,
    Down,
}

/// Resolves a number or a percentage of a total. A text that is no percentage is 0; the API server rejects it.
pub(crate) fn resolve(value: &IntOrString, total: i32, round: Round) -> i32 {
    match value {
        IntOrString::Int(number) => *number,
        IntOrString::String(text) => {
            let percent: i64 = text.strip_suffix('%').and_then(|percent| percent.parse().ok()).unwrap_or_default();
            let product = percent.saturating_mul(i64::from(total));
            let rounded = match round {
                Round::Up => product.saturating_add(99).div_euclid(100),
                Round::Down => product.div_euclid(100),
            };
            i32::try_from(rounded).unwrap_or(i32::MAX)
        }
    }
}

/// Resolves the surge, rounded up, and the unavailability, rounded down, of a rolling update. If both are 0, one pod
/// can be unavailable, so that the rollout progresses.
pub(crate) fn resolve_fenceposts(
    max_surge: Option<&IntOrString>,
    max_unavailable: Option<&IntOrString>,
    desired: i32,
) -> (i32, i32) {
    let surge = max_surge.map_or(0, |surge| resolve(surge, desired, Round::Up));
    let unavailable = max_unavailable.map_or(0, |unavailable| resolve(unavailable, desired, Round::Down));
    match (surge, unavailable) {
        (0, 0) => (0, 1),
        resolved => resolved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(text: &str) -> IntOrString {
        IntOrString::String(text.to_owned())
    }

    #[test]
    fn surges_round_up_and_unavailability_rounds_down() {
        for (surge, unavailable, desired, expected) in [
            (percent("25%"), percent("25%"), 10, (3, 2)),
            (percent("25%"), percent("25%"), 2, (1, 0)),
            (percent("0%"), percent("25%"), 2, (0, 1)),
            (IntOrString::Int(2), IntOrString::Int(0), 5, (2, 0)),
        ] {
            assert_eq!(resolve_fenceposts(Some(&surge), Some(&unavailable), desired), expected, "{surge:?}");
        }
    }
}
