//! Certificates of webhooks that the operator issues and rotates itself, without cert-manager.

mod config;
mod error;
mod issue;
mod material;
mod metrics;
mod rotation;
mod secret;
mod targets;

use std::{fmt, sync::Arc, time::Duration};

use futures::StreamExt;
use jiff::Timestamp;
use kube::Client;
use kubewright_core::description::OperatorDescription;
use kubewright_runtime::{
    CancellationToken,
    reflector::{Backoff, ExponentialBackoff},
};
use parking_lot::Mutex;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

pub use config::SelfManagedConfig;
pub use error::SelfManagedError;

use super::{Certificates, pair::Pair};
use issue::Rcgen;
use material::Material;
use metrics::RotationMetrics;
use rotation::{Decision, Observed, Reason, Rotation};
use secret::{Store, Stored};
use targets::{Target, Targets};

/// The interval in which processes other than the leader read the objects with a CA bundle.
const FOLLOWER_INTERVAL: Duration = Duration::from_secs(60);
/// The pause after a write: its result is received by the watch, or read again.
const PAUSE: Duration = Duration::from_secs(1);

/// Issues and rotates the certificates of webhooks.
///
/// The certificate, its authority and their keys are in one Secret, which all replicas watch. The CA bundles of the
/// webhook configurations and definitions are written by server-side apply, as a dedicated field manager and without
/// other fields.
///
/// Guarantees:
/// - while replicas and the API server run, every certificate in use is trusted: a new authority is in all objects for
///   a [delay](SelfManagedConfig::publication_delay) before it signs, and a former one remains until its certificates
///   are not used anymore;
/// - only the leader rotates. As long as there is no usable certificate, every replica issues it: the caches for which
///   a leader waits can need a conversion webhook;
/// - each write of the Secret fails if it was changed meanwhile, and is repeated from its new contents;
/// - a Secret that is deleted or damaged is replaced. Replicas continue with the last valid certificate;
/// - only objects whose webhooks are in this operator are changed, and only their CA bundles. If cert-manager injects
///   one, nothing is changed, and [`check`](Self::check) fails;
/// - keys are ECDSA on P-256, never logged and never part of an error.
///
/// It is a runnable of each process; [`rotation`](Self::rotation) is one of the leader.
#[derive(Clone)]
pub struct SelfManaged(Arc<Shared>);

/// The runnable of the leader that lets its process rotate [`SelfManaged`] certificates.
#[derive(Debug)]
#[must_use = "certificates are only rotated while it runs"]
pub struct SelfManagedRotation(SelfManaged);

struct Shared {
    config: SelfManagedConfig,
    certificates: Certificates,
    store: Store,
    targets: Targets,
    metrics: RotationMetrics,
    is_leader: watch::Sender<bool>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The certificate in use, in PEM format.
    used: Option<String>,
    /// The last logged problems of the Secret.
    problems: Vec<String>,
    error: Option<SelfManagedError>,
}

impl SelfManaged {
    /// Creates the certificates of webhooks. Nothing is read or written until they are run.
    ///
    /// # Errors
    /// Fails if a lifetime is too short.
    pub fn new(client: Client, config: SelfManagedConfig) -> Result<Self, SelfManagedError> {
        config.check()?;
        let certificates = Certificates::from_secret(config.secret_name()).metrics(&config.metrics, "webhook");
        Ok(SelfManaged(Arc::new(Shared {
            certificates,
            store: Store::new(client.clone(), &config),
            targets: Targets::new(client, &config),
            metrics: RotationMetrics::new(&config.metrics),
            config,
            is_leader: watch::Sender::new(false),
            state: Mutex::default(),
        })))
    }

    /// Returns the certificates, for a [`Server`](crate::serving::Server). The server is ready when there is one.
    #[must_use]
    pub fn certificates(&self) -> Certificates {
        self.0.certificates.clone()
    }

    /// Returns the runnable of the leader.
    pub fn rotation(&self) -> SelfManagedRotation {
        SelfManagedRotation(self.clone())
    }

    /// Describes the permissions: to read and write one Secret, and the CA bundles.
    #[must_use]
    pub fn describe(&self) -> OperatorDescription {
        let config = &self.0.config;
        match Store::permissions(config) {
            Some(secret) => {
                OperatorDescription::from_permissions([secret].into_iter().chain(Targets::permissions(config)))
            }
            // Outside of the cluster, the user of the kubeconfig writes the bundles.
            None => OperatorDescription::default(),
        }
    }

    /// Checks that the certificates can be managed: the check of readiness.
    ///
    /// # Errors
    /// Fails if another program manages a CA bundle.
    pub fn check(&self) -> Result<(), String> {
        match &self.0.state.lock().error {
            Some(error @ SelfManagedError::ForeignAuthority { .. }) => Err(error.to_string()),
            _ => Ok(()),
        }
    }

    /// Checks that the watch of the Secret is not silent: the check of liveness.
    ///
    /// # Errors
    /// Fails if the API server has not responded for too long.
    pub fn check_watch(&self) -> Result<(), String> {
        match &self.0.store {
            Store::Secret(secret) => secret.informer.check_watches().map_err(|silent| silent.to_string()),
            Store::Memory(_) => Ok(()),
        }
    }

    /// Returns the last error; `None` if the last step succeeded.
    #[must_use]
    pub fn last_error(&self) -> Option<String> {
        self.0.state.lock().error.as_ref().map(ToString::to_string)
    }

    /// Watches the Secret, uses its certificate, and issues and publishes what is missing, until cancelled. Errors are
    /// logged and retried.
    ///
    /// # Errors
    /// Fails if the watch ends.
    pub async fn run(&self, cancelled: CancellationToken) -> Result<(), SelfManagedError> {
        tokio::select! {
            biased;
            result = self.0.store.run(cancelled.clone()) => result,
            result = self.work() => result,
        }
    }

    /// Works until dropped.
    async fn work(&self) -> Result<(), SelfManagedError> {
        let mut changes = match &self.0.store {
            Store::Secret(secret) => {
                let synced = secret.informer.wait_for_sync().await;
                synced.map_err(|error| SelfManagedError::Watch(error.to_string()))?;
                let events = secret.informer.events().map_err(|error| SelfManagedError::Watch(error.to_string()))?;
                events.map(drop).left_stream()
            }
            Store::Memory(_) => futures::stream::pending().right_stream(),
        };
        let mut is_leader = self.0.is_leader.subscribe();
        let mut backoff = ExponentialBackoff::new(PAUSE, FOLLOWER_INTERVAL).jitter(0.2);
        loop {
            is_leader.mark_unchanged();
            let result = self.step().await;
            let pause = match &result {
                Ok(pause) => *pause,
                Err(_) => backoff.delay(Instant::now()),
            };
            self.report(result.err());
            tokio::select! {
                _ = changes.next() => {}
                _ = is_leader.changed() => {}
                () = sleep(pause) => {}
            }
        }
    }

    /// Uses the stored certificate, and does what is due. Returns how long nothing is due unless something changes.
    async fn step(&self) -> Result<Duration, SelfManagedError> {
        let Shared { config, store, targets, .. } = &*self.0;
        let Stored { material, problems, version, revocation } = store.read();
        self.report_problems(problems);
        self.use_leaf(&material);
        let targets_found = targets.read().await?;
        for target in &targets_found {
            targets.release(target).await?;
        }
        let entries = targets_found.iter().flat_map(|target| &target.entries);
        let bundles: Vec<_> = entries.map(|entry| entry.bundle.clone()).collect();
        let (now, is_leader) = (Timestamp::now(), *self.0.is_leader.borrow());
        let rotation = Rotation { policy: config.policy, names: &config.host_names, issuer: &Rcgen };
        let observed = Observed { bundles: &bundles, revocation: revocation.as_deref(), now, is_leader };
        let decision = rotation.decide(&material, &observed);
        match decision.map_err(|reason| SelfManagedError::Issue { reason })? {
            Decision::Store(material, reason) => self.store(&material, version, reason).await,
            Decision::Publish(bundle) => self.publish(&targets_found, &bundle).await,
            Decision::Wait(until) => {
                let interval = if is_leader { config.poll_interval } else { FOLLOWER_INTERVAL };
                Ok(Duration::try_from(until.duration_since(now)).unwrap_or(interval).min(interval))
            }
        }
    }

    async fn store(
        &self,
        material: &Material,
        version: Option<String>,
        reason: Reason,
    ) -> Result<Duration, SelfManagedError> {
        let Shared { config, store, metrics, .. } = &*self.0;
        let is_stored = store.write(material, version).await?;
        if is_stored {
            tracing::info!(secret = config.secret_name(), "{}", reason.describe());
            metrics.changed();
        }
        match store {
            Store::Secret(_) => Ok(PAUSE),
            Store::Memory(_) => Ok(Duration::ZERO),
        }
    }

    /// Writes the bundle to the objects that have another one.
    async fn publish(&self, targets: &[Target], bundle: &str) -> Result<Duration, SelfManagedError> {
        for target in targets {
            if target.entries.iter().any(|entry| entry.bundle.as_deref() != Some(bundle)) {
                self.0.targets.publish(target, bundle).await?;
            }
        }
        Ok(PAUSE.min(self.0.config.poll_interval))
    }

    /// Uses the certificate from the next handshake on, if it is another one.
    fn use_leaf(&self, material: &Material) {
        if let Some(authority) = &material.authority {
            self.0.metrics.observe_authority(authority.certificate.not_after);
        }
        let Some(leaf) = &material.leaf else { return };
        let mut state = self.0.state.lock();
        if state.used.as_ref() == Some(&leaf.certificate.pem) {
            return;
        }
        // It was parsed before.
        if let Ok(pair) = Pair::from_pem(leaf.certificate.pem.as_bytes(), leaf.key.0.as_bytes()) {
            self.0.certificates.replace_from_secret(pair);
            state.used = Some(leaf.certificate.pem.clone());
        }
    }

    /// Logs what is wrong with the Secret, once.
    fn report_problems(&self, problems: Vec<String>) {
        let mut state = self.0.state.lock();
        if state.problems != problems {
            for problem in &problems {
                tracing::warn!(secret = self.0.config.secret_name(), problem, "a part of the Secret is replaced");
            }
            state.problems = problems;
        }
    }

    /// Logs an error, once.
    fn report(&self, error: Option<SelfManagedError>) {
        let mut state = self.0.state.lock();
        if let Some(error) = &error {
            self.0.metrics.failed();
            if state.error.as_ref().map(ToString::to_string) != Some(error.to_string()) {
                tracing::error!(%error, "certificates cannot be managed; it is retried");
            }
        }
        state.error = error;
    }
}

impl SelfManagedRotation {
    /// Lets this process rotate until cancelled.
    pub async fn run(self, cancelled: CancellationToken) {
        let _leading = Leading::new(&self.0.0.is_leader);
        cancelled.cancelled().await;
    }
}

/// Marks this process as the leader until dropped.
struct Leading<'a>(&'a watch::Sender<bool>);

impl<'a> Leading<'a> {
    fn new(is_leader: &'a watch::Sender<bool>) -> Self {
        is_leader.send_replace(true);
        Leading(is_leader)
    }
}

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}

/// Without keys.
impl fmt::Debug for SelfManaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SelfManaged").field("certificates", &self.0.certificates).finish_non_exhaustive()
    }
}
