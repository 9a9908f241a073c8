//! The server's rules, each by name, through a real `kube::Client`

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and the helpers of tests are part of them")]

mod applies;
mod built_in;
mod collects;
mod definitions;
mod deletes;
mod events;
mod fakes;
mod http_rules;
mod pages;
mod reads;
mod rules;
mod scales;
mod schemas;
mod services;
mod strategic;
mod support;
mod tables;
mod versions;
mod watches;
mod writes;
