//! Cluster IPs and node ports of services.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Service;
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use serde_json::json;

use crate::support::*;

const SERVICES: usize = 20;

fn node_port_service(name: &str, node_port: Option<i32>) -> Service {
    let port = json!({ "port": 80, "nodePort": node_port });
    serde_json::from_value(json!({ "metadata": { "name": name }, "spec": { "type": "NodePort", "ports": [port] } }))
        .unwrap()
}

fn port_of(service: &Service) -> i32 {
    service.spec.as_ref().unwrap().ports.as_ref().unwrap()[0].node_port.unwrap()
}

#[tokio::test]
async fn cluster_ips_and_node_ports_are_unique() {
    let services: Api<Service> = Api::default_namespaced(client().await);
    let (mut addresses, mut ports) = (BTreeSet::new(), BTreeSet::new());
    for index in 0..SERVICES {
        let made =
            services.create(&PostParams::default(), &node_port_service(&format!("s{index}"), None)).await.unwrap();
        ports.insert(port_of(&made));
        addresses.insert(made.spec.unwrap().cluster_ip.unwrap());
    }
    assert_eq!((addresses.len(), ports.len()), (SERVICES, SERVICES));
}

#[tokio::test]
async fn a_deleted_service_releases_its_node_port() {
    let services: Api<Service> = Api::default_namespaced(client().await);
    let made = services.create(&PostParams::default(), &node_port_service("a", None)).await.unwrap();
    let wanted = node_port_service("b", Some(port_of(&made)));
    let (code, _, message) = rejection(services.create(&PostParams::default(), &wanted).await);
    assert!(code == 422 && message.contains("provided port is already allocated"), "{code} {message}");
    services.delete("a", &DeleteParams::default()).await.unwrap();
    let again = services.create(&PostParams::default(), &wanted).await.unwrap();
    assert_eq!(port_of(&again), port_of(&made));
}
