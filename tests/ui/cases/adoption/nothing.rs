//! No kinds.

kubewright_core::adopt! {}

fn main() {}
