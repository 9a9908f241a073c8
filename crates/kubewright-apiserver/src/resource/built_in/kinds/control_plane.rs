//! Kinds of the control plane: API services and certificates.

use k8s_openapi::{
    api::certificates::v1::CertificateSigningRequest, kube_aggregator::pkg::apis::apiregistration::v1::APIService,
};

use crate::resource::{
    built_in::{BuiltIn, TypeInfo, rules},
    certificate_signing_request as certificates,
    strategy::Naming,
};

pub(super) static ALL: [BuiltIn; 2] = [
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
];
