//! What the programs of this crate share: the Logger they are about, and the ways to copy it.

pub mod copies;
pub mod logger;
