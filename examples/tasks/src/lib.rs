//! Five tasks of an operator, each in a file: with kubewright, and in [`plain_kube`] the same with kube only.
//!
//! Both are as short as their libraries permit. `tests/lines.rs` counts their lines for the book.

#[cfg(test)]
mod back_off;
pub mod buckets;
pub mod events;
pub mod finalizer;
pub mod kind;
pub mod plain_kube;
pub mod references;
#[cfg(test)]
mod tests;
