//! The word for a group is one of generated code's.

logger_core::group_version! { group = "example.com", version = "v1", group_ident = "Second-Example", kinds = [] }

fn main() {}
