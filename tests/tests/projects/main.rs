//! The projects of users in the book, the README and the examples, and what they share with the workspace: packed
//! crates and the features of dependencies.

mod features;
mod getting_started;
mod kubebuilder_migration;
mod packages;
mod readme;
