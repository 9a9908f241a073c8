//! The start and the end of a container, in every runtime.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{Container, Pod};

/// What identifies a container when it starts.
pub(super) struct Start<'a> {
    pub(super) node: &'a str,
    pub(super) pod: &'a Arc<Pod>,
    pub(super) container: &'a Container,
    pub(super) pod_ip: &'a str,
    pub(super) host_ip: &'a str,
    pub(super) restarts: i32,
}

/// How a container ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exit {
    pub(super) code: i32,
    pub(super) signal: Option<i32>,
}
