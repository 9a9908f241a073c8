//! Writes an imported module as Rust source.

mod attributes;
mod default;
mod docs;
mod item;
mod kind;
mod module;
mod scope;

pub(super) use module::module;
