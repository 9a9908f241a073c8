//! The objects of the control plane itself, as kube-apiserver creates them: the service `default/kubernetes` with its
//! endpoints.

use serde_json::{Value, json};

use super::create_object;
use crate::{resource::service_allocation::API_SERVER_ADDRESS, storage::state::State};

const NAME: &str = "kubernetes";
/// The address of the endpoints. A server in memory has none, so it is one that is reserved for documentation.
const ENDPOINT: &str = "192.0.2.1";
const PORT: i64 = 443;
const TARGET_PORT: i64 = 6443;

/// Creates the objects that do not exist.
pub(crate) fn create(state: &mut State) {
    create_object(state, "services", &service());
    create_object(state, "endpoints", &endpoints());
    create_object(state, "endpointslices.discovery.k8s.io", &endpoint_slice());
}

fn service() -> Value {
    json!({
        "metadata": {
            "name": NAME,
            "namespace": "default",
            "labels": { "component": "apiserver", "provider": "kubernetes" },
        },
        "spec": {
            "clusterIP": API_SERVER_ADDRESS,
            "clusterIPs": [API_SERVER_ADDRESS],
            "internalTrafficPolicy": "Cluster",
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            "ports": [{ "name": "https", "port": PORT, "protocol": "TCP", "targetPort": TARGET_PORT }],
        },
    })
}

fn endpoints() -> Value {
    json!({
        "metadata": {
            "name": NAME,
            "namespace": "default",
            "labels": { "endpointslice.kubernetes.io/skip-mirror": "true" },
        },
        "subsets": [{
            "addresses": [{ "ip": ENDPOINT }],
            "ports": [{ "name": "https", "port": TARGET_PORT, "protocol": "TCP" }],
        }],
    })
}

fn endpoint_slice() -> Value {
    json!({
        "metadata": {
            "name": NAME,
            "namespace": "default",
            "labels": { "kubernetes.io/service-name": NAME },
        },
        "addressType": "IPv4",
        "endpoints": [{ "addresses": [ENDPOINT], "conditions": { "ready": true } }],
        "ports": [{ "name": "https", "port": TARGET_PORT, "protocol": "TCP" }],
    })
}
