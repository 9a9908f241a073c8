//! Controllers that run within the request that triggers them: garbage collection and namespace deletion.

pub(crate) mod garbage_collector;
