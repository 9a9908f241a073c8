//! The public API of the store and its listers, and what it allocates.
#![cfg(feature = "informers")]

mod allocations;
mod fixture;
mod listers;
mod running_informer;

use kubewright_runtime::Memory;

/// How the stores of the tests hold their objects. `tests/store_compact` has the same tests with the other way.
const MEMORY: Memory = Memory::Plain;
