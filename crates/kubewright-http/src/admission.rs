//! The admission of connections: which one is served, and which other one it replaces.
//!
//! A connection without a request can be replaced, and one with a stream if there is no other. The guarantees are in
//! the documentation of the crate.

use std::{
    cmp::Reverse,
    collections::HashMap,
    convert::Infallible,
    hash::{BuildHasher, Hash, RandomState},
    net::IpAddr,
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::{
    sync::{Notify, oneshot},
    time::Instant,
};

use crate::{limits::Limits, peer::Client};

/// Resolves when another connection replaces this one.
pub(crate) type Replaced = oneshot::Receiver<Infallible>;

/// What happens to a new connection.
#[derive(Debug)]
pub(crate) enum Opened {
    Admitted(Slot, Replaced),
    /// It waits until another one ends or is idle.
    Waits,
    Rejected,
}

/// The connections of a server.
#[derive(Debug)]
pub(crate) struct Admission {
    limits: Limits,
    hasher: RandomState,
    state: Mutex<State>,
    /// Notified when a connection ends, or can be replaced.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    connections: HashMap<u64, Entry>,
    addresses: Counts<IpAddr>,
    /// The addresses of the connections of the reserve.
    reserved: Counts<IpAddr>,
    streams: Counts<Client>,
}

/// An open connection.
#[derive(Debug)]
struct Entry {
    address: IpAddr,
    is_reserved: bool,
    /// The number of requests in progress. With pipelining, a response can still be written when the next request
    /// begins.
    requests: usize,
    /// The client that reads a stream.
    stream: Option<Client>,
    /// When the connection was opened, its stream was started, or its last response was written.
    since: Instant,
    /// Closes the connection on drop.
    _open: oneshot::Sender<Infallible>,
}

impl Admission {
    pub(crate) fn new(limits: Limits) -> Self {
        Admission { limits, hasher: RandomState::new(), state: Mutex::default(), changed: Notify::new() }
    }

    /// Returns the client with an address and a user agent.
    pub(crate) fn client(&self, address: IpAddr, user_agent: &[u8]) -> Client {
        Client(self.hasher.hash_one((address, user_agent)))
    }

    /// Adds a connection, which may replace another one.
    pub(crate) fn open(self: &Arc<Self>, address: IpAddr) -> Opened {
        let Limits { max_connections, max_connections_per_peer, reserved_connections, .. } = self.limits;
        let mut state = self.state.lock();
        let is_full_of_address = state.addresses.get(&address) >= max_connections_per_peer.max(1);
        let is_full = is_full_of_address || state.addresses.total >= max_connections.max(1);
        let is_reserved = is_full && reserved_connections > 0;
        if is_reserved {
            if state.reserved.total >= reserved_connections || state.reserved.get(&address) > 0 {
                return Opened::Rejected;
            }
        } else if is_full && !state.replace(is_full_of_address.then_some(address)) {
            return if is_full_of_address { Opened::Rejected } else { Opened::Waits };
        }
        let (slot, replaced) = self.add(&mut state, address, is_reserved);
        Opened::Admitted(slot, replaced)
    }

    fn add(self: &Arc<Self>, state: &mut State, address: IpAddr, is_reserved: bool) -> (Slot, Replaced) {
        let (open, replaced) = oneshot::channel();
        let connection = state.next;
        state.next += 1;
        state.addresses_of(is_reserved).add(address);
        let since = Instant::now();
        let entry = Entry { address, is_reserved, requests: 0, stream: None, since, _open: open };
        state.connections.insert(connection, entry);
        (Slot { admission: Arc::clone(self), connection, is_reserved }, replaced)
    }

    /// Closes a connection that would be replaced by a new one, to free its file descriptor.
    pub(crate) fn make_room(&self) {
        self.state.lock().replace(None);
    }

    /// Waits until [`open`](Self::open) may have another result.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl State {
    fn addresses_of(&mut self, is_reserved: bool) -> &mut Counts<IpAddr> {
        if is_reserved { &mut self.reserved } else { &mut self.addresses }
    }

    /// Closes one connection, of an address or of all. Returns false if each of them has a request in progress.
    fn replace(&mut self, address: Option<IpAddr>) -> bool {
        let in_scope = |entry: &Entry| !entry.is_reserved && address.is_none_or(|address| entry.address == address);
        let candidates = self.connections.iter().filter(|(_, entry)| entry.requests == 0 && in_scope(entry));
        let replaced = candidates.max_by_key(|(connection, entry)| {
            let share = match entry.stream {
                None => self.addresses.get(&entry.address),
                Some(client) => self.streams.get(&client),
            };
            (entry.stream.is_none(), share, Reverse((entry.since, **connection)))
        });
        let Some(connection) = replaced.map(|(connection, _)| *connection) else { return false };
        self.close(connection);
        true
    }

    fn close(&mut self, connection: u64) {
        let Some(entry) = self.connections.remove(&connection) else { return };
        self.addresses_of(entry.is_reserved).remove(&entry.address);
        if let Some(client) = entry.stream {
            self.streams.remove(&client);
        }
    }
}

/// An open connection. It is closed on drop.
#[derive(Debug)]
pub(crate) struct Slot {
    admission: Arc<Admission>,
    connection: u64,
    pub(crate) is_reserved: bool,
}

impl Slot {
    /// Returns the client with an address and a user agent.
    pub(crate) fn client(&self, address: IpAddr, user_agent: &[u8]) -> Client {
        self.admission.client(address, user_agent)
    }

    /// Begins a request, so that the connection is not replaced. Returns `None` if it is already.
    pub(crate) fn begin(&self, client: Client) -> Option<Permit> {
        let mut state = self.admission.state.lock();
        state.connections.get_mut(&self.connection)?.requests += 1;
        let admission = Arc::clone(&self.admission);
        Some(Permit { admission, connection: self.connection, client, is_stream: false })
    }

    /// Never replaces the connection.
    pub(crate) fn keep(&self) {
        if let Some(entry) = self.admission.state.lock().connections.get_mut(&self.connection) {
            entry.requests += 1;
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.admission.state.lock().close(self.connection);
        self.admission.changed.notify_one();
    }
}

/// A request in progress, until it is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    admission: Arc<Admission>,
    connection: u64,
    client: Client,
    is_stream: bool,
}

impl Permit {
    /// The response is a stream: the request is not in progress anymore.
    pub(crate) fn begin_stream(&mut self) {
        let mut state = self.admission.state.lock();
        if let Some(entry) = state.connections.get_mut(&self.connection) {
            entry.requests -= 1;
            (entry.stream, entry.since) = (Some(self.client), Instant::now());
            state.streams.add(self.client);
        }
        drop(state);
        self.is_stream = true;
        self.admission.changed.notify_one();
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.admission.state.lock();
        if let Some(entry) = state.connections.get_mut(&self.connection) {
            entry.since = Instant::now();
            match self.is_stream {
                false => entry.requests -= 1,
                true => {
                    if let Some(client) = entry.stream.take() {
                        state.streams.remove(&client);
                    }
                }
            }
        }
        drop(state);
        self.admission.changed.notify_one();
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
        Counts { total: 0, by_key: HashMap::new() }
    }
}

impl<K: Eq + Hash> Counts<K> {
    fn get(&self, key: &K) -> usize {
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
    use std::{iter, net::Ipv4Addr};

    use super::*;

    fn admission(limits: Limits) -> Arc<Admission> {
        Arc::new(Admission::new(limits))
    }

    fn limited() -> Arc<Admission> {
        admission(Limits { max_connections: 4, max_connections_per_peer: 3, ..Limits::default() })
    }

    fn address(last: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, last).into()
    }

    fn open(admission: &Arc<Admission>, last: u8) -> Option<(Slot, Replaced)> {
        match admission.open(address(last)) {
            Opened::Admitted(slot, replaced) => Some((slot, replaced)),
            Opened::Waits | Opened::Rejected => None,
        }
    }

    fn begin(slot: &Slot, user_agent: &[u8]) -> Option<Permit> {
        slot.begin(slot.client(address(1), user_agent))
    }

    fn is_replaced(replaced: &mut Replaced) -> bool {
        replaced.try_recv() == Err(oneshot::error::TryRecvError::Closed)
    }

    #[test]
    fn clients_differ_in_address_or_user_agent() {
        let admission = limited();
        let client = admission.client(address(1), b"a");
        assert_eq!(client, admission.client(address(1), b"a"));
        assert_ne!(client, admission.client(address(1), b"b"));
        assert_ne!(client, admission.client(address(2), b"a"));
    }

    #[test]
    fn a_new_connection_replaces_the_one_that_waits_longest_of_the_address_with_the_most() {
        let admission = limited();
        let (_other, mut other) = open(&admission, 2).unwrap();
        let (_first, mut first) = open(&admission, 1).unwrap();
        let (second, mut second_replaced) = open(&admission, 1).unwrap();
        let (_third, mut third) = open(&admission, 1).unwrap();
        let (_new, _new_replaced) = open(&admission, 3).unwrap();
        assert!(is_replaced(&mut first) && !is_replaced(&mut other), "4 in total");
        drop(begin(&second, b"").unwrap());
        let (_more, _more_replaced) = open(&admission, 4).unwrap();
        assert!(is_replaced(&mut third), "the second one has waited only since its request");
        assert!(!is_replaced(&mut second_replaced) && !is_replaced(&mut other));
    }

    #[test]
    fn an_address_has_a_maximum_of_connections() {
        let admission = limited();
        let mut opened: Vec<_> = (0..3).filter_map(|_| open(&admission, 1)).collect();
        let _new = open(&admission, 1).unwrap();
        let replaced: Vec<_> = opened.iter_mut().map(|(_, replaced)| is_replaced(replaced)).collect();
        assert_eq!(replaced, [true, false, false]);
    }

    #[test]
    fn without_a_waiting_connection_a_stream_of_the_client_with_the_most_is_replaced() {
        let admission = limited();
        let mut streams: Vec<_> = [("a", 1), ("b", 2), ("b", 1), ("b", 2)]
            .into_iter()
            .map(|(name, host)| {
                let (slot, replaced) = open(&admission, host).unwrap();
                let mut permit = begin(&slot, name.as_bytes()).unwrap();
                permit.begin_stream();
                (replaced, slot, permit)
            })
            .collect();
        let _new = open(&admission, 3).unwrap();
        let replaced: Vec<_> = streams.iter_mut().map(|(replaced, ..)| is_replaced(replaced)).collect();
        assert_eq!(replaced, [false, true, false, false]);
        drop(streams);
        let state = admission.state.lock();
        assert_eq!((state.streams.total, state.addresses.total), (0, 1));
        drop(state);
    }

    #[test]
    fn a_connection_with_a_request_in_progress_is_never_replaced() {
        let admission = limited();
        let busy: Vec<_> = (0..4)
            .map(|host| {
                let (slot, replaced) = open(&admission, host).unwrap();
                (begin(&slot, b"").unwrap(), slot, replaced)
            })
            .collect();
        assert!(matches!(admission.open(address(9)), Opened::Waits));
        drop(busy);
        assert!(open(&admission, 9).is_some());
    }

    #[test]
    fn a_request_on_a_replaced_connection_is_rejected() {
        let admission = limited();
        let (slot, _replaced) = open(&admission, 1).unwrap();
        admission.make_room();
        assert!(begin(&slot, b"").is_none());
    }

    #[test]
    fn a_peer_has_its_share_of_the_connections_and_one_of_the_reserve() {
        let limits =
            Limits { max_connections: 4, max_connections_per_peer: 2, reserved_connections: 16, ..Limits::default() };
        let admission = admission(limits);
        let open_all = |last| iter::from_fn(|| open(&admission, last)).collect::<Vec<_>>();
        let reserved = |slots: &[(Slot, Replaced)]| slots.iter().map(|(slot, _)| slot.is_reserved).collect::<Vec<_>>();
        let (first, second, third) = (open_all(1), open_all(2), open_all(3));
        assert_eq!(reserved(&first), [false, false, true]);
        assert_eq!(reserved(&second), [false, false, true]);
        assert_eq!(reserved(&third), [true]);
        drop(first);
        assert_eq!(reserved(&open_all(3)), [false, false]);
        drop((second, third));
    }
}
