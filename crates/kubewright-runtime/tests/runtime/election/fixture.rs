//! The fixture of the tests: electors on one server, each with its own connection and a record of its work.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kube::{Api, api::PostParams};
use kubewright_apiserver::{ApiServer, Faults};
use kubewright_runtime::leader_election::{LeaderElectionConfig, LeaderElectionError, LeaderElector, LeaderStatus};
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// How long a test waits for an event. Exceeds every wait of an elector.
const TIMEOUT: Duration = Duration::from_secs(300);
pub(crate) const LEASE: &str = "lease";

/// What an elector's work does after it is cancelled.
#[derive(Clone, Copy)]
pub(crate) enum OnCancel {
    /// It ends after this time.
    EndAfter(Duration),
    /// It ignores the cancellation.
    Ignore,
}

/// The state of an elector's work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum WorkState {
    NotStarted,
    Running,
    Cancelled(Instant),
    Ended(Instant),
    /// Its future was dropped before it completed.
    Dropped(Instant),
}

/// Records the end of the work, also if it is dropped.
struct Recorder(watch::Sender<WorkState>);

impl Drop for Recorder {
    fn drop(&mut self) {
        self.0.send_if_modified(|state| {
            let is_open = !matches!(state, WorkState::Ended(_));
            if is_open {
                *state = WorkState::Dropped(Instant::now());
            }
            is_open
        });
    }
}

pub(crate) fn config(identity: &str) -> LeaderElectionConfig {
    LeaderElectionConfig::new(LEASE, identity)
}

/// An elector that runs on its own task.
pub(crate) struct Running {
    pub(crate) stop: CancellationToken,
    pub(crate) faults: Faults,
    pub(crate) status: LeaderStatus,
    pub(crate) work: watch::Receiver<WorkState>,
    pub(crate) task: JoinHandle<Result<(), LeaderElectionError>>,
}

impl Running {
    /// Starts an elector whose work ends when it is cancelled.
    pub(crate) fn start(server: &ApiServer, identity: &str) -> Self {
        Self::start_with(server, config(identity), Faults::new(), OnCancel::EndAfter(Duration::ZERO))
    }

    pub(crate) fn start_with(
        server: &ApiServer,
        config: LeaderElectionConfig,
        faults: Faults,
        on_cancel: OnCancel,
    ) -> Self {
        let (sender, work) = watch::channel(WorkState::NotStarted);
        let elector = LeaderElector::new(server.client_with(faults.layer()), config).unwrap();
        let (stop, status) = (CancellationToken::new(), elector.status());
        let task = tokio::spawn(elector.run(stop.clone(), move |leading| work_until(leading, sender, on_cancel)));
        Running { stop, faults, status, work, task }
    }

    /// Waits until the work has this state.
    pub(crate) async fn wait_for(&mut self, expected: impl Fn(&WorkState) -> bool) -> WorkState {
        *timeout(TIMEOUT, self.work.wait_for(|state| expected(state))).await.expect("the state is reached").unwrap()
    }

    pub(crate) async fn wait_until_leading(&mut self) {
        self.wait_for(|state| *state == WorkState::Running).await;
    }

    pub(crate) fn state(&self) -> WorkState {
        *self.work.borrow()
    }

    /// Waits until the elector returns.
    pub(crate) async fn result(self) -> Result<(), LeaderElectionError> {
        timeout(TIMEOUT, self.task).await.expect("the elector returns").unwrap()
    }

    pub(crate) async fn stop(self) -> Result<(), LeaderElectionError> {
        self.stop.cancel();
        self.result().await
    }
}

async fn work_until(leading: CancellationToken, sender: watch::Sender<WorkState>, on_cancel: OnCancel) {
    let recorder = Recorder(sender);
    recorder.0.send_replace(WorkState::Running);
    leading.cancelled().await;
    recorder.0.send_replace(WorkState::Cancelled(Instant::now()));
    match on_cancel {
        OnCancel::EndAfter(time) => sleep(time).await,
        OnCancel::Ignore => std::future::pending().await,
    }
    recorder.0.send_replace(WorkState::Ended(Instant::now()));
}

pub(crate) fn leases(server: &ApiServer) -> Api<Lease> {
    Api::namespaced(server.client(), "default")
}

pub(crate) async fn spec(server: &ApiServer) -> LeaseSpec {
    leases(server).get(LEASE).await.unwrap().spec.unwrap()
}

pub(crate) async fn holder(server: &ApiServer) -> String {
    spec(server).await.holder_identity.unwrap_or_default()
}

/// Changes the spec of the Lease, as `kubectl edit` does.
pub(crate) async fn edit(server: &ApiServer, change: impl FnOnce(&mut LeaseSpec)) {
    let mut lease = leases(server).get(LEASE).await.unwrap();
    change(lease.spec.as_mut().unwrap());
    leases(server).replace(LEASE, &PostParams::default(), &lease).await.unwrap();
}
