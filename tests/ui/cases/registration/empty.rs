//! All missing keys are reported at once.

logger_core::group_version! {}

fn main() {}
