//! Admission: counts connections and requests, and shares the limits fairly between clients.
//!
//! Guarantees:
//! - One client gets half of the slots, and a new client finds a free one.
//! - A new connection replaces the one that waits longest, of the address with the most connections.
//! - If no connection waits, a new one replaces a watch of the client with the most watches.
//! - A connection with a request in flight is never replaced.

use std::{
    cmp::Reverse,
    collections::HashMap,
    convert::Infallible,
    hash::{BuildHasher, Hash, RandomState},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{sync::oneshot, time::Instant};

use crate::server::serve::limits::Limits;

/// Resolves when another connection replaces this one.
pub(super) type Replaced = oneshot::Receiver<Infallible>;

/// The identity of a client: a hash of its address and user agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Client(u64);

/// Why a request is not admitted.
#[derive(Debug, PartialEq)]
pub(super) enum Rejection {
    /// The client has its share of requests in flight.
    TooManyRequests,
    /// Another connection replaced that of the request.
    Replaced,
}

/// The connections and requests of a server.
#[derive(Debug)]
pub(super) struct Admission {
    pub(super) limits: Limits,
    /// Randomly seeded, so that no client can choose the hash of another one.
    hasher: RandomState,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    connections: HashMap<u64, Entry>,
    addresses: Counts<IpAddr>,
    watches: Counts<Client>,
    reads: Counts<Client>,
    writes: Counts<Client>,
}

/// An open connection.
#[derive(Debug)]
struct Entry {
    address: IpAddr,
    /// The number of requests in flight. With pipelining, a response can still be written when the next request begins.
    requests: usize,
    /// The client whose watch the connection serves.
    watch: Option<Client>,
    /// When the connection was opened, its watch was started, or its last response was written.
    since: Instant,
    /// Closes the connection on drop.
    _open: oneshot::Sender<Infallible>,
}

impl Admission {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, hasher: RandomState::new(), state: Mutex::default() }
    }

    /// Returns the client with an address and a user agent.
    pub(super) fn client(&self, address: IpAddr, user_agent: &[u8]) -> Client {
        Client(self.hasher.hash_one((address, user_agent)))
    }

    /// Adds a connection, which may replace another one. Returns `None` if there are too many and none can be replaced.
    pub(super) fn open(self: &Arc<Self>, address: IpAddr) -> Option<(Slot, Replaced)> {
        let mut state = self.lock();
        let is_full_of_address = state.addresses.of(&address) >= self.limits.max_connections_per_address;
        let is_full = is_full_of_address || state.addresses.total >= self.limits.max_connections;
        if is_full && !state.replace(is_full_of_address.then_some(address)) {
            return None;
        }
        let (open, replaced) = oneshot::channel();
        let connection = state.next;
        state.next += 1;
        state.addresses.add(address);
        let entry = Entry { address, requests: 0, watch: None, since: Instant::now(), _open: open };
        state.connections.insert(connection, entry);
        Some((Slot { admission: Arc::clone(self), connection }, replaced))
    }

    /// Closes a connection that would be replaced by a new one, to free its file descriptor.
    pub(super) fn make_room(&self) {
        self.lock().replace(None);
    }

    /// Admits a request of a client on a connection.
    pub(super) fn begin(
        self: &Arc<Self>,
        connection: u64,
        client: Client,
        is_mutating: bool,
    ) -> Result<RequestPermit, Rejection> {
        let Limits { max_requests_in_flight: reads, max_mutating_requests_in_flight: writes, .. } = self.limits;
        let limit = if is_mutating { writes } else { reads };
        let mut state = self.lock();
        if !state.connections.contains_key(&connection) {
            return Err(Rejection::Replaced);
        }
        let requests = state.requests(is_mutating);
        // Admitted while the client has fewer requests in flight than there are free slots.
        if limit > 0 && requests.total + requests.of(&client) >= limit {
            return Err(Rejection::TooManyRequests);
        }
        requests.add(client);
        if let Some(entry) = state.connections.get_mut(&connection) {
            entry.requests += 1;
        }
        Ok(RequestPermit { admission: Arc::clone(self), connection, client, is_mutating })
    }

    /// Ignores poisoning: the counts are consistent between any two statements that can panic.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn requests(&mut self, is_mutating: bool) -> &mut Counts<Client> {
        if is_mutating { &mut self.writes } else { &mut self.reads }
    }

    /// Closes one connection, of an address or of all. Returns false if each of them has a request in flight.
    fn replace(&mut self, address: Option<IpAddr>) -> bool {
        let in_scope = |entry: &Entry| address.is_none_or(|address| entry.address == address);
        let candidates = self.connections.iter().filter(|(_, entry)| entry.requests == 0 && in_scope(entry));
        let replaced = candidates.max_by_key(|(connection, entry)| {
            let share = match entry.watch {
                None => self.addresses.of(&entry.address),
                Some(client) => self.watches.of(&client),
            };
            (entry.watch.is_none(), share, Reverse((entry.since, **connection)))
        });
        let Some(connection) = replaced.map(|(connection, _)| *connection) else { return false };
        self.close(connection);
        true
    }

    fn close(&mut self, connection: u64) {
        let Some(entry) = self.connections.remove(&connection) else { return };
        self.addresses.remove(&entry.address);
        if let Some(client) = entry.watch {
            self.watches.remove(&client);
        }
    }
}

/// An open connection. It is closed on drop.
#[derive(Debug)]
pub(super) struct Slot {
    admission: Arc<Admission>,
    pub(super) connection: u64,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.admission.lock().close(self.connection);
    }
}

/// A request in flight, until it is dropped.
#[derive(Debug)]
pub(super) struct RequestPermit {
    admission: Arc<Admission>,
    connection: u64,
    client: Client,
    is_mutating: bool,
}

impl RequestPermit {
    /// Converts the request to a watch, which is not in flight.
    pub(super) fn into_watch(self) -> WatchPermit {
        let mut state = self.admission.lock();
        if let Some(entry) = state.connections.get_mut(&self.connection) {
            entry.watch = Some(self.client);
            state.watches.add(self.client);
        }
        drop(state);
        WatchPermit { admission: Arc::clone(&self.admission), connection: self.connection }
    }
}

impl Drop for RequestPermit {
    fn drop(&mut self) {
        let mut state = self.admission.lock();
        state.requests(self.is_mutating).remove(&self.client);
        if let Some(entry) = state.connections.get_mut(&self.connection) {
            entry.requests -= 1;
            entry.since = Instant::now();
        }
    }
}

/// A watch, until it is dropped.
#[derive(Debug)]
pub(super) struct WatchPermit {
    admission: Arc<Admission>,
    connection: u64,
}

impl Drop for WatchPermit {
    fn drop(&mut self) {
        let mut state = self.admission.lock();
        if let Some(entry) = state.connections.get_mut(&self.connection)
            && let Some(client) = entry.watch.take()
        {
            entry.since = Instant::now();
            state.watches.remove(&client);
        }
    }
}

/// How often each key occurs.
#[derive(Debug)]
struct Counts<K> {
    total: usize,
    by_key: HashMap<K, usize>,
}

impl<K> Default for Counts<K> {
    fn default() -> Self {
        Self { total: 0, by_key: HashMap::new() }
    }
}

impl<K: Eq + Hash> Counts<K> {
    fn of(&self, key: &K) -> usize {
        self.by_key.get(key).copied().unwrap_or_default()
    }

    fn add(&mut self, key: K) {
        *self.by_key.entry(key).or_default() += 1;
        self.total += 1;
    }

    fn remove(&mut self, key: &K) {
        let Some(count) = self.by_key.get_mut(key) else { return };
        *count -= 1;
        if *count == 0 {
            self.by_key.remove(key);
        }
        self.total -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const LIMITS: Limits = Limits {
        max_connections: 4,
        max_connections_per_address: 3,
        max_requests_in_flight: 12,
        max_mutating_requests_in_flight: 6,
        handshake_timeout: std::time::Duration::MAX,
        header_timeout: std::time::Duration::MAX,
        request_timeout: std::time::Duration::MAX,
    };

    fn admission() -> Arc<Admission> {
        Arc::new(Admission::new(LIMITS))
    }

    fn address(last: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, last).into()
    }

    fn is_replaced(replaced: &mut Replaced) -> bool {
        replaced.try_recv() == Err(oneshot::error::TryRecvError::Closed)
    }

    /// Begins requests until one is rejected.
    fn saturate(admission: &Arc<Admission>, slot: &Slot, client: Client, is_mutating: bool) -> Vec<RequestPermit> {
        std::iter::from_fn(|| admission.begin(slot.connection, client, is_mutating).ok()).collect()
    }

    #[test]
    fn one_client_gets_half_of_the_slots_and_a_new_client_finds_a_free_one() {
        let admission = admission();
        let (slot, _replaced) = admission.open(address(1)).unwrap();
        let client = |name: &str| admission.client(address(1), name.as_bytes());
        let reads = saturate(&admission, &slot, client("a"), false);
        assert_eq!(reads.len(), 6);
        assert_eq!(saturate(&admission, &slot, client("a"), true).len(), 3, "writes have their own slots");
        let others = saturate(&admission, &slot, client("b"), false);
        assert_eq!(others.len(), 3);
        assert!(admission.begin(slot.connection, client("c"), false).is_ok());
        drop(reads);
        assert_eq!(saturate(&admission, &slot, client("c"), false).len(), 5, "3 of 12 are in flight");
    }

    #[test]
    fn clients_differ_in_address_or_user_agent() {
        let admission = admission();
        let client = admission.client(address(1), b"a");
        assert_eq!(client, admission.client(address(1), b"a"));
        assert_ne!(client, admission.client(address(1), b"b"));
        assert_ne!(client, admission.client(address(2), b"a"));
    }

    #[test]
    fn a_new_connection_replaces_the_one_that_waits_longest_of_the_address_with_the_most() {
        let admission = admission();
        let (_other, mut other) = admission.open(address(2)).unwrap();
        let (_first, mut first) = admission.open(address(1)).unwrap();
        let (second, mut second_replaced) = admission.open(address(1)).unwrap();
        let (_third, mut third) = admission.open(address(1)).unwrap();
        let (_new, _new_replaced) = admission.open(address(3)).unwrap();
        assert!(is_replaced(&mut first) && !is_replaced(&mut other), "4 in total");
        let client = admission.client(address(1), b"");
        drop(admission.begin(second.connection, client, false));
        let (_more, _more_replaced) = admission.open(address(4)).unwrap();
        assert!(is_replaced(&mut third), "the second one has waited only since its request");
        assert!(!is_replaced(&mut second_replaced) && !is_replaced(&mut other));
    }

    #[test]
    fn an_address_has_a_maximum_of_connections() {
        let admission = admission();
        let mut opened: Vec<_> = (0..3).filter_map(|_| admission.open(address(1))).collect();
        let _new = admission.open(address(1)).unwrap();
        let replaced: Vec<_> = opened.iter_mut().map(|(_, replaced)| is_replaced(replaced)).collect();
        assert_eq!(replaced, [true, false, false]);
    }

    #[test]
    fn without_a_waiting_connection_a_watch_of_the_client_with_the_most_is_replaced() {
        let admission = admission();
        let mut watches: Vec<_> = [("a", 1), ("b", 2), ("b", 1), ("b", 2)]
            .into_iter()
            .map(|(name, host)| {
                let (slot, replaced) = admission.open(address(host)).unwrap();
                let client = admission.client(address(1), name.as_bytes());
                let watch = admission.begin(slot.connection, client, false).unwrap().into_watch();
                (replaced, slot, watch)
            })
            .collect();
        assert_eq!(admission.lock().reads.total, 0, "watches are not in flight");
        let _new = admission.open(address(3)).unwrap();
        let replaced: Vec<_> = watches.iter_mut().map(|(replaced, ..)| is_replaced(replaced)).collect();
        assert_eq!(replaced, [false, true, false, false]);
        drop(watches);
        let state = admission.lock();
        assert_eq!((state.watches.total, state.addresses.total), (0, 1));
        drop(state);
    }

    #[test]
    fn a_connection_with_a_request_in_flight_is_never_replaced() {
        let admission = admission();
        let busy: Vec<_> = (0..4)
            .map(|host| {
                let (slot, replaced) = admission.open(address(host)).unwrap();
                let client = admission.client(address(host), b"");
                (admission.begin(slot.connection, client, true).unwrap(), slot, replaced)
            })
            .collect();
        assert!(admission.open(address(9)).is_none());
        drop(busy);
        assert!(admission.open(address(9)).is_some());
    }

    #[test]
    fn a_request_on_a_replaced_connection_is_rejected() {
        let admission = admission();
        let (slot, _replaced) = admission.open(address(1)).unwrap();
        admission.make_room();
        let client = admission.client(address(1), b"");
        assert_eq!(admission.begin(slot.connection, client, false).err(), Some(Rejection::Replaced));
    }
}
