//! Empty lists.

kubewright_core::adopt! { built_in = [], custom_resources = [] }

fn main() {}
