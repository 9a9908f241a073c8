//! The Service for ingestion: it balances records of applications over the agents that are ready.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright_apply::core_v1::{ServiceApply, ServicePortApply, ServiceSpecApply};
use logger_agent::interface::PORT;

use super::PORT_NAME;
use crate::names::Names;

pub(super) fn service(names: &Names) -> ServiceApply {
    let port = ServicePortApply::new()
        .with_name(PORT_NAME)
        .with_port(i32::from(PORT))
        .with_protocol("TCP")
        .with_target_port(IntOrString::String(PORT_NAME.to_owned()));
    let spec = ServiceSpecApply::new().with_ports([port]).with_selector(names.selector_labels()).with_type("ClusterIP");
    ServiceApply::new(names.child(), names.namespace()).with_labels(names.labels()).with_spec(spec)
}
