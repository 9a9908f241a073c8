//! The public API of the store and its listers for compact objects: the tests of `tests/store`, with
//! `Memory::Compact`.
#![cfg(feature = "compact")]

mod allocations;
#[path = "../store/fixture.rs"]
mod fixture;
#[path = "../store/listers.rs"]
mod listers;
#[path = "../store/running_informer.rs"]
mod running_informer;

use kubewright_runtime::Memory;

/// How the stores of the tests hold their objects.
const MEMORY: Memory = Memory::Compact;
