//! What is filled in of services, and what a change of their type does to the rest.

use serde_json::{Value, json};

use super::{Fields, set};
use crate::api::{error::Result, object::Object};

/// How long a client stays with its pod, in seconds.
const STICKY: i64 = 10_800;

pub(in super::super) fn service(service: &mut Fields) {
    if let Some(points) = service.get_mut("status").and_then(|status| status.pointer_mut("/loadBalancer/ingress")) {
        for point in points.as_array_mut().into_iter().flatten().filter(|point| point["ip"].is_string()) {
            set(point, "ipMode", json!("VIP"));
        }
    }
    let Some(spec) = service.get_mut("spec") else {
        return;
    };
    match spec["type"].as_str() {
        Some("ExternalName") => {}
        type_ => {
            let (is_open, is_balanced) = (type_ == Some("NodePort"), type_ == Some("LoadBalancer"));
            set(spec, "internalTrafficPolicy", json!("Cluster"));
            if is_open || is_balanced {
                set(spec, "externalTrafficPolicy", json!("Cluster"));
            }
            if is_balanced {
                set(spec, "allocateLoadBalancerNodePorts", json!(true));
            }
        }
    }
    if spec["sessionAffinity"] == "ClientIP" {
        set(spec, "sessionAffinityConfig", json!({ "clientIP": { "timeoutSeconds": STICKY } }));
    }
    // A port leads to the same port unless it says otherwise.
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        let number = port["port"].clone();
        if port["targetPort"].is_null() || port["targetPort"] == "" || port["targetPort"] == 0 {
            port["targetPort"] = number;
        }
    }
}

pub(in super::super) fn new_service(service: &mut Object) -> Result<()> {
    if let Some(spec) = service.body.get_mut("spec") {
        name_addresses(spec);
    }
    Ok(())
}

/// What was given away stays, unless the type has no use for it or the change takes it back.
pub(in super::super) fn service_changed(service: &mut Object, old: &Object) {
    let (Some(spec), Some(old)) = (service.body.get_mut("spec"), old.body.get("spec")) else {
        return;
    };
    let (has_address, had_address) = (spec["type"] != "ExternalName", old["type"] != "ExternalName");
    if has_address && had_address {
        ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"].iter().for_each(|field| keep(spec, old, field));
    } else if !has_address && had_address {
        const OF_ADDRESSES: [&str; 5] =
            ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"];
        OF_ADDRESSES.iter().for_each(|field| drop_unchanged(spec, old, field));
    }
    if has_node_ports(spec) && has_node_ports(old) {
        keep_node_ports(spec, old);
    } else if !has_node_ports(spec) {
        drop_node_ports(spec, old);
        drop_unchanged(spec, old, "externalTrafficPolicy");
    }
    if spec["type"] != "LoadBalancer" {
        drop_unchanged(spec, old, "allocateLoadBalancerNodePorts");
    }
    name_addresses(spec);
}

fn has_node_ports(spec: &Value) -> bool {
    matches!(spec["type"].as_str(), Some("NodePort" | "LoadBalancer"))
}

fn keep(spec: &mut Value, old: &Value, field: &str) {
    if spec[field].is_null() || spec[field] == "" {
        remove(spec, field);
        if let Some(value) = old.get(field) {
            spec[field] = value.clone();
        }
    }
}

fn drop_unchanged(spec: &mut Value, old: &Value, field: &str) {
    if spec.get(field) == old.get(field) || field == "internalTrafficPolicy" {
        remove(spec, field);
    }
}

fn remove(spec: &mut Value, field: &str) {
    if let Some(spec) = spec.as_object_mut() {
        spec.remove(field);
    }
}

fn ports(spec: &mut Value) -> impl Iterator<Item = &mut Value> {
    spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten()
}

/// The port of a service that was there, if it was.
fn before<'a>(old: &'a Value, port: &Value) -> Option<&'a Value> {
    let same = |other: &&Value| other["port"] == port["port"] && other["protocol"] == port["protocol"];
    old["ports"].as_array().into_iter().flatten().find(same)
}

fn keep_node_ports(spec: &mut Value, old: &Value) {
    for port in ports(spec) {
        let given = before(old, port).map(|before| before["nodePort"].clone());
        if let Some(given) = given.filter(|given| port["nodePort"].is_null() && !given.is_null()) {
            port["nodePort"] = given;
        }
    }
}

fn drop_node_ports(spec: &mut Value, old: &Value) {
    for port in ports(spec) {
        if before(old, port).is_some_and(|before| before["nodePort"] == port["nodePort"]) {
            remove(port, "nodePort");
        }
    }
}

/// The first of several addresses is the one there was before there were several.
fn name_addresses(spec: &mut Value) {
    match (spec["clusterIP"].as_str().unwrap_or_default(), spec["clusterIPs"][0].as_str()) {
        ("", Some(first)) => spec["clusterIP"] = json!(first),
        ("", None) => {}
        (one, None) => spec["clusterIPs"] = json!([one]),
        (one, Some(first)) if one != first => spec["clusterIPs"] = json!([one]),
        _ => {}
    }
    if spec["clusterIP"].is_null() {
        remove(spec, "clusterIP");
    }
    if spec["clusterIPs"].is_null() {
        remove(spec, "clusterIPs");
    }
}
