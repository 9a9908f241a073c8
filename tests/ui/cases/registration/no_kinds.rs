//! Missing kinds.

kubewright_core::group_version! { group = "example.com", version = "v1" }

fn main() {}
