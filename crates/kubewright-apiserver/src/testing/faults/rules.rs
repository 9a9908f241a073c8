//! Rules: which fault applies to which requests, and how often.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use super::{Fault, Faults};
use crate::{testing::requests::Requests, wire::request_info::RequestInfo};

type Decide = dyn Fn(&RequestInfo) -> Option<Fault> + Send + Sync;

/// The rules, in order of precedence. Clones share the counters of the rules.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    rules: Vec<Arc<Entry>>,
    last_id: u64,
}

struct Entry {
    id: u64,
    requests: Requests,
    /// The number of requests that it still applies to; `None` if there is no limit.
    left: Option<AtomicUsize>,
    decide: Box<Decide>,
}

impl Rules {
    /// Adds a rule after the others.
    pub(super) fn add(
        &mut self,
        requests: Requests,
        times: Option<usize>,
        decide: impl Fn(&RequestInfo) -> Option<Fault> + Send + Sync + 'static,
    ) -> u64 {
        self.rules.retain(|rule| !rule.is_used_up());
        self.last_id += 1;
        let rule = Entry { id: self.last_id, requests, left: times.map(AtomicUsize::new), decide: Box::new(decide) };
        self.rules.push(Arc::new(rule));
        self.last_id
    }

    pub(super) fn clear(&mut self) {
        self.rules.clear();
    }

    fn remove(&mut self, id: u64) {
        self.rules.retain(|rule| rule.id != id);
    }

    /// Returns the fault that applies to a request.
    pub(super) fn fault(&self, info: &RequestInfo) -> Option<Fault> {
        self.rules.iter().filter(|rule| rule.requests.contain(info)).find_map(|rule| rule.fault(info))
    }
}

impl Entry {
    fn is_used_up(&self) -> bool {
        self.left.as_ref().is_some_and(|left| left.load(SeqCst) == 0)
    }

    fn fault(&self, info: &RequestInfo) -> Option<Fault> {
        if let Some(left) = &self.left {
            left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).ok()?;
        }
        (self.decide)(info)
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule").field("requests", &self.requests).field("left", &self.left).finish_non_exhaustive()
    }
}

/// A handle to a rule. Dropping it does not remove the rule.
#[derive(Debug, Clone)]
pub struct Rule {
    faults: Faults,
    id: u64,
}

impl Rule {
    pub(super) fn new(faults: Faults, id: u64) -> Self {
        Self { faults, id }
    }

    /// Removes this rule.
    pub fn heal(&self) {
        self.faults.0.state.lock().rules.remove(self.id);
    }
}
