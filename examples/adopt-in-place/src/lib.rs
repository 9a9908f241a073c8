//! An operator whose generated client is a module of the crate of its kinds.

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "client")]
pub mod controller;
pub mod crd;
