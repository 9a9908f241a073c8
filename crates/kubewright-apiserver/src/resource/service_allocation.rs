//! Allocates the cluster IPs and node ports of services.
//!
//! Guarantees:
//! - Cluster IPs are unique, and node ports are unique per protocol.
//! - The addresses and ports of a deleted service are available again.
//!
//! Addresses are in `10.0.0.0/16` and ports in 30000–32767, the defaults of kube-apiserver (apart from its range of
//! 254 addresses).

use std::{collections::BTreeSet, net::Ipv4Addr};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    api::{
        error::{ApiError, FieldError, Result},
        kind::Kind,
        object::{Object, Stored},
    },
    resource::strategy::Objects,
};

/// The cluster IP of the server itself: the service `default/kubernetes`.
pub(crate) const API_SERVER_ADDRESS: &str = "10.0.0.1";

const RESOURCE: &str = "services";
const PORTS: std::ops::RangeInclusive<i64> = 30_000..=32_767;
/// The first address and the last two are reserved: the network, the server, and the broadcast address.
const HOSTS: std::ops::RangeInclusive<u16> = 2..=65_534;
const HEADLESS: &str = "None";

/// Allocates the cluster IPs and node ports of a service.
///
/// # Errors
/// A requested address or port is already allocated or out of range, or the range is full.
pub(crate) fn allocate(objects: &dyn Objects, kind: &Kind, service: &mut Object) -> Result<()> {
    let (name, uid) = (service.name().to_owned(), service.uid().to_owned());
    let others: Vec<Stored> = objects.list(RESOURCE, None).into_iter().filter(|other| other.uid() != uid).collect();
    let Some(spec) = service.body.get_mut("spec").filter(|spec| spec["type"] != "ExternalName") else {
        return Ok(());
    };
    let invalid = |error| ApiError::invalid(kind, &name, &[error]);
    allocate_cluster_ip(spec, &others)?.map_or(Ok(()), |error| Err(invalid(error)))?;
    default_ip_families(spec);
    let needs_node_ports =
        spec["type"] == "NodePort" || spec["type"] == "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] != false;
    if needs_node_ports || spec["type"] == "LoadBalancer" {
        allocate_node_ports(spec, &others, needs_node_ports)?.map_or(Ok(()), |error| Err(invalid(error)))?;
    }
    Ok(())
}

fn allocate_cluster_ip(spec: &mut Value, others: &[Stored]) -> Result<Option<FieldError>> {
    let is_free =
        |address: &str| !others.iter().any(|other| other.field("spec.clusterIP").is_some_and(|ip| ip == address));
    let allocation_error = |address: &str, reason: &str| {
        let detail = format!("failed to allocate IP {address}: {reason}");
        Ok(Some(FieldError::invalid("spec.clusterIPs", json!([address]), detail)))
    };
    match spec["clusterIP"].as_str().unwrap_or_default() {
        HEADLESS => {}
        "" => {
            let address = free_address(is_free)
                .ok_or_else(|| ApiError::internal_error("failed to allocate a serviceIP: range is full"))?;
            spec["clusterIP"] = json!(address);
            spec["clusterIPs"] = json!([address]);
        }
        address if !is_in_range(address) => {
            return allocation_error(address, "the provided network does not match the current range");
        }
        address if !is_free(address) => return allocation_error(address, "provided IP is already allocated"),
        _ => {}
    }
    Ok(None)
}

fn is_in_range(address: &str) -> bool {
    matches!(address.parse().map(|address: Ipv4Addr| address.octets()), Ok([10, 0, ..]))
}

/// Returns an available address. The search starts at a random one, so few are tried.
fn free_address(is_free: impl Fn(&str) -> bool) -> Option<String> {
    let start = u16::try_from(Uuid::new_v4().as_u128() % u128::from(u16::MAX)).unwrap_or_default();
    let hosts = (start..=u16::MAX).chain(0..start).filter(|host| HOSTS.contains(host));
    let mut addresses = hosts.map(|host| {
        let [high, low] = host.to_be_bytes();
        Ipv4Addr::new(10, 0, high, low).to_string()
    });
    addresses.find(|address| is_free(address))
}

/// Sets the IP families: IPv4 only, as on a real server with a single range.
fn default_ip_families(spec: &mut Value) {
    let is_dual_stack = spec["clusterIP"] == HEADLESS && spec.get("selector").is_none();
    let (families, policy) =
        if is_dual_stack { (json!(["IPv4", "IPv6"]), "RequireDualStack") } else { (json!(["IPv4"]), "SingleStack") };
    if spec["ipFamilies"].is_null() {
        spec["ipFamilies"] = families;
    }
    if spec["ipFamilyPolicy"].is_null() {
        spec["ipFamilyPolicy"] = json!(policy);
    }
}

/// The protocol and the number of a node port.
type NodePort = (String, i64);

fn allocate_node_ports(spec: &mut Value, others: &[Stored], needs_node_ports: bool) -> Result<Option<FieldError>> {
    let mut allocated: BTreeSet<NodePort> =
        others.iter().flat_map(|other| node_ports(other.body.get("spec").unwrap_or(&Value::Null))).collect();
    for (index, (protocol, number)) in requested_node_ports(spec) {
        let detail = match number {
            number if !PORTS.contains(&number) => {
                "provided port is not in the valid range. The range of valid ports is 30000-32767"
            }
            number if !allocated.insert((protocol, number)) => "provided port is already allocated",
            _ => continue,
        };
        return Ok(Some(FieldError::invalid(format!("spec.ports[{index}].nodePort"), number, detail)));
    }
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten().filter(|_| needs_node_ports) {
        if node_port(port).is_none() {
            let protocol = protocol_of(port);
            let available = PORTS.into_iter().find(|number| !allocated.contains(&(protocol.clone(), *number)));
            let number =
                available.ok_or_else(|| ApiError::internal_error("failed to allocate a nodePort: range is full"))?;
            allocated.insert((protocol, number));
            port["nodePort"] = json!(number);
        }
    }
    Ok(None)
}

fn requested_node_ports(spec: &Value) -> Vec<(usize, NodePort)> {
    let ports = spec["ports"].as_array().into_iter().flatten().enumerate();
    ports.filter_map(|(index, port)| Some((index, node_port(port)?))).collect()
}

fn node_ports(spec: &Value) -> Vec<NodePort> {
    spec["ports"].as_array().into_iter().flatten().filter_map(node_port).collect()
}

fn node_port(port: &Value) -> Option<NodePort> {
    let number = port["nodePort"].as_i64().filter(|number| *number != 0)?;
    Some((protocol_of(port), number))
}

fn protocol_of(port: &Value) -> String {
    port["protocol"].as_str().unwrap_or("TCP").to_owned()
}
