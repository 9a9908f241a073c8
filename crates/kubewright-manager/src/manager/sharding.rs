//! The sharding of a manager as a runnable: it starts with the caches, and ends after the controllers.

use std::{sync::Arc, time::Duration};

use kubewright_core::description::OperatorDescription;
use kubewright_runtime::{CancellationToken, Sharding, sharding::ShardingRunner};

use super::{
    error::BoxError,
    probes::{Probes, RunState},
    runnable::{DescribeFn, Runnable, Stage},
};

/// The name of its checks.
pub(super) const SHARDING: &str = "sharding";
/// How long the runner can be overdue before the process is not live, as for an elector.
const OVERDUE_TOLERANCE: Duration = Duration::from_secs(20);
/// How long the replica can wait for a Lease before the process is not ready. A rolling update that replaces an
/// incompatible fleet continues meanwhile.
const WAITING_TOLERANCE: Duration = Duration::from_mins(5);

/// Live while the runner makes progress. Ready unless the replica waits for a Lease for 5 minutes.
pub(super) struct Sharded {
    pub(super) sharding: Sharding,
    pub(super) runner: ShardingRunner,
    pub(super) state: Arc<RunState>,
}

impl Runnable for Sharded {
    /// Releases slots from the time at which the manager stops, while the controllers end.
    async fn run(self, stop: CancellationToken) -> Result<(), BoxError> {
        Ok(self.runner.run(self.state.stopping(), stop).await?)
    }

    fn describe(&self) -> DescribeFn {
        let sharding = self.sharding.clone();
        Box::new(move || OperatorDescription {
            sharding: Some(sharding.name().to_owned()),
            ..OperatorDescription::from_permissions(sharding.permissions())
        })
    }

    fn stage(&self) -> Stage {
        Stage::Caches
    }

    fn probes(&self) -> Probes {
        let (live, ready) = (self.sharding.clone(), self.sharding.clone());
        Probes::default()
            .live(move || live.check(OVERDUE_TOLERANCE))
            .ready(move || ready.why_waiting(WAITING_TOLERANCE).map_or(Ok(()), Err))
    }
}
