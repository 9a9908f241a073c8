//! Defaults of services, and the fields that change with their type.

use serde_json::{Value, json};

use super::{Fields, set};
use crate::api::{error::Result, object::Object};

/// The default timeout of session affinity, in seconds.
const AFFINITY_TIMEOUT: i64 = 10_800;

pub(in super::super) fn service(service: &mut Fields) {
    if let Some(ingress) = service.get_mut("status").and_then(|status| status.pointer_mut("/loadBalancer/ingress")) {
        for point in ingress.as_array_mut().into_iter().flatten().filter(|point| point["ip"].is_string()) {
            set(point, "ipMode", json!("VIP"));
        }
    }
    let Some(spec) = service.get_mut("spec") else {
        return;
    };
    match spec["type"].as_str() {
        Some("ExternalName") => {}
        type_ => {
            let (is_node_port, is_load_balancer) = (type_ == Some("NodePort"), type_ == Some("LoadBalancer"));
            set(spec, "internalTrafficPolicy", json!("Cluster"));
            if is_node_port || is_load_balancer {
                set(spec, "externalTrafficPolicy", json!("Cluster"));
            }
            if is_load_balancer {
                set(spec, "allocateLoadBalancerNodePorts", json!(true));
            }
        }
    }
    if spec["sessionAffinity"] == "ClientIP" {
        set(spec, "sessionAffinityConfig", json!({ "clientIP": { "timeoutSeconds": AFFINITY_TIMEOUT } }));
    }
    // The default target port is the port.
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        let number = port["port"].clone();
        if port["targetPort"].is_null() || port["targetPort"] == "" || port["targetPort"] == 0 {
            port["targetPort"] = number;
        }
    }
}

pub(in super::super) fn new_service(service: &mut Object) -> Result<()> {
    if let Some(spec) = service.body.get_mut("spec") {
        sync_cluster_ips(spec);
    }
    Ok(())
}

/// Preserves allocated addresses and node ports, unless the new type does not use them (`patchAllocatedValues` and
/// `dropTypeDependentFields` of kube-apiserver).
pub(in super::super) fn service_changed(service: &mut Object, old: &Object) {
    let (Some(spec), Some(old)) = (service.body.get_mut("spec"), old.body.get("spec")) else {
        return;
    };
    let (has_address, had_address) = (spec["type"] != "ExternalName", old["type"] != "ExternalName");
    if has_address && had_address {
        ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"].iter().for_each(|field| preserve(spec, old, field));
    } else if !has_address && had_address {
        const ADDRESS_FIELDS: [&str; 5] =
            ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"];
        ADDRESS_FIELDS.iter().for_each(|field| drop_unchanged(spec, old, field));
    }
    if has_node_ports(spec) && has_node_ports(old) {
        preserve_node_ports(spec, old);
    } else if !has_node_ports(spec) {
        drop_node_ports(spec, old);
        drop_unchanged(spec, old, "externalTrafficPolicy");
    }
    if spec["type"] != "LoadBalancer" {
        drop_unchanged(spec, old, "allocateLoadBalancerNodePorts");
    }
    sync_cluster_ips(spec);
}

fn has_node_ports(spec: &Value) -> bool {
    matches!(spec["type"].as_str(), Some("NodePort" | "LoadBalancer"))
}

fn preserve(spec: &mut Value, old: &Value, field: &str) {
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

/// Returns the same port of the old service, if it exists.
fn old_port<'a>(old: &'a Value, port: &Value) -> Option<&'a Value> {
    let same = |other: &&Value| other["port"] == port["port"] && other["protocol"] == port["protocol"];
    old["ports"].as_array().into_iter().flatten().find(same)
}

fn preserve_node_ports(spec: &mut Value, old: &Value) {
    for port in ports(spec) {
        let allocated = old_port(old, port).map(|port| port["nodePort"].clone());
        if let Some(number) = allocated.filter(|number| port["nodePort"].is_null() && !number.is_null()) {
            port["nodePort"] = number;
        }
    }
}

fn drop_node_ports(spec: &mut Value, old: &Value) {
    for port in ports(spec) {
        if old_port(old, port).is_some_and(|old| old["nodePort"] == port["nodePort"]) {
            remove(port, "nodePort");
        }
    }
}

/// Makes `clusterIP` and the first of `clusterIPs` equal.
fn sync_cluster_ips(spec: &mut Value) {
    match (spec["clusterIP"].as_str().unwrap_or_default(), spec["clusterIPs"][0].as_str()) {
        ("", Some(first)) => spec["clusterIP"] = json!(first),
        ("", None) => {}
        (cluster_ip, None) => spec["clusterIPs"] = json!([cluster_ip]),
        (cluster_ip, Some(first)) if cluster_ip != first => spec["clusterIPs"] = json!([cluster_ip]),
        _ => {}
    }
    if spec["clusterIP"].is_null() {
        remove(spec, "clusterIP");
    }
    if spec["clusterIPs"].is_null() {
        remove(spec, "clusterIPs");
    }
}
