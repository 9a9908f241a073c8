//! The runnables of the toolkit: controllers, informer factories, event workers, servers and certificates.

use std::time::Duration;

use kubewright_core::description::{OperatorDescription, Permission, Verb};
use kubewright_runtime::{CancellationToken, Controller, InformerFactory, events::EventWorker};

use super::{
    caches::CacheProbe,
    error::BoxError,
    probes::Probes,
    runnable::{DescribeFn, Runnable, Stage},
};
use crate::serving::{SelfManaged, SelfManagedRotation, Server};

/// How long a reconciliation can run past its timeout before the process is not live. A cancelled one ends at once, so
/// this only needs to cover a busy runtime.
const RECONCILE_TOLERANCE: Duration = Duration::from_secs(10);

/// How long the lists and watches of a synced informer can fail before the process is not ready: longer than a restart
/// of the API server.
const OUTDATED_TOLERANCE: Duration = Duration::from_mins(2);

/// Live while no reconciliation is stuck past its timeout, and no watch is silent for longer than its timeout and the
/// interval of bookmarks. Ready while the watched informers are synced and their requests succeed, or those of other
/// runnables are. It waits for the permissions of the watched kinds without limit.
impl Runnable for Controller {
    async fn run(self, stop: CancellationToken) -> Result<(), BoxError> {
        Ok(Controller::run(self.wait_while_forbidden(), stop).await?)
    }

    fn describe(&self) -> DescribeFn {
        let controllers = vec![Controller::describe(self).clone()];
        let description =
            OperatorDescription { controllers, ..OperatorDescription::from_permissions(self.permissions()) };
        Box::new(move || description.clone())
    }

    fn probes(&self) -> Probes {
        let (live, ready, any) = (self.status(), self.status(), self.status());
        Probes::default()
            .live(move || {
                live.check(RECONCILE_TOLERANCE).map_err(|stuck| stuck.to_string())?;
                live.check_watches().map_err(|silent| silent.to_string())
            })
            .caches(CacheProbe {
                why_outdated: Box::new(move || ready.why_outdated(OUTDATED_TOLERANCE)),
                is_any_up_to_date: Box::new(move || any.is_any_up_to_date(OUTDATED_TOLERANCE)),
            })
    }
}

/// Live while no watch is silent for longer than its timeout and the interval of bookmarks. Ready while any requested
/// informer is synced and its requests succeed. It has started when all are synced or forbidden, and at least one is
/// synced.
impl Runnable for InformerFactory {
    async fn run(self, stop: CancellationToken) -> Result<(), BoxError> {
        Ok(InformerFactory::run(&self, stop).await?)
    }

    fn describe(&self) -> DescribeFn {
        let factory = self.clone();
        Box::new(move || {
            let informers = InformerFactory::describe(&factory);
            let permissions: Vec<_> = informers.iter().map(|informer| informer.kind.permission(Verb::READ)).collect();
            OperatorDescription { informers, ..OperatorDescription::from_permissions(permissions) }
        })
    }

    fn stage(&self) -> Stage {
        Stage::Caches
    }

    fn probes(&self) -> Probes {
        let (live, ready, any) = (self.clone(), self.clone(), self.clone());
        let (started, progress) = (self.clone(), self.clone());
        Probes::default()
            .live(move || live.check_watches())
            .caches(CacheProbe {
                why_outdated: Box::new(move || ready.why_outdated(OUTDATED_TOLERANCE)),
                is_any_up_to_date: Box::new(move || any.is_any_up_to_date(OUTDATED_TOLERANCE)),
            })
            .started(async move { started.wait_for_permitted().await })
            .progress(move || progress.sync_progress())
    }
}

/// Starts before controllers and ends after them, so that their last events are written.
impl Runnable for EventWorker {
    async fn run(self, stop: CancellationToken) -> Result<(), BoxError> {
        Ok(EventWorker::run(self, stop).await?)
    }

    fn describe(&self) -> DescribeFn {
        Box::new(|| OperatorDescription::from_permissions(Permission::events()))
    }

    fn stage(&self) -> Stage {
        Stage::Caches
    }
}

/// Ready while it accepts connections, and its certificate is valid. For webhooks use
/// [`serve_webhooks`](super::ManagerBuilder::serve_webhooks).
impl Runnable for Server {
    async fn run(self, stop: CancellationToken) -> Result<(), BoxError> {
        Ok(Server::run(self, stop).await?)
    }

    fn describe(&self) -> DescribeFn {
        let server = Server::describe(self);
        let permissions = if server.authenticated { Permission::reviews() } else { Vec::new() };
        let description =
            OperatorDescription { servers: vec![server], ..OperatorDescription::from_permissions(permissions) };
        Box::new(move || description.clone())
    }

    fn stage(&self) -> Stage {
        Stage::Servers
    }

    fn probes(&self) -> Probes {
        let status = self.status();
        Probes::default().ready(move || status.check())
    }
}

/// A server of webhooks, with their description.
pub(super) struct WebhookServer {
    server: Server,
    webhooks: OperatorDescription,
}

impl WebhookServer {
    pub(super) fn new(server: Server, webhooks: OperatorDescription) -> Self {
        WebhookServer { server, webhooks }
    }
}

impl Runnable for WebhookServer {
    fn run(self, stop: CancellationToken) -> impl Future<Output = Result<(), BoxError>> + Send {
        Runnable::run(self.server, stop)
    }

    fn stage(&self) -> Stage {
        Stage::Webhooks
    }

    fn describe(&self) -> DescribeFn {
        let (server, webhooks) = (Runnable::describe(&self.server), self.webhooks.clone());
        Box::new(move || {
            let mut description = server();
            description.merge(webhooks.clone());
            description
        })
    }

    fn probes(&self) -> Probes {
        self.server.probes()
    }
}

/// Ready while no other program manages a CA bundle. Starts before the server of webhooks, and does not wait for a
/// certificate: that server is ready when there is one.
impl Runnable for SelfManaged {
    async fn run(self, stop: CancellationToken) -> Result<(), BoxError> {
        Ok(SelfManaged::run(&self, stop).await?)
    }

    fn describe(&self) -> DescribeFn {
        let description = SelfManaged::describe(self);
        Box::new(move || description.clone())
    }

    fn stage(&self) -> Stage {
        Stage::Servers
    }

    fn probes(&self) -> Probes {
        let (live, ready) = (self.clone(), self.clone());
        Probes::default().live(move || live.check_watch()).ready(move || ready.check())
    }
}

/// For [`Replicas::Leader`](super::Replicas::Leader).
impl Runnable for SelfManagedRotation {
    async fn run(self, stop: CancellationToken) -> Result<(), BoxError> {
        SelfManagedRotation::run(self, stop).await;
        Ok(())
    }
}
