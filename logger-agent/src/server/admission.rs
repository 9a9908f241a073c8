//! The admission of connections: a reserve for probes remains, whatever a peer opens.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::shares::{Share, Shares};

/// The connections beside the limit, for probes and metrics.
const RESERVE: usize = 16;

/// The connections of a server.
///
/// Guarantees:
/// - a peer has at most half of the connections, and one of the reserve;
/// - a connection of the reserve serves one probe.
#[derive(Debug)]
pub(super) struct Admission {
    limit: usize,
    used: Mutex<Used>,
    peers: Arc<Shares>,
    reserve_peers: Arc<Shares>,
}

#[derive(Debug, Default)]
struct Used {
    full: usize,
    reserve: usize,
}

/// What a connection can request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// All endpoints.
    Full,
    /// One health check, or the metrics once.
    Reserve,
}

/// An admitted connection. Its place is free when it is dropped.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) kind: Kind,
    admission: Arc<Admission>,
    _share: Share,
}

impl Admission {
    /// Creates the admission of at most this number of connections, and of the reserve.
    pub(super) fn new(limit: usize) -> Arc<Self> {
        let (limit, peers) = (limit.max(1), Shares::new(limit.div_ceil(2).max(1)));
        Arc::new(Admission { limit, used: Mutex::default(), peers, reserve_peers: Shares::new(1) })
    }

    /// Admits a connection of a peer; `None` if neither the peer nor the reserve has a place.
    pub(super) fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<Admitted> {
        let mut used = self.used();
        let mut share = self.peers.share(peer);
        if used.full < self.limit && share.grow(1) {
            used.full += 1;
            return Some(self.admitted(Kind::Full, share));
        }
        let mut share = self.reserve_peers.share(peer);
        if used.reserve < RESERVE && share.grow(1) {
            used.reserve += 1;
            return Some(self.admitted(Kind::Reserve, share));
        }
        None
    }

    fn admitted(self: &Arc<Self>, kind: Kind, share: Share) -> Admitted {
        Admitted { kind, admission: Arc::clone(self), _share: share }
    }

    /// Ignores poisoning: no panic can leave the numbers inconsistent.
    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut used = self.admission.used();
        match self.kind {
            Kind::Full => used.full = used.full.saturating_sub(1),
            Kind::Reserve => used.reserve = used.reserve.saturating_sub(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{iter, net::Ipv4Addr};

    use super::*;

    #[test]
    fn a_peer_has_half_of_the_connections_and_one_of_the_reserve() {
        let admission = Admission::new(4);
        let peer = |last| IpAddr::from(Ipv4Addr::new(192, 0, 2, last));
        let admit = |last| iter::from_fn(|| admission.admit(peer(last))).collect::<Vec<_>>();
        let kinds = |admitted: &[Admitted]| admitted.iter().map(|admitted| admitted.kind).collect::<Vec<_>>();
        let (first, second, third) = (admit(1), admit(2), admit(3));
        assert_eq!(kinds(&first), [Kind::Full, Kind::Full, Kind::Reserve]);
        assert_eq!(kinds(&second), [Kind::Full, Kind::Full, Kind::Reserve]);
        assert_eq!(kinds(&third), [Kind::Reserve]);
        drop(first);
        assert_eq!(kinds(&admit(3)), [Kind::Full, Kind::Full]);
        drop(second);
        drop(third);
    }
}
