//! The rules of the server through a real `kube::Client`, one test for each rule. With the feature `serve` also the
//! server as a program.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and the helpers of tests are part of them")]

mod apply;
mod authentication;
mod authorization;
mod conversions;
mod definitions;
mod faults;
mod garbage_collection;
mod limits;
mod not_implemented;
mod pagination;
mod policies;
mod protobuf;
mod quotas;
mod reactors;
mod scale;
#[cfg(feature = "program")]
mod serve;
mod services;
mod support;
mod watches;
mod webhooks;
