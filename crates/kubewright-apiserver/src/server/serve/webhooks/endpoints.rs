//! The endpoints of services: an address that a service forwards a port to.

use std::net::{IpAddr, SocketAddr};

use serde_json::Value;

use crate::{
    api::{object::Object, webhook::ServiceReference},
    storage::state::State,
};

const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// Returns the address of a ready endpoint of a service, with the errors of kube-apiserver (`pkg/util/proxy`). There is
/// no controller that writes EndpointSlices, so the Endpoints are used if there are none.
///
/// # Errors
/// The service does not exist, or has no such port or no ready endpoint.
pub(super) fn resolve(state: &State, service: &ServiceReference) -> Result<SocketAddr, String> {
    let ServiceReference { namespace, name, port } = service;
    let not_found = || format!("service {name:?} not found");
    let found = state.store.get("services", namespace, name).ok_or_else(not_found)?;
    let type_ = found.field("spec.type").and_then(Value::as_str).unwrap_or("ClusterIP");
    if type_ == "ExternalName" {
        return Err(format!("unsupported service type {type_:?}"));
    }
    let ports = found.field("spec.ports").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let has_number = |candidate: &&Value| candidate["port"].as_i64() == Some(i64::from(*port));
    let found = ports.iter().find(has_number);
    let found = found.ok_or_else(|| format!("no service port {port} found for service {name:?}"))?;
    let port_name = found["name"].as_str().unwrap_or_default();
    let slices = state.store.list("endpointslices.discovery.k8s.io", Some(namespace));
    let of_service = slices.iter().filter(|slice| {
        slice
            .metadata
            .labels
            .as_ref()
            .and_then(|labels| labels.get(SERVICE_NAME))
            .is_some_and(|service| service == name)
    });
    let address = of_service.filter_map(|slice| of_slice(slice, port_name)).next().or_else(|| {
        let endpoints = state.store.get("endpoints", namespace, name)?;
        of_endpoints(&endpoints, port_name)
    });
    address.ok_or_else(|| format!("no endpoints available for service {name:?}"))
}

/// Returns the address of a ready endpoint in a slice.
fn of_slice(slice: &Object, port: &str) -> Option<SocketAddr> {
    let items = |field: &str| slice.body.get(field).and_then(Value::as_array).into_iter().flatten();
    let port = number_of(items("ports"), port)?;
    let is_ready = |endpoint: &&Value| endpoint["conditions"]["ready"].as_bool().unwrap_or(true);
    let mut ready = items("endpoints").filter(is_ready);
    ready.find_map(|endpoint| address(endpoint["addresses"].get(0)?, port))
}

/// Returns the address of a ready endpoint in Endpoints.
fn of_endpoints(endpoints: &Object, port: &str) -> Option<SocketAddr> {
    let mut subsets = endpoints.body.get("subsets").and_then(Value::as_array).into_iter().flatten();
    subsets.find_map(|subset| {
        let port = number_of(subset["ports"].as_array().into_iter().flatten(), port)?;
        address(subset["addresses"].get(0)?.get("ip")?, port)
    })
}

/// Returns the number of the port of this name. The name of the only port can be empty.
fn number_of<'a>(mut ports: impl Iterator<Item = &'a Value>, name: &str) -> Option<u16> {
    let found = ports.find(|port| port["name"].as_str().unwrap_or_default() == name)?;
    u16::try_from(found["port"].as_u64()?).ok()
}

fn address(ip: &Value, port: u16) -> Option<SocketAddr> {
    ip.as_str()?.parse::<IpAddr>().ok().map(|ip| SocketAddr::new(ip, port))
}
