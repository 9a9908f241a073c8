//! Health checks, and what the endpoints `/livez`, `/readyz` and `/healthz` respond.

mod check;
mod endpoint;
mod metrics;
mod response;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use http::StatusCode;
use kubewright_runtime::metrics::Metrics;
use parking_lot::Mutex;

use check::Check;
use endpoint::{Endpoint, Kind};
use response::{Outcome, Report};

/// The checks of a program. Clones share them.
///
/// Liveness checks are for `/livez`, and for its older name `/healthz`: a failure means that only a restart helps.
/// Readiness checks are for `/readyz`.
///
/// Guarantees:
/// - the responses have the format of kube-apiserver: `ok`, or one line for each check on a failure and with
///   `?verbose`. `?exclude=NAME` excludes a check, and `/livez/NAME` runs a single one;
/// - every endpoint has the check `ping`, which always succeeds;
/// - a check that panics fails;
/// - checks run without a lock: a slow one does not delay other requests;
/// - a check that starts to fail, and one that recovers, are logged once with the reason. Every result is counted in
///   `kubernetes_healthchecks_total`, and `kubernetes_healthcheck` is the last one.
///
/// ```
/// use kubewright_manager::HealthChecks;
///
/// # fn main() -> Result<(), kubewright_manager::health::AddCheckError> {
/// let checks = HealthChecks::new();
/// checks.add_ready("database", || Err("no connection"))?;
///
/// let (status, text) = checks.respond("/readyz", "");
/// assert_eq!(status, 500);
/// assert_eq!(text, "[+]ping ok\n[-]database failed: no connection\nreadyz check failed\n");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct HealthChecks(Arc<Shared>);

struct Shared {
    live: Mutex<Vec<Arc<Check>>>,
    ready: Mutex<Vec<Arc<Check>>>,
    metrics: Mutex<Metrics>,
    withholds_reasons: AtomicBool,
}

/// A check that cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddCheckError {
    /// There is a check of this name at the endpoint.
    #[error("duplicate {endpoint} check `{name}`: use another name")]
    Duplicate {
        /// `livez` or `readyz`.
        endpoint: &'static str,
        /// The name.
        name: String,
    },
    /// The name cannot be part of a URL.
    #[error("invalid name of a check `{name}`: expected letters, digits, `-`, `_` and `.`")]
    InvalidName {
        /// The name.
        name: String,
    },
}

impl HealthChecks {
    /// Creates the check `ping`, and no others.
    pub fn new() -> Self {
        let ping = || vec![Arc::new(Check::new("ping".to_owned(), || Ok(())))];
        HealthChecks(Arc::new(Shared {
            live: Mutex::new(ping()),
            ready: Mutex::new(ping()),
            metrics: Mutex::new(Metrics::default()),
            withholds_reasons: AtomicBool::new(false),
        }))
    }

    /// Adds a liveness check. It must be fast: it runs for every request, on the thread of the request.
    ///
    /// # Errors
    /// Fails if there is a liveness check of this name, or the name cannot be part of a URL.
    pub fn add_live<E: fmt::Display>(
        &self,
        name: impl Into<String>,
        check: impl Fn() -> Result<(), E> + Send + Sync + 'static,
    ) -> Result<(), AddCheckError> {
        self.add(Kind::Live, name.into(), check)
    }

    /// Adds a readiness check. It must be fast: it runs for every request, on the thread of the request.
    ///
    /// # Errors
    /// Fails if there is a readiness check of this name, or the name cannot be part of a URL.
    pub fn add_ready<E: fmt::Display>(
        &self,
        name: impl Into<String>,
        check: impl Fn() -> Result<(), E> + Send + Sync + 'static,
    ) -> Result<(), AddCheckError> {
        self.add(Kind::Ready, name.into(), check)
    }

    /// Sets where the metrics are collected; nowhere by default.
    pub fn set_metrics(&self, metrics: Metrics) {
        *self.0.metrics.lock() = metrics;
    }

    /// Replaces the reasons of failures by `reason withheld`, as kube-apiserver does, for endpoints that clients
    /// outside the cluster can reach. The reasons are logged in any case.
    pub fn withhold_reasons(&self) {
        self.0.withholds_reasons.store(true, Ordering::Relaxed);
    }

    /// Responds to a GET request: returns the status and the body, which is plain text. The query is that of the URL,
    /// without the question mark, such as `verbose&exclude=ping`.
    ///
    /// | status | meaning |
    /// |---|---|
    /// | 200 | every check succeeded |
    /// | 404 | there is no such endpoint or check |
    /// | 500 | a check failed |
    pub fn respond(&self, path: &str, query: &str) -> (StatusCode, String) {
        let Some((endpoint, name)) = Endpoint::parse(path) else { return response::not_found() };
        match name {
            Some(name) => self.respond_single(endpoint, name),
            None => self.respond_all(endpoint, query),
        }
    }

    fn respond_all(&self, endpoint: Endpoint, query: &str) -> (StatusCode, String) {
        let mut options = response::Options::parse(query);
        let mut report = Report::new(endpoint, self.0.withholds_reasons.load(Ordering::Relaxed));
        for check in self.checks(endpoint.kind()) {
            match options.exclude(check.name()) {
                true => report.add(check.name(), &Outcome::Excluded),
                false => report.add(check.name(), &self.run(endpoint, &check).into()),
            }
        }
        report.finish(&options)
    }

    fn respond_single(&self, endpoint: Endpoint, name: &str) -> (StatusCode, String) {
        let checks = self.checks(endpoint.kind());
        let Some(check) = checks.iter().find(|check| check.name() == name) else { return response::not_found() };
        response::single(self.run(endpoint, check), self.0.withholds_reasons.load(Ordering::Relaxed))
    }

    /// Runs a check, records its result, and logs a change.
    fn run(&self, endpoint: Endpoint, check: &Check) -> Result<(), String> {
        let result = check.run();
        let metrics = self.0.metrics.lock().clone();
        metrics::record(&metrics, endpoint.name(), check.name(), result.is_ok());
        match (&result, check.replace_failing(result.is_err())) {
            (Err(reason), false) => tracing::warn!(endpoint = endpoint.name(), check = check.name(), reason, "failed"),
            (Ok(()), true) => tracing::info!(endpoint = endpoint.name(), check = check.name(), "recovered"),
            _ => {}
        }
        result
    }

    fn add<E: fmt::Display>(
        &self,
        kind: Kind,
        name: String,
        check: impl Fn() -> Result<(), E> + Send + Sync + 'static,
    ) -> Result<(), AddCheckError> {
        let is_valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(is_valid) {
            return Err(AddCheckError::InvalidName { name });
        }
        let mut checks = self.list(kind).lock();
        if checks.iter().any(|check| check.name() == name) {
            return Err(AddCheckError::Duplicate { endpoint: kind.name(), name });
        }
        checks.push(Arc::new(Check::new(name, move || check().map_err(|error| error.to_string()))));
        Ok(())
    }

    fn checks(&self, kind: Kind) -> Vec<Arc<Check>> {
        self.list(kind).lock().clone()
    }

    fn list(&self, kind: Kind) -> &Mutex<Vec<Arc<Check>>> {
        match kind {
            Kind::Live => &self.0.live,
            Kind::Ready => &self.0.ready,
        }
    }
}

impl Default for HealthChecks {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for HealthChecks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |kind| self.checks(kind).iter().map(|check| check.name().to_owned()).collect::<Vec<_>>();
        let mut debug = f.debug_struct("HealthChecks");
        debug.field("live", &names(Kind::Live)).field("ready", &names(Kind::Ready)).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
