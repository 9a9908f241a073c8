//! Addresses and node ports: given to services that need some.
//!
//! It promises:
//! - No two services have the same address, nor the same port of the nodes for the same protocol.
//! - What a deleted service had is free again.
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

const RESOURCE: &str = "services";
const PORTS: std::ops::RangeInclusive<i64> = 30_000..=32_767;
/// The first address and the last two are reserved: the network, the server, and the broadcast address.
const HOSTS: std::ops::RangeInclusive<u16> = 2..=65_534;
const HEADLESS: &str = "None";

/// Allocates the cluster IPs and node ports of a service.
///
/// # Errors
/// What it asks for is another's, or out of range; or nothing is left.
pub(crate) fn allocate(objects: &dyn Objects, kind: &Kind, service: &mut Object) -> Result<()> {
    let (name, uid) = (service.name().to_owned(), service.uid().to_owned());
    let others: Vec<Stored> = objects.list(RESOURCE, None).into_iter().filter(|other| other.uid() != uid).collect();
    let Some(spec) = service.body.get_mut("spec").filter(|spec| spec["type"] != "ExternalName") else {
        return Ok(());
    };
    let refuse = |error| ApiError::invalid(kind, &name, &[error]);
    give_address(spec, &others)?.map_or(Ok(()), |error| Err(refuse(error)))?;
    name_families(spec);
    let opens =
        spec["type"] == "NodePort" || spec["type"] == "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] != false;
    if opens || spec["type"] == "LoadBalancer" {
        give_ports(spec, &others, opens)?.map_or(Ok(()), |error| Err(refuse(error)))?;
    }
    Ok(())
}

fn give_address(spec: &mut Value, others: &[Stored]) -> Result<Option<FieldError>> {
    let is_free =
        |address: &str| !others.iter().any(|other| other.field("spec.clusterIP").is_some_and(|ip| ip == address));
    let refuse = |address: &str, why: &str| {
        let why = format!("failed to allocate IP {address}: {why}");
        Ok(Some(FieldError::invalid("spec.clusterIPs", json!([address]), why)))
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
            return refuse(address, "the provided network does not match the current range");
        }
        address if !is_free(address) => return refuse(address, "provided IP is already allocated"),
        _ => {}
    }
    Ok(None)
}

fn is_in_range(address: &str) -> bool {
    matches!(address.parse().map(|address: Ipv4Addr| address.octets()), Ok([10, 0, ..]))
}

/// Any that is free: the first is a guess, so that few are tried.
fn free_address(is_free: impl Fn(&str) -> bool) -> Option<String> {
    let guess = u16::try_from(Uuid::new_v4().as_u128() % u128::from(u16::MAX)).unwrap_or_default();
    let hosts = (guess..=u16::MAX).chain(0..guess).filter(|host| HOSTS.contains(host));
    let mut addresses = hosts.map(|host| {
        let [high, low] = host.to_be_bytes();
        Ipv4Addr::new(10, 0, high, low).to_string()
    });
    addresses.find(|address| is_free(address))
}

/// Addresses are IPv4 only, as on a real server with a single range.
fn name_families(spec: &mut Value) {
    let is_everywhere = spec["clusterIP"] == HEADLESS && spec.get("selector").is_none();
    let (families, policy) =
        if is_everywhere { (json!(["IPv4", "IPv6"]), "RequireDualStack") } else { (json!(["IPv4"]), "SingleStack") };
    if spec["ipFamilies"].is_null() {
        spec["ipFamilies"] = families;
    }
    if spec["ipFamilyPolicy"].is_null() {
        spec["ipFamilyPolicy"] = json!(policy);
    }
}

/// The protocol and the number of an open port.
type OpenPort = (String, i64);

fn give_ports(spec: &mut Value, others: &[Stored], opens: bool) -> Result<Option<FieldError>> {
    let mut taken: BTreeSet<OpenPort> =
        others.iter().flat_map(|other| open_ports(other.body.get("spec").unwrap_or(&Value::Null))).collect();
    for (index, (protocol, number)) in asked_ports(spec) {
        let why = match number {
            number if !PORTS.contains(&number) => {
                "provided port is not in the valid range. The range of valid ports is 30000-32767"
            }
            number if !taken.insert((protocol, number)) => "provided port is already allocated",
            _ => continue,
        };
        return Ok(Some(FieldError::invalid(format!("spec.ports[{index}].nodePort"), number, why)));
    }
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten().filter(|_| opens) {
        if open_port(port).is_none() {
            let protocol = protocol_of(port);
            let free = PORTS.into_iter().find(|number| !taken.contains(&(protocol.clone(), *number)));
            let number =
                free.ok_or_else(|| ApiError::internal_error("failed to allocate a nodePort: range is full"))?;
            taken.insert((protocol, number));
            port["nodePort"] = json!(number);
        }
    }
    Ok(None)
}

fn asked_ports(spec: &Value) -> Vec<(usize, OpenPort)> {
    let ports = spec["ports"].as_array().into_iter().flatten().enumerate();
    ports.filter_map(|(index, port)| Some((index, open_port(port)?))).collect()
}

fn open_ports(spec: &Value) -> Vec<OpenPort> {
    spec["ports"].as_array().into_iter().flatten().filter_map(open_port).collect()
}

fn open_port(port: &Value) -> Option<OpenPort> {
    let number = port["nodePort"].as_i64().filter(|number| *number != 0)?;
    Some((protocol_of(port), number))
}

fn protocol_of(port: &Value) -> String {
    port["protocol"].as_str().unwrap_or("TCP").to_owned()
}
