//! Sharding: the replicas of an operator share the objects, so that each object is reconciled by one of them.
//!
//! The hash of an object's UID or namespace selects one of 64 slots. Each replica has a Lease, and a Lease of the fleet
//! stores which replica holds which slot. A slot is handed over when its running reconciliations have ended.
//!
//! | module | contents |
//! |---|---|
//! | `slot`, `shard` | slots, and the hash that assigns objects to them |
//! | `assignment` | which replica should have which slot |
//! | `table`, `leases` | the content of the Leases, and what a replica observed of them |
//! | `state_machine` | the decisions, without I/O |
//! | `ownership` | the slots whose keys this process can process, and the running ones |
//! | `runner` | the requests |
//! | `simulation` | tests of several state machines with clock skew, partitions and pauses |

mod assignment;
mod error;
mod leases;
mod metrics;
mod ownership;
mod requests;
mod runner;
mod shard;
#[cfg(test)]
mod simulation;
mod slot;
mod state_machine;
mod status;
mod table;

use std::{
    collections::BTreeSet,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use kube::Client;
use kubewright_core::description::Permission;
use parking_lot::Mutex;

pub use error::ShardingError;
pub(crate) use ownership::{Admission, Ownership, Participant, SlotGuard, StartHandler};
pub use runner::ShardingRunner;
pub(crate) use shard::Field;
pub use shard::Shard;
pub use slot::{ParseSlotsError, SLOTS, Slot, SlotSet};

use crate::leader_election::{LeaderElectionConfig, LeaseOverdue};
use leases::LeaseNames;
use status::Status;

/// The slots of this replica, which its caches and controllers share. Clones are handles of the same sharding.
///
/// Guarantees:
/// - no key is reconciled by two replicas at a time, under the [assumptions of leader
///   election](crate::LeaderElector#assumptions). By UID this holds for each object: one that is deleted and recreated
///   under the same name is another object, which another replica can reconcile;
/// - the slots of a replica that crashed are reconciled by others after the lease duration and one retry period, if the
///   objects are listed by then, and those of a replica that stops after it released them;
/// - every object is reconciled when its slot is acquired, and after each change;
/// - the numbers of slots of the replicas differ by at most one, and a replica that starts or ends moves only as many
///   slots as it gets or had;
/// - no object is written, and the number of requests does not depend on the number of objects;
/// - replicas continue after an outage of the API server without moving slots, unless others took over their Lease.
///
/// The options are those of an election: the name of the Leases, the identity of the replica and the times. The name
/// identifies the fleet, so each program needs a different one.
///
/// ```no_run
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright_runtime::{
///     Controller, InformerFactory, LeaderElectionConfig, ObjectKey, ReconcileError, Sharding, kube::Client,
///     leader_election::unique_identity,
/// };
///
/// fn controller(client: Client) -> (Sharding, InformerFactory, Controller) {
///     let sharding = Sharding::by_namespace(LeaderElectionConfig::new("config-maps", unique_identity()));
///     let shared = sharding.clone();
///     let factory = InformerFactory::builder(client)
///         .defaults(move |config| config.reflector(|reflector| reflector.sharding(&shared)))
///         .build();
///     let controller = Controller::new("config-maps", &factory.informer::<ConfigMap>())
///         .build(|_: ObjectKey| async { Ok::<_, ReconcileError>(()) });
///     (sharding, factory, controller)
/// }
/// ```
#[derive(Clone)]
pub struct Sharding(Arc<Shared>);

struct Shared {
    field: Field,
    config: LeaderElectionConfig,
    ownership: Arc<Ownership>,
    status: Status,
    /// The names of the controllers.
    controllers: Mutex<BTreeSet<String>>,
    has_started: AtomicBool,
}

impl Sharding {
    /// Assigns objects to slots by their UID: the load is even, but an object and those that it owns are in different
    /// slots. So only the informer of the reconciled kind can be sharded, and each replica caches all owned objects.
    pub fn by_uid(config: LeaderElectionConfig) -> Self {
        Self::new(Field::Uid, config)
    }

    /// Assigns objects to slots by their namespace: all objects of a namespace are in one slot, so that the informers
    /// of all namespaced kinds can be sharded. The load is even if there are many namespaces of similar size.
    pub fn by_namespace(config: LeaderElectionConfig) -> Self {
        Self::new(Field::Namespace, config)
    }

    fn new(field: Field, config: LeaderElectionConfig) -> Self {
        Sharding(Arc::new(Shared {
            field,
            status: Status::new(config.lease_name()),
            config,
            ownership: Arc::new(Ownership::new()),
            controllers: Mutex::default(),
            has_started: AtomicBool::new(false),
        }))
    }

    /// Returns the name of the fleet: that of the options.
    pub fn name(&self) -> &str {
        self.0.config.lease_name()
    }

    /// Returns the slots whose keys this replica reconciles.
    pub fn slots(&self) -> SlotSet {
        self.0.ownership.active()
    }

    /// Returns why this replica has no Lease, if that has been so for longer than `tolerance`, for a readiness check:
    /// its caches have not synced, or replicas of another program use the name. `None` if it has one, or does not run.
    pub fn why_waiting(&self, tolerance: Duration) -> Option<String> {
        self.0.status.why_waiting(tolerance)
    }

    /// Returns an error if the runner has been overdue for longer than `tolerance`, for a liveness check. A runner that
    /// does not run is not overdue.
    ///
    /// # Errors
    /// Fails if the runner made no progress for the lease duration and the tolerance.
    pub fn check(&self, tolerance: Duration) -> Result<(), LeaseOverdue> {
        self.0.status.check(tolerance)
    }

    /// Returns the permissions that a replica needs in its namespace.
    pub fn permissions(&self) -> Vec<Permission> {
        Permission::sharding(&LeaseNames::new(self.name()).all())
    }

    /// Creates the runner. The client should be a dedicated one without retries, from
    /// [`lease_client`](crate::leader_election::lease_client).
    ///
    /// # Errors
    /// Fails if an option is missing, contradicts another one, or cannot be part of the names of Leases.
    pub fn runner(&self, client: Client) -> Result<ShardingRunner, ShardingError> {
        ShardingRunner::new(self.clone(), client)
    }

    /// Returns whether both are handles of the same sharding.
    pub(crate) fn is_same(&self, other: &Sharding) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn field(&self) -> Field {
        self.0.field
    }

    pub(crate) fn ownership(&self) -> &Arc<Ownership> {
        &self.0.ownership
    }

    /// Adds the name of a controller.
    pub(crate) fn add_controller(&self, name: &str) {
        self.0.controllers.lock().insert(name.to_owned());
    }

    /// Marks the sharding as running. Returns whether it was not before.
    fn start(&self) -> bool {
        !self.0.has_started.swap(true, Ordering::AcqRel)
    }
}

impl fmt::Debug for Sharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sharding")
            .field("name", &self.name())
            .field("field", &self.0.field)
            .field("slots", &self.slots())
            .finish_non_exhaustive()
    }
}
