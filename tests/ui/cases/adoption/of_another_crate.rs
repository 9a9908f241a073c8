//! A kind of another crate.

kubewright_core::adopt! { custom_resources = [logger_types::v1::Logger(readonly)] }

fn main() {}
