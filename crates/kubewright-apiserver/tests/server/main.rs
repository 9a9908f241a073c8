//! The rules of the server through a real `kube::Client`, one test for each rule. With the feature `serve` also the
//! server as a program.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and the helpers of tests are part of them")]

mod apply;
mod authentication;
mod authorization;
mod built_in;
mod cel_rules;
mod conversions;
mod definitions;
mod delete;
mod events;
mod fakes;
mod faults;
mod garbage_collection;
mod http_rules;
mod kinds;
mod limits;
mod not_implemented;
mod pagination;
mod policies;
mod protobuf;
mod quotas;
mod reactors;
mod reads;
mod scale;
mod schemas;
#[cfg(feature = "program")]
mod serve;
mod services;
mod strategic_merge_patch;
mod support;
mod tables;
mod versions;
mod watches;
mod webhooks;
mod writes;
