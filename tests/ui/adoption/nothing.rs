//! Nothing is listed.

logger_core::adopt! {}

fn main() {}
