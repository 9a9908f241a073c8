//! All that is missing is said at once.

logger_core::group_version! {}

fn main() {}
