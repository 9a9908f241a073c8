//! Kinds of the control plane: API services, certificates, priority and fairness, and component statuses.

use k8s_openapi::{
    api::{
        certificates::v1::CertificateSigningRequest,
        core::v1::ComponentStatus,
        flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration},
    },
    kube_aggregator::pkg::apis::apiregistration::v1::APIService,
};

use super::CORE;
use crate::resource::{
    built_in::{BuiltIn, TypeInfo, rules},
    certificate_signing_request as certificates,
    strategy::{Generation, Naming},
};

const FLOW_CONTROL: &str = "flowcontrol.apiserver.k8s.io";

pub(super) static ALL: [BuiltIn; 5] = [
    BuiltIn::new(CORE, "ComponentStatus", "componentstatuses", TypeInfo::new::<ComponentStatus>)
        .short_names(&["cs"])
        .cluster()
        .read_only()
        .deprecated("v1 ComponentStatus is deprecated in v1.19+"),
    BuiltIn::new("apiregistration.k8s.io", "APIService", "apiservices", TypeInfo::new::<APIService>)
        .in_category(&["api-extensions"])
        .cluster()
        .status()
        .naming(Naming::PathSegment)
        .requires_resource_version(),
    BuiltIn::new(
        "certificates.k8s.io",
        "CertificateSigningRequest",
        "certificatesigningrequests",
        TypeInfo::new::<CertificateSigningRequest>,
    )
    .short_names(&["csr"])
    .cluster()
    .status()
    .approval()
    .status_reset_fields(&[&["status", "conditions"]])
    .selectable(&["spec.signerName"])
    .set_user(certificates::set_user)
    .prepare_for_update(certificates::prepare_update)
    .prepare_for_subresource(certificates::prepare_subresource)
    .rules(&[rules::certificate_signing_request]),
    BuiltIn::new(FLOW_CONTROL, "FlowSchema", "flowschemas", TypeInfo::new::<FlowSchema>)
        .cluster()
        .status()
        .generation(Generation::Content)
        .rules(&[rules::flow_schema]),
    BuiltIn::new(
        FLOW_CONTROL,
        "PriorityLevelConfiguration",
        "prioritylevelconfigurations",
        TypeInfo::new::<PriorityLevelConfiguration>,
    )
    .cluster()
    .status()
    .generation(Generation::Content)
    .rules(&[rules::priority_level]),
];
