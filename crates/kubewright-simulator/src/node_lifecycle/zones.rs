//! The state of zones: how many of their nodes are lost, and how fast pods are evicted.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;

/// The interval between two nodes of a zone whose pods are evicted: 0.1 per second.
const INTERVAL: Duration = Duration::from_secs(10);
/// The interval in large zones of which most nodes are lost: 0.01 per second.
const SLOW_INTERVAL: Duration = Duration::from_secs(100);
/// The number of nodes of a large zone.
const LARGE: usize = 50;

/// The nodes of a zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) ready: usize,
    pub(super) lost: usize,
}

/// How fast the pods of the lost nodes of a zone are evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// No node of the cluster is ready: the controller itself is probably cut off.
    Stopped,
    Every(Duration),
}

/// Limits the evictions of each zone.
#[derive(Default)]
pub(super) struct Limiter {
    next: BTreeMap<String, Instant>,
    paces: BTreeMap<String, Pace>,
    is_all_lost: bool,
}

impl Limiter {
    /// Sets the paces from the nodes of all zones.
    pub(super) fn update(&mut self, zones: &BTreeMap<String, Counts>) {
        self.is_all_lost = zones.values().all(|zone| zone.ready == 0);
        self.paces = zones.iter().map(|(name, zone)| (name.clone(), pace(*zone, self.is_all_lost))).collect();
        self.next.retain(|zone, _| zones.contains_key(zone));
    }

    /// Returns whether no node of the cluster is ready, so that no pod is evicted.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_all_lost
    }

    /// Returns whether the pods of one more node of a zone can be evicted now.
    pub(super) fn try_take(&mut self, zone: &str) -> bool {
        let Some(Pace::Every(interval)) = self.paces.get(zone) else { return false };
        let now = Instant::now();
        if self.next.get(zone).is_some_and(|next| *next > now) {
            return false;
        }
        self.next.insert(zone.to_owned(), now + *interval);
        true
    }
}

fn pace(zone: Counts, is_all_lost: bool) -> Pace {
    let total = zone.ready + zone.lost;
    // The same thresholds as in kube-controller-manager: more than two nodes, and at least 55 % of the zone.
    let is_partial = zone.ready > 0 && zone.lost > 2 && zone.lost * 100 >= total * 55;
    match (is_all_lost, is_partial) {
        (true, _) => Pace::Stopped,
        (false, true) if total > LARGE => Pace::Every(SLOW_INTERVAL),
        (false, true) => Pace::Stopped,
        (false, false) => Pace::Every(INTERVAL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(ready: usize, lost: usize) -> Counts {
        Counts { ready, lost }
    }

    #[test]
    fn evictions_stop_if_most_nodes_of_a_small_zone_are_lost() {
        assert_eq!(pace(zone(5, 1), false), Pace::Every(INTERVAL));
        assert_eq!(pace(zone(2, 3), false), Pace::Stopped);
        assert_eq!(pace(zone(20, 40), false), Pace::Every(SLOW_INTERVAL));
        assert_eq!(pace(zone(0, 3), false), Pace::Every(INTERVAL), "a lost zone is evacuated");
        assert_eq!(pace(zone(0, 3), true), Pace::Stopped, "no node is left");
    }

    #[tokio::test(start_paused = true)]
    async fn the_nodes_of_a_zone_are_tainted_one_after_the_other() {
        let mut limiter = Limiter::default();
        limiter.update(&BTreeMap::from([("a".to_owned(), zone(0, 3)), ("b".to_owned(), zone(1, 0))]));
        assert!(limiter.try_take("a") && !limiter.try_take("a") && limiter.try_take("b"));
        tokio::time::advance(INTERVAL).await;
        assert!(limiter.try_take("a"));
    }
}
