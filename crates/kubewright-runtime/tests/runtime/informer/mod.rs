//! The rules of the shared informer, I1 to I23 of the contract with client-go: each has tests that carry its number, on
//! the embedded API server behind a layer of faults. The clock is paused, except where threads block.

#[cfg(test)]
mod clones;
#[cfg(test)]
mod decoding;
#[cfg(test)]
mod factory;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod handlers;
#[cfg(test)]
mod kube_runtime;
#[cfg(test)]
mod lifecycle;
#[cfg(test)]
mod many_handlers;
#[cfg(test)]
mod notifications;
#[cfg(test)]
mod options;
#[cfg(test)]
mod resync;
#[cfg(test)]
mod slow_handlers;
#[cfg(test)]
mod user_code;
#[cfg(test)]
mod versions;
#[cfg(test)]
mod watch_failures;

use kubewright_runtime::Memory;

/// How the informers of the tests hold their objects. `tests/informer_compact` has the same tests with the other way.
#[cfg(test)]
pub(crate) const MEMORY: Memory = Memory::Plain;
