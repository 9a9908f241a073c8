//! A kind is a struct with named fields.

use kubewright_core::{ApiObject, ApiType};

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget, Gadget, Part] }

#[derive(Clone, Debug, ApiObject)]
#[genclient]
pub struct Widget(String);

#[derive(Clone, Debug, ApiObject)]
#[genclient]
pub enum Gadget {}

#[derive(ApiType)]
pub union Part {
    size: i32,
}

fn main() {}
