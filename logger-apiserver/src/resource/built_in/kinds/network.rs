//! How pods are reached

use k8s_openapi::api::{
    core::v1::{Endpoints, Service},
    discovery::v1::EndpointSlice,
    networking::v1::{Ingress, IngressClass, NetworkPolicy},
};

use super::{CORE, IMMUTABLE};
use crate::resource::built_in::{BuiltIn, Form, Generation, Naming, fill_in, rules};

const NETWORKING: &str = "networking.k8s.io";

pub(super) static ALL: [BuiltIn; 6] = [
    BuiltIn::new(CORE, "Endpoints", "endpoints", Form::of::<Endpoints>)
        .short_names(&["ep"])
        .made_by_updates()
        .deprecated("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
    BuiltIn::new(CORE, "Service", "services", Form::of::<Service>)
        .short_names(&["svc"])
        .in_all()
        .status()
        .naming(Naming::Label)
        .made_by_updates()
        .returned_when_deleted()
        .selectable(&["spec.clusterIP", "spec.type"])
        .filled_in_by(&[fill_in::service])
        .new_is_filled_in_by(&[fill_in::new_service])
        .changes_are_followed_by(&[fill_in::service_changed])
        .obeys(&[rules::service]),
    BuiltIn::new("discovery.k8s.io", "EndpointSlice", "endpointslices", Form::of::<EndpointSlice>)
        .generation(Generation::OfContent)
        .immutable(&[("addressType", IMMUTABLE)]),
    BuiltIn::new(NETWORKING, "Ingress", "ingresses", Form::of::<Ingress>)
        .short_names(&["ing"])
        .status()
        .generation(Generation::OfContent)
        .obeys(&[rules::ingress]),
    BuiltIn::new(NETWORKING, "IngressClass", "ingressclasses", Form::of::<IngressClass>)
        .cluster()
        .generation(Generation::OfContent)
        .immutable(&[("spec.controller", IMMUTABLE)]),
    BuiltIn::new(NETWORKING, "NetworkPolicy", "networkpolicies", Form::of::<NetworkPolicy>)
        .short_names(&["netpol"])
        .generation(Generation::OfContent)
        .filled_in_by(&[fill_in::network_policy])
        .obeys(&[rules::network_policy]),
];
