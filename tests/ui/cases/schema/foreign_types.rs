//! Types without a schema, of this crate and of others.

use std::{borrow::Cow, time::Instant};

use kubewright_core::{CrdSchema, DeepCopy, k8s_openapi::ByteString};
use serde::{Deserialize, Serialize};

#[derive(Deserialize, CrdSchema, Serialize)]
pub struct WidgetSpec {
    pub part: Part,
    pub parts: Option<Vec<Part>>,
    pub bytes: ByteString,
}

#[derive(Deserialize, Serialize)]
pub struct Part {
    pub size: i32,
}

#[derive(DeepCopy)]
pub struct Times {
    pub started: Instant,
    pub name: Cow<'static, str>,
}

fn main() {}
