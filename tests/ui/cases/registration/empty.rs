//! All missing keys are reported at once.

kubewright_core::group_version! {}

fn main() {}
