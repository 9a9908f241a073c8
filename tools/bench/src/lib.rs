//! What the programs of this crate share: the Logger they are about, the ways to copy it, and what is measured of our runtime.

pub mod copies;
pub mod logger;
pub mod measure;
pub mod ours;
