//! The guarantees of the runtime: queue, reflector, store, informer, events, leader election and sharding.
//!
//! The controller has its own binary, because its tests read the log of their process, and so has `long_run`, which
//! measures the memory of its process.

#![allow(clippy::duplicate_mod, reason = "the tests of informers and stores run on decoded and on compact objects")]

mod election;
mod events;
mod informer;
mod informer_compact;
mod metrics;
mod queue;
mod reflector;
mod sharding;
mod store;
mod store_compact;
