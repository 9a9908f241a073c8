//! Two versions in a module: the first error states the rule.

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [] }

kubewright_core::group_version! { group = "example.com", version = "v2", kinds = [] }

fn main() {}
