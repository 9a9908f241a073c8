//! A budget of bytes for all peers, of which each peer address has a limited share.

use std::{collections::HashMap, net::IpAddr, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The budget. Clones share it. A peer without a share needs no memory.
///
/// The server reserves the declared length of a body, and waits for it. A service with `usize::MAX` bytes for
/// [all bodies](crate::Limits::max_total_body_bytes) can instead reserve what it has received, without waiting.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    all: Arc<Semaphore>,
    max_per_peer: usize,
    /// The budgets of the peers with a share.
    peers: Mutex<HashMap<IpAddr, Arc<Semaphore>>>,
}

/// The bytes that one request of a peer has reserved. They are returned when it is dropped.
#[derive(Debug)]
pub struct Share {
    shared: Arc<Shared>,
    peer: IpAddr,
    /// `None` while it is dropped.
    budget: Option<Arc<Semaphore>>,
    permits: Vec<OwnedSemaphorePermit>,
}

impl Budget {
    /// Creates a budget in bytes, and the maximum for each peer.
    #[must_use]
    pub fn new(total: usize, max_per_peer: usize) -> Self {
        let [total, max_per_peer] = [total, max_per_peer].map(|bytes| bytes.min(Semaphore::MAX_PERMITS));
        Budget(Arc::new(Shared { all: Arc::new(Semaphore::new(total)), max_per_peer, peers: Mutex::default() }))
    }

    /// Returns an empty share of a peer.
    #[must_use]
    pub fn share(&self, peer: IpAddr) -> Share {
        let peer = peer.to_canonical();
        let new = || Arc::new(Semaphore::new(self.0.max_per_peer));
        let budget = Arc::clone(self.0.peers.lock().entry(peer).or_insert_with(new));
        Share { shared: Arc::clone(&self.0), peer, budget: Some(budget), permits: Vec::new() }
    }

    /// Returns the maximum for each peer, in bytes.
    #[must_use]
    pub fn max_per_peer(&self) -> usize {
        self.0.max_per_peer
    }
}

impl Share {
    /// Waits until these bytes are available, and reserves them. Returns false if they are more than a peer can have.
    pub async fn reserve(&mut self, bytes: usize) -> bool {
        let Some((budget, all, count)) = self.semaphores(bytes) else { return false };
        let Ok(peer_permit) = budget.acquire_many_owned(count).await else { return false };
        let Ok(permit) = all.acquire_many_owned(count).await else { return false };
        self.add([peer_permit, permit]);
        true
    }

    /// Reserves these bytes, and returns whether they are available now.
    pub fn try_reserve(&mut self, bytes: usize) -> bool {
        let Some((budget, all, count)) = self.semaphores(bytes) else { return false };
        let Ok(peer_permit) = budget.try_acquire_many_owned(count) else { return false };
        let Ok(permit) = all.try_acquire_many_owned(count) else { return false };
        self.add([peer_permit, permit]);
        true
    }

    /// Returns the semaphores of the peer and of all, if they have ever so many permits.
    fn semaphores(&self, bytes: usize) -> Option<(Arc<Semaphore>, Arc<Semaphore>, u32)> {
        let count = u32::try_from(bytes).ok().filter(|_| bytes <= self.shared.max_per_peer)?;
        Some((self.budget.clone()?, Arc::clone(&self.shared.all), count))
    }

    fn add(&mut self, added: [OwnedSemaphorePermit; 2]) {
        match self.permits.is_empty() {
            true => self.permits.extend(added),
            false => self.permits.iter_mut().zip(added).for_each(|(permit, added)| permit.merge(added)),
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.permits.clear();
        let mut peers = self.shared.peers.lock();
        self.budget = None;
        // Other shares of the peer have references too.
        if peers.get(&self.peer).is_some_and(|budget| Arc::strong_count(budget) == 1) {
            peers.remove(&self.peer);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::Future,
        net::Ipv4Addr,
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use super::*;

    fn peer(number: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, number).into()
    }

    /// Returns a share with these bytes; `None` if they are not available now.
    fn reserve(budget: &Budget, number: u8, bytes: usize) -> Option<Share> {
        let mut share = budget.share(peer(number));
        let is_reserved = pin!(share.reserve(bytes)).poll(&mut Context::from_waker(Waker::noop()));
        (is_reserved == Poll::Ready(true)).then_some(share)
    }

    #[test]
    fn one_peer_cannot_use_the_memory_of_others() {
        let budget = Budget::new(100, 50);
        let held: Vec<_> = (0..5).map(|_| reserve(&budget, 1, 10).unwrap()).collect();
        assert!(reserve(&budget, 1, 1).is_none(), "it waits");
        let other = reserve(&budget, 2, 10).unwrap();
        drop(held);
        assert!(reserve(&budget, 1, 10).is_some());
        drop(other);
        assert!(budget.0.peers.lock().is_empty(), "nothing remains of peers without bytes");
    }

    #[test]
    fn all_peers_together_cannot_exceed_the_budget() {
        let budget = Budget::new(100, 50);
        let held: Vec<_> = (0..10).map(|number| reserve(&budget, number, 10)).collect();
        assert!(held.iter().all(Option::is_some));
        assert!(reserve(&budget, 11, 1).is_none(), "it waits");
    }

    #[test]
    fn more_than_a_peer_can_have_is_not_waited_for() {
        let budget = Budget::new(100, 50);
        let mut share = budget.share(peer(1));
        let reserved = pin!(share.reserve(51)).poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(reserved, Poll::Ready(false));
        assert!(reserve(&Budget::new(0, 0), 1, 0).is_some());
    }

    #[test]
    fn a_share_grows_without_waiting() {
        let budget = Budget::new(usize::MAX, 10);
        let (mut first, mut second) = (budget.share(peer(1)), budget.share(peer(1)));
        assert!(first.try_reserve(6) && !second.try_reserve(5) && second.try_reserve(4));
        assert!(budget.share(peer(2)).try_reserve(10), "the share of another peer");
        drop(first);
        assert!(second.try_reserve(6));
        drop(second);
        assert!(budget.0.peers.lock().is_empty());
    }
}
