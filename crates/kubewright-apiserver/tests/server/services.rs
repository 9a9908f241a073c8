//! Cluster IPs and node ports of services.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Service;
use kube::{Api, api::PostParams};
use serde_json::json;

use crate::support::*;

const SERVICES: usize = 20;

#[tokio::test]
async fn cluster_ips_and_node_ports_are_unique() {
    let services: Api<Service> = Api::default_namespaced(client().await);
    let (mut addresses, mut ports) = (BTreeSet::new(), BTreeSet::new());
    for index in 0..SERVICES {
        let spec = json!({ "type": "NodePort", "ports": [{ "port": 80 }] });
        let service = json!({ "metadata": { "name": format!("s{index}") }, "spec": spec });
        let made = services.create(&PostParams::default(), &serde_json::from_value(service).unwrap()).await.unwrap();
        let spec = made.spec.unwrap();
        ports.insert(spec.ports.unwrap()[0].node_port.unwrap());
        addresses.insert(spec.cluster_ip.unwrap());
    }
    assert_eq!((addresses.len(), ports.len()), (SERVICES, SERVICES));
}

/// The real server of the conformance suite has none.
#[tokio::test]
async fn the_service_of_the_server_has_endpoints() {
    let client = client().await;
    for path in ["/api/v1/namespaces/default/endpoints", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"]
    {
        assert_eq!(raw(&client, "GET", &format!("{path}/kubernetes"), "", "").await.0, 200, "{path}");
    }
}
