//! The caches of a manager: readiness fails only while none of them is up to date.
//!
//! Caches are no condition of readiness in a manager with webhooks. A list can need its conversion webhook, and the
//! Service of the webhook only has pods that are ready: after all pods were lost, none would ever be ready again.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;

/// The caches of one runnable.
pub(super) struct CacheProbe {
    /// Returns why caches may be outdated; empty if all are up to date.
    pub(super) why_outdated: Box<dyn Fn() -> Vec<String> + Send + Sync>,
    pub(super) is_any_up_to_date: Box<dyn Fn() -> bool + Send + Sync>,
}

/// The caches of all runnables. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Caches(Arc<Shared>);

#[derive(Default)]
struct Shared {
    probes: Mutex<Vec<Arc<CacheProbe>>>,
    has_webhooks: AtomicBool,
}

impl Caches {
    /// Declares that the manager serves webhooks.
    pub(super) fn set_webhooks(&self) {
        self.0.has_webhooks.store(true, Ordering::Relaxed);
    }

    /// Whether readiness includes the caches and what waits for them.
    pub(super) fn are_required(&self) -> bool {
        !self.0.has_webhooks.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, probe: Arc<CacheProbe>) {
        self.0.probes.lock().push(probe);
    }

    /// Checks the caches of a runnable. One that is outdated while others are up to date, such as that of a kind or a
    /// namespace without a permission, is no failure of the process: webhooks, metrics and other controllers work.
    ///
    /// # Errors
    /// Fails with the reasons if no cache of the manager is up to date, unless there are webhooks.
    pub(super) fn check(&self, probe: &CacheProbe) -> Result<(), String> {
        if !self.are_required() {
            return Ok(());
        }
        let reasons = (probe.why_outdated)();
        match reasons.is_empty() || self.is_any_up_to_date() {
            true => Ok(()),
            false => Err(reasons.join("; ")),
        }
    }

    fn is_any_up_to_date(&self) -> bool {
        // A check must not run with the lock.
        let probes = self.0.probes.lock().clone();
        probes.iter().any(|probe| (probe.is_any_up_to_date)())
    }
}

impl fmt::Debug for Caches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caches").field("runnables", &self.0.probes.lock().len()).finish()
    }
}
