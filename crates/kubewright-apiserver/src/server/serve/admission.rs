//! Admission: counts requests in flight, and shares the limits fairly between clients.
//!
//! One client gets half of the slots, and a new client finds a free one.

use std::{collections::HashMap, sync::Arc};

use kubewright_http::Client;
use parking_lot::Mutex;

use crate::server::serve::limits::Limits;

/// The requests in flight of a server.
#[derive(Debug)]
pub(super) struct Admission {
    limits: Limits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    reads: Counts,
    writes: Counts,
}

impl Admission {
    pub(super) fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self { limits, state: Mutex::default() })
    }

    /// Admits a request; `None` if the client has its share of requests in flight.
    pub(super) fn begin(self: &Arc<Self>, client: Client, is_mutating: bool) -> Option<RequestPermit> {
        let Limits { max_requests_in_flight: reads, max_mutating_requests_in_flight: writes, .. } = self.limits;
        let limit = if is_mutating { writes } else { reads };
        let mut state = self.state.lock();
        let requests = state.requests(is_mutating);
        // Admitted while the client has fewer requests in flight than there are free slots.
        if limit > 0 && requests.total + requests.get(client) >= limit {
            return None;
        }
        requests.add(client);
        Some(RequestPermit { admission: Arc::clone(self), client, is_mutating })
    }
}

impl State {
    fn requests(&mut self, is_mutating: bool) -> &mut Counts {
        if is_mutating { &mut self.writes } else { &mut self.reads }
    }
}

/// A request in flight, until it is dropped.
#[derive(Debug)]
pub(super) struct RequestPermit {
    admission: Arc<Admission>,
    client: Client,
    is_mutating: bool,
}

impl Drop for RequestPermit {
    fn drop(&mut self) {
        self.admission.state.lock().requests(self.is_mutating).remove(self.client);
    }
}

/// The number of requests of each client.
#[derive(Debug, Default)]
struct Counts {
    total: usize,
    by_client: HashMap<Client, usize>,
}

impl Counts {
    fn get(&self, client: Client) -> usize {
        self.by_client.get(&client).copied().unwrap_or_default()
    }

    fn add(&mut self, client: Client) {
        *self.by_client.entry(client).or_default() += 1;
        self.total += 1;
    }

    fn remove(&mut self, client: Client) {
        let Some(count) = self.by_client.get_mut(&client) else { return };
        *count -= 1;
        if *count == 0 {
            self.by_client.remove(&client);
        }
        self.total -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Begins requests until one is rejected.
    fn saturate(admission: &Arc<Admission>, client: Client, is_mutating: bool) -> Vec<RequestPermit> {
        std::iter::from_fn(|| admission.begin(client, is_mutating)).collect()
    }

    #[test]
    fn one_client_gets_half_of_the_slots_and_a_new_client_finds_a_free_one() {
        let limits = Limits { max_requests_in_flight: 12, max_mutating_requests_in_flight: 6, ..Limits::default() };
        let admission = Admission::new(limits);
        let [first, second, third] = ["a", "b", "c"].map(Client::from_name);
        let reads = saturate(&admission, first, false);
        assert_eq!(reads.len(), 6);
        assert_eq!(saturate(&admission, first, true).len(), 3, "writes have their own slots");
        let others = saturate(&admission, second, false);
        assert_eq!(others.len(), 3);
        assert!(admission.begin(third, false).is_some());
        drop(reads);
        assert_eq!(saturate(&admission, third, false).len(), 5, "3 of 12 are in flight");
    }
}
