//! A kind owns what it holds.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use logger_core::Object;

#[derive(Object)]
#[genclient]
pub struct Widget<'a> {
    pub metadata: ObjectMeta,
    pub spec: &'a str,
}

fn main() {}
