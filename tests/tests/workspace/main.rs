//! Tests of the workspace that need neither a control plane nor a process-wide setup, one module per subject.

mod adopt;
mod client;
mod codegen;
mod controller_gen;
mod deep_copy;
mod defaults;
mod definitions;
mod demo;
mod fake;
mod fuzz;
mod image;
mod invariants;
mod kube_derive;
mod picture;
mod quickstart;
mod released;
mod types;
mod values;
