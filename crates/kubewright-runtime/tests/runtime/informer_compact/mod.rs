//! The rules of the shared informer for compact objects: the tests of `tests/informer`, with `Memory::Compact`.
#![cfg(feature = "compact")]

#[cfg(test)]
#[path = "../informer/clones.rs"]
mod clones;
#[cfg(test)]
#[path = "../informer/decoding.rs"]
mod decoding;
#[cfg(test)]
#[path = "../informer/factory.rs"]
mod factory;
#[cfg(test)]
#[path = "../informer/fixture.rs"]
mod fixture;
#[cfg(test)]
#[path = "../informer/handlers.rs"]
mod handlers;
#[cfg(test)]
#[path = "../informer/kube_runtime.rs"]
mod kube_runtime;
#[cfg(test)]
#[path = "../informer/lifecycle.rs"]
mod lifecycle;
#[cfg(test)]
#[path = "../informer/many_handlers.rs"]
mod many_handlers;
#[cfg(test)]
#[path = "../informer/notifications.rs"]
mod notifications;
#[cfg(test)]
#[path = "../informer/options.rs"]
mod options;
#[cfg(test)]
#[path = "../informer/resync.rs"]
mod resync;
#[cfg(test)]
#[path = "../informer/slow_handlers.rs"]
mod slow_handlers;
#[cfg(test)]
mod undecodable;
#[cfg(test)]
#[path = "../informer/user_code.rs"]
mod user_code;
#[cfg(test)]
#[path = "../informer/versions.rs"]
mod versions;
#[cfg(test)]
#[path = "../informer/watch_failures.rs"]
mod watch_failures;

use kubewright_runtime::Memory;

/// How the informers of the tests hold their objects.
#[cfg(test)]
pub(crate) const MEMORY: Memory = Memory::Compact;
