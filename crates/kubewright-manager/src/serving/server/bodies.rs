//! The memory of request bodies: a budget for all connections of a server, of which one peer gets at most half.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The budget. Clones share it.
///
/// A body reserves its declared length before it is received, and waits while the budget is used: the API server can
/// send several large reviews at a time.
#[derive(Clone, Debug)]
pub(super) struct Bodies(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    all: Arc<Semaphore>,
    share: usize,
    /// The budgets of the peers with a body.
    peers: Mutex<HashMap<IpAddr, Arc<Semaphore>>>,
}

/// The memory of one body, until it is dropped.
#[derive(Debug)]
pub(super) struct Reservation {
    shared: Arc<Shared>,
    peer: IpAddr,
    /// Dropped before the budget of the peer is removed.
    permits: Option<[OwnedSemaphorePermit; 2]>,
}

impl Bodies {
    /// Creates a budget in bytes, which is sufficient for at least one body of the maximum size.
    pub(super) fn new(budget: usize, max_body_size: usize) -> Self {
        let limit = |bytes: usize| bytes.max(max_body_size).min(Semaphore::MAX_PERMITS);
        let (all, share) = (Arc::new(Semaphore::new(limit(budget))), limit(budget / 2));
        Bodies(Arc::new(Shared { all, share, peers: Mutex::default() }))
    }

    /// Waits until there is memory for a body of this size, at most the maximum size. `None` for a larger one.
    pub(super) async fn reserve(&self, peer: IpAddr, bytes: usize) -> Option<Reservation> {
        let bytes = u32::try_from(bytes).ok()?;
        let mut reservation = Reservation { shared: Arc::clone(&self.0), peer, permits: None };
        let of_peer = self.0.budget_of(peer).acquire_many_owned(bytes).await.ok()?;
        let of_all = Arc::clone(&self.0.all).acquire_many_owned(bytes).await.ok()?;
        reservation.permits = Some([of_peer, of_all]);
        Some(reservation)
    }
}

impl Shared {
    fn budget_of(&self, peer: IpAddr) -> Arc<Semaphore> {
        Arc::clone(self.peers().entry(peer).or_insert_with(|| Arc::new(Semaphore::new(self.share))))
    }

    /// Ignores poisoning: no panic can leave the map inconsistent.
    fn peers(&self) -> MutexGuard<'_, HashMap<IpAddr, Arc<Semaphore>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.permits = None;
        let mut peers = self.shared.peers();
        // Permits and waiting bodies have references too.
        if peers.get(&self.peer).is_some_and(|budget| Arc::strong_count(budget) == 1) {
            peers.remove(&self.peer);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use futures::FutureExt;

    use super::*;

    fn peer(number: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, number).into()
    }

    #[test]
    fn one_peer_cannot_use_the_memory_of_others() {
        let bodies = Bodies::new(100, 10);
        let held: Vec<_> = (0..5).map(|_| bodies.reserve(peer(1), 10).now_or_never().unwrap().unwrap()).collect();
        assert!(bodies.reserve(peer(1), 1).now_or_never().is_none(), "it waits");
        let other = bodies.reserve(peer(2), 10).now_or_never().unwrap().unwrap();
        drop(held);
        assert!(bodies.reserve(peer(1), 10).now_or_never().unwrap().is_some());
        drop(other);
        assert!(bodies.0.peers().is_empty(), "nothing remains of peers without bodies");
    }

    #[test]
    fn all_peers_together_cannot_exceed_the_budget() {
        let bodies = Bodies::new(100, 10);
        let held: Vec<_> = (0..10).map(|number| bodies.reserve(peer(number), 10).now_or_never().unwrap()).collect();
        assert!(held.iter().all(Option::is_some));
        assert!(bodies.reserve(peer(11), 1).now_or_never().is_none(), "it waits");
    }

    #[test]
    fn one_body_of_the_maximum_size_always_fits() {
        let bodies = Bodies::new(1, 10);
        assert!(bodies.reserve(peer(1), 10).now_or_never().unwrap().is_some());
        assert!(Bodies::new(0, 0).reserve(peer(1), 0).now_or_never().unwrap().is_some());
    }
}
