//! The struct that kube's derive stands on, instead of the kind it makes; and a type that is none.

#[path = "../kube_kinds.rs"]
mod kube_kinds;

pub struct Sprocket;

logger_core::adopt! { custom_resources = [kube_kinds::WidgetSpec(status), Sprocket] }

fn main() {}
