//! Controllers that run within the request that triggers them: garbage collection, namespace deletion, the usage of
//! quotas and the aggregation of cluster roles.

pub(crate) mod controlled_state;
pub(crate) mod garbage_collector;
pub(crate) mod resource_quota;
pub(crate) mod role_aggregation;
