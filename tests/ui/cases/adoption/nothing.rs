//! No kinds.

logger_core::adopt! {}

fn main() {}
