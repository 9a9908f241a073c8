//! The rows of services, endpoints, ingresses, network policies and endpoint slices.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::row::{NONE, Row, UNKNOWN, UNSET, first_few, join, list, or_none, text};

pub(super) fn service(row: &Row<'_>) -> Vec<Value> {
    let cluster_ip = row.list("spec.clusterIPs").first().map_or(NONE, text);
    let ports = row.list("spec.ports").iter().map(|port| {
        let (number, protocol) = (port["port"].as_i64().unwrap_or_default(), text(&port["protocol"]));
        match port["nodePort"].as_i64().unwrap_or_default() {
            0 => format!("{number}/{protocol}"),
            node => format!("{number}:{node}/{protocol}"),
        }
    });
    vec![
        row.name(),
        json!(row.text("spec.type")),
        json!(cluster_ip),
        json!(external_ip(row)),
        json!(or_none(join(ports))),
        row.age(),
        json!(row.labels("spec.selector")),
    ]
}

fn external_ip(row: &Row<'_>) -> String {
    let external = row.list("spec.externalIPs").iter().map(|ip| text(ip).to_owned());
    match row.text("spec.type") {
        "ClusterIP" | "NodePort" => or_none(join(external)),
        "LoadBalancer" => {
            let all = join(ingress_points(row).into_iter().chain(external));
            if all.is_empty() { "<pending>".to_owned() } else { all }
        }
        "ExternalName" => row.text("spec.externalName").to_owned(),
        _ => UNKNOWN.to_owned(),
    }
}

/// Returns the first three addresses of endpoints, each with its ports, and the number of further ones.
pub(super) fn endpoints(row: &Row<'_>) -> Vec<Value> {
    const MAX_SHOWN: usize = 3;
    let subsets = row.list("subsets");
    let mut all = Vec::new();
    for subset in subsets {
        let addresses: Vec<&str> = list(&subset["addresses"]).iter().map(|address| text(&address["ip"])).collect();
        let ports = list(&subset["ports"]);
        if ports.is_empty() {
            all.extend(addresses.iter().map(|address| (*address).to_owned()));
        }
        for port in ports {
            all.extend(addresses.iter().map(|address| host_port(address, &port["port"])));
        }
    }
    let shown = if subsets.is_empty() { NONE.to_owned() } else { first_few(&all, MAX_SHOWN, "") };
    row.with_name_and_age(vec![json!(shown)])
}

/// Formats an address and a port. IPv6 addresses are in brackets.
fn host_port(address: &str, port: &Value) -> String {
    if address.contains(':') { format!("[{address}]:{port}") } else { format!("{address}:{port}") }
}

/// Returns the addresses of a load balancer.
fn ingress_points(row: &Row<'_>) -> BTreeSet<String> {
    let points = row.list("status.loadBalancer.ingress").iter();
    let address = |point: &Value| match text(&point["ip"]) {
        "" => text(&point["hostname"]).to_owned(),
        ip => ip.to_owned(),
    };
    points.map(address).filter(|address| !address.is_empty()).collect()
}

pub(super) fn ingress(row: &Row<'_>) -> Vec<Value> {
    let ports = if row.count("spec.tls") > 0 { "80, 443" } else { "80" };
    vec![
        row.name(),
        json!(row.get("spec.ingressClassName").as_str().unwrap_or(NONE)),
        json!(hosts(row)),
        json!(join(ingress_points(row).into_iter())),
        json!(ports),
        row.age(),
    ]
}

/// Returns the first three hosts. The number of further ones counts rules.
fn hosts(row: &Row<'_>) -> String {
    const MAX_SHOWN: usize = 3;
    let rules = row.list("spec.rules");
    let mut hosts = Vec::new();
    let mut more = false;
    for rule in rules {
        more |= hosts.len() == MAX_SHOWN;
        let host = text(&rule["host"]);
        if !more && !host.is_empty() {
            hosts.push(host);
        }
    }
    match (hosts.is_empty(), more) {
        (true, _) => "*".to_owned(),
        (false, true) => format!("{} + {} more...", hosts.join(","), rules.len() - MAX_SHOWN),
        (false, false) => hosts.join(","),
    }
}

pub(super) fn ingress_class(row: &Row<'_>) -> Vec<Value> {
    let parameters = row.get("spec.parameters");
    let group = parameters["apiGroup"].as_str().map(|group| format!(".{group}")).unwrap_or_default();
    let parameters = match parameters.is_object() {
        true => format!("{}{group}/{}", text(&parameters["kind"]), text(&parameters["name"])),
        false => NONE.to_owned(),
    };
    let name = row.class_name("ingressclass.kubernetes.io/is-default-class");
    vec![name, json!(row.text("spec.controller")), json!(parameters), row.age()]
}

pub(super) fn endpoint_slice(row: &Row<'_>) -> Vec<Value> {
    const MAX_SHOWN: usize = 3;
    let port = |port: &Value| match (port["port"].as_i64(), port["name"].as_str()) {
        (Some(number), _) => number.to_string(),
        (None, Some(name)) => name.to_owned(),
        (None, None) => "*".to_owned(),
    };
    let ports: Vec<String> = row.list("ports").iter().map(port).collect();
    let addresses = row.list("endpoints").iter().filter_map(|endpoint| endpoint["addresses"].as_array()).flatten();
    let addresses: Vec<String> = addresses.map(|address| text(address).to_owned()).collect();
    let few = |all: &[String]| json!(first_few(all, MAX_SHOWN, UNSET));
    row.with_name_and_age(vec![json!(row.text("addressType")), few(&ports), few(&addresses)])
}
