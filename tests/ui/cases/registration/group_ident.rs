//! An identifier that is not in snake case.

kubewright_core::group_version! { group = "example.com", version = "v1", group_ident = "Second-Example", kinds = [] }

fn main() {}
