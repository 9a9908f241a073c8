//! Controllers that run within the request that triggers them: garbage collection, namespace deletion and the aggregation
//! of cluster roles.

pub(crate) mod garbage_collector;
pub(crate) mod role_aggregation;
