//! Schemas and rules, compared with the recorded answers of an API server, and definitions that do not change.

mod cel_corpus;
mod conversion;
mod idempotence;
#[path = "../shapes/mod.rs"]
mod shapes;
