//! The types that `crd import` generates from the definitions.

pub mod c01;
pub mod c14;
pub mod c16;
pub mod r38;
pub mod r40;
pub mod r41;
pub mod r42;
pub mod r45;
pub mod r48;
