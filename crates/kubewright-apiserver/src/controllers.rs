//! Controllers that run within the request that triggers them: garbage collection, namespace deletion, the usage of
//! quotas, the aggregation of cluster roles and the `APIService`s of definitions.

pub(crate) mod api_services;
pub(crate) mod controlled_state;
pub(crate) mod garbage_collector;
pub(crate) mod resource_quota;
pub(crate) mod role_aggregation;
