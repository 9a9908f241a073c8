//! Services and their addresses, endpoints, ingresses and network policies.

use k8s_openapi::api::{
    core::v1::{Endpoints, Service},
    discovery::v1::EndpointSlice,
    networking::v1::{IPAddress, Ingress, IngressClass, NetworkPolicy, ServiceCIDR},
};

use super::{CORE, IMMUTABLE};
use crate::resource::{
    built_in::{BuiltIn, TypeInfo, defaults, rules},
    service_allocation,
    strategy::{Generation, Naming},
};

const NETWORKING: &str = "networking.k8s.io";

pub(super) static ALL: [BuiltIn; 8] = [
    BuiltIn::new(CORE, "Endpoints", "endpoints", TypeInfo::new::<Endpoints>)
        .short_names(&["ep"])
        .allows_create_on_update()
        .deprecated("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
    BuiltIn::new(CORE, "Service", "services", TypeInfo::new::<Service>)
        .allocate(service_allocation::allocate)
        .short_names(&["svc"])
        .in_all()
        .status()
        .naming(Naming::Label)
        .allows_create_on_update()
        .returns_deleted_object()
        .selectable(&["spec.clusterIP", "spec.type"])
        .defaults(&[defaults::service])
        .prepare_for_create(defaults::new_service)
        .propagate(defaults::service_changed)
        .rules(&[rules::service]),
    BuiltIn::new("discovery.k8s.io", "EndpointSlice", "endpointslices", TypeInfo::new::<EndpointSlice>)
        .generation(Generation::Content)
        .immutable(&[("addressType", IMMUTABLE)]),
    BuiltIn::new(NETWORKING, "IPAddress", "ipaddresses", TypeInfo::new::<IPAddress>)
        .short_names(&["ip"])
        .cluster()
        .naming(Naming::PathSegment)
        .immutable(&[("spec.parentRef", IMMUTABLE)]),
    BuiltIn::new(NETWORKING, "Ingress", "ingresses", TypeInfo::new::<Ingress>)
        .short_names(&["ing"])
        .status()
        .generation(Generation::Content)
        .rules(&[rules::ingress]),
    BuiltIn::new(NETWORKING, "IngressClass", "ingressclasses", TypeInfo::new::<IngressClass>)
        .cluster()
        .generation(Generation::Content)
        .immutable(&[("spec.controller", IMMUTABLE)]),
    BuiltIn::new(NETWORKING, "NetworkPolicy", "networkpolicies", TypeInfo::new::<NetworkPolicy>)
        .short_names(&["netpol"])
        .generation(Generation::Content)
        .defaults(&[defaults::network_policy])
        .rules(&[rules::network_policy]),
    BuiltIn::new(NETWORKING, "ServiceCIDR", "servicecidrs", TypeInfo::new::<ServiceCIDR>)
        .cluster()
        .status()
        .preserves_metadata_in_status(),
];
