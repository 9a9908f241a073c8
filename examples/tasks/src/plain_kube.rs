//! The tasks with kube only.

#[cfg(test)]
mod back_off;
pub mod events;
pub mod finalizer;
pub mod kind;
pub mod references;
