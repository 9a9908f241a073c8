//! What each peer address uses of a limited resource: one peer cannot use all of it.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The shares of all peers. A peer without a share needs no memory.
#[derive(Debug)]
pub(super) struct Shares {
    limit: usize,
    used: Mutex<HashMap<IpAddr, usize>>,
}

/// The share of one connection or request of a peer. It is returned when dropped.
#[derive(Debug)]
pub(super) struct Share {
    shares: Arc<Shares>,
    peer: IpAddr,
    amount: usize,
}

impl Shares {
    /// Creates shares of which each peer can use this amount.
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Shares { limit, used: Mutex::default() })
    }

    /// Returns an empty share.
    pub(super) fn share(self: &Arc<Self>, peer: IpAddr) -> Share {
        Share { shares: Arc::clone(self), peer: peer.to_canonical(), amount: 0 }
    }

    /// Returns the amount that each peer can use.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Ignores poisoning: no panic can leave the amounts inconsistent.
    fn used(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// Adds an amount, and returns whether the peer can have it.
    pub(super) fn grow(&mut self, amount: usize) -> bool {
        let mut all = self.shares.used();
        let used = all.get(&self.peer).copied().unwrap_or_default();
        let is_allowed = used.saturating_add(amount) <= self.shares.limit;
        if is_allowed {
            all.insert(self.peer, used + amount);
            self.amount += amount;
        }
        is_allowed
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut all = self.shares.used();
        let Some(used) = all.get_mut(&self.peer) else { return };
        *used = used.saturating_sub(self.amount);
        if *used == 0 {
            all.remove(&self.peer);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn a_peer_has_at_most_its_share() {
        let shares = Shares::new(10);
        let [peer, other] = [1, 2].map(|last| IpAddr::from(Ipv4Addr::new(192, 0, 2, last)));
        let (mut first, mut second) = (shares.share(peer), shares.share(peer));
        assert!(first.grow(6) && !second.grow(5) && second.grow(4));
        assert!(shares.share(other).grow(10), "the share of another peer");
        drop(first);
        assert!(second.grow(6));
        drop(second);
        assert!(shares.used().is_empty());
    }
}
