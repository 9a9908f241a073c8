//! The arithmetic of rolling updates, as kube-controller-manager does it.

/// The replicas of one ReplicaSet of a Deployment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Replicas {
    pub(crate) desired: i32,
    pub(crate) available: i32,
}

/// The limits of a rolling update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The number of replicas of the Deployment.
    pub(crate) replicas: i32,
    pub(crate) max_surge: i32,
    pub(crate) max_unavailable: i32,
}

/// Returns how many replicas the new set can have, given the total over all sets.
pub(crate) fn new_set_replicas(limits: Limits, new: i32, total: i32) -> i32 {
    let max_total = limits.replicas + limits.max_surge;
    match total >= max_total {
        true => new,
        false => new + (max_total - total).min(limits.replicas - new),
    }
}

/// Scales old sets down in their order: first replicas that are not available, and then as many available ones as the
/// limits permit. Returns their new numbers.
pub(crate) fn scale_down_old_sets(limits: Limits, new: Replicas, old: &[Replicas]) -> Vec<i32> {
    let mut result: Vec<i32> = old.iter().map(|set| set.desired).collect();
    let total = new.desired + result.iter().sum::<i32>();
    let min_available = limits.replicas - limits.max_unavailable;
    let new_unavailable = new.desired - new.available;
    let mut budget = total - min_available - new_unavailable;
    if budget <= 0 {
        return result;
    }
    for (replicas, set) in result.iter_mut().zip(old) {
        let unhealthy = (*replicas - set.available).clamp(0, budget.max(0));
        *replicas -= unhealthy;
        budget -= unhealthy;
    }
    let available = new.available + old.iter().map(|set| set.available).sum::<i32>();
    let mut surplus = (available - min_available).max(0);
    for replicas in &mut result {
        let removed = (*replicas).min(surplus);
        *replicas -= removed;
        surplus -= removed;
    }
    result
}

/// A set of a Deployment that is scaled while it is rolled out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proportion {
    pub(crate) replicas: i32,
    /// The replicas plus the surge of the Deployment when the set was scaled the last time.
    pub(crate) max_before: i32,
}

/// Distributes a change of the number of replicas over the active sets, in proportion to their sizes. The first one
/// gets what is left over. The sets are sorted: the largest first.
pub(crate) fn scale_proportionally(limits: Limits, sets: &[Proportion]) -> Vec<i32> {
    let total: i32 = sets.iter().map(|set| set.replicas).sum();
    let allowed = if limits.replicas > 0 { limits.replicas + limits.max_surge } else { 0 };
    let to_add = allowed - total;
    let mut added = 0;
    let mut result = Vec::with_capacity(sets.len());
    for set in sets {
        let part = if set.replicas == 0 || to_add == added { 0 } else { part(limits, *set, to_add - added) };
        added += part;
        result.push(set.replicas + part);
    }
    if let Some(first) = result.first_mut() {
        *first = (*first + to_add - added).max(0);
    }
    result
}

/// Returns the change of one set, which is at most what remains.
fn part(limits: Limits, set: Proportion, remaining: i32) -> i32 {
    let fraction = if limits.replicas == 0 {
        -set.replicas
    } else {
        let max = i64::from(limits.replicas + limits.max_surge);
        let before = i64::from(set.max_before.max(1));
        // Rounded to the nearest number.
        let size = (i64::from(set.replicas) * max * 2 + before).div_euclid(before * 2);
        i32::try_from(size).unwrap_or(i32::MAX) - set.replicas
    };
    if remaining > 0 { fraction.min(remaining) } else { fraction.max(remaining) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { replicas: 10, max_surge: 3, max_unavailable: 2 };

    fn replicas(desired: i32, available: i32) -> Replicas {
        Replicas { desired, available }
    }

    #[test]
    fn the_new_set_grows_up_to_the_surge() {
        assert_eq!(new_set_replicas(LIMITS, 0, 10), 3);
        assert_eq!(new_set_replicas(LIMITS, 3, 13), 3);
        assert_eq!(new_set_replicas(LIMITS, 9, 10), 10);
    }

    #[test]
    fn old_sets_shrink_to_the_minimum_of_available_replicas() {
        assert_eq!(scale_down_old_sets(LIMITS, replicas(3, 0), &[replicas(10, 10)]), [8]);
        assert_eq!(scale_down_old_sets(LIMITS, replicas(5, 0), &[replicas(8, 8)]), [8], "nothing can be removed");
        assert_eq!(scale_down_old_sets(LIMITS, replicas(5, 5), &[replicas(8, 8)]), [3]);
    }

    #[test]
    fn replicas_that_are_not_available_are_removed_first() {
        assert_eq!(scale_down_old_sets(LIMITS, replicas(3, 0), &[replicas(4, 0), replicas(6, 6)]), [2, 6]);
        assert_eq!(scale_down_old_sets(LIMITS, replicas(0, 0), &[replicas(10, 9)]), [8]);
    }

    #[test]
    fn a_change_is_distributed_in_proportion() {
        let limits = Limits { replicas: 20, max_surge: 3, max_unavailable: 2 };
        let set = |replicas| Proportion { replicas, max_before: 13 };
        let scaled = scale_proportionally(limits, &[set(8), set(5)]);
        assert_eq!((scaled.iter().sum::<i32>(), scaled[0] > scaled[1]), (23, true));
        let limits = Limits { replicas: 0, ..limits };
        assert_eq!(scale_proportionally(limits, &[set(8), set(5)]), [0, 0]);
    }
}
