//! The usage of objects, by their kind.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use kubewright_crd::quantity::Quantity;
use serde_json::Value;

use crate::{
    api::{kind::Kind, object::Object},
    resource::amounts::{self, Amounts},
};

/// The resources of pods that quotas can limit.
const POD_RESOURCES: [&str; 11] = [
    "count/pods",
    "cpu",
    "ephemeral-storage",
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "memory",
    "pods",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];
/// The limited resources that every container must specify.
const REQUIRED: [&str; 6] = ["cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"];
const SERVICE_RESOURCES: [&str; 4] = ["count/services", "services", "services.loadbalancers", "services.nodeports"];
const CLAIM_RESOURCES: [&str; 3] = ["count/persistentvolumeclaims", "persistentvolumeclaims", "requests.storage"];
/// The infix of the resources of a storage class.
const OF_STORAGE_CLASS: &str = ".storageclass.storage.k8s.io/";
/// The kinds of the core group that have a second name for their count.
const ALIASES: [&str; 4] = ["configmaps", "replicationcontrollers", "resourcequotas", "secrets"];

/// Measures the usage of objects of one kind.
#[derive(Debug, PartialEq)]
pub(crate) enum Evaluator {
    Pods,
    Services,
    Claims,
    /// Counts objects under these names.
    Count(Vec<String>),
}

impl Evaluator {
    /// Returns the evaluator of a kind. Objects outside namespaces and events are not limited.
    pub(crate) fn from_kind(kind: &Kind) -> Option<Self> {
        if !kind.namespaced || matches!(kind.storage_key().as_str(), "events" | "events.events.k8s.io") {
            return None;
        }
        Some(match (kind.storage_group.as_str(), kind.plural.as_str()) {
            ("", "pods") => Self::Pods,
            ("", "services") => Self::Services,
            ("", "persistentvolumeclaims") => Self::Claims,
            (group, plural) => {
                let alias = (group.is_empty() && ALIASES.contains(&plural)).then(|| plural.to_owned());
                Self::Count([format!("count/{}", kind.storage_key())].into_iter().chain(alias).collect())
            }
        })
    }

    /// Returns whether updates change the usage.
    pub(super) fn measures_updates(&self) -> bool {
        matches!(self, Self::Services | Self::Claims)
    }

    /// Returns whether the usage includes a resource.
    pub(crate) fn measures(&self, name: &str) -> bool {
        match self {
            Self::Pods => POD_RESOURCES.contains(&name) || is_hugepages(name) || is_extended(name),
            Self::Services => SERVICE_RESOURCES.contains(&name),
            Self::Claims => {
                let of_class = name.split_once(OF_STORAGE_CLASS).map(|(_, resource)| resource);
                CLAIM_RESOURCES.contains(&name)
                    || matches!(of_class, Some("persistentvolumeclaims" | "requests.storage"))
            }
            Self::Count(names) => names.iter().any(|known| known == name),
        }
    }

    /// Returns the usage of an object.
    pub(crate) fn usage(&self, object: &Object) -> Amounts {
        match self {
            Self::Pods => pod(object),
            Self::Services => service(object),
            Self::Claims => claim(object),
            Self::Count(names) => names.iter().map(|name| (name.clone(), unit())).collect(),
        }
    }

    /// Returns an error if containers do not specify resources that a quota limits.
    pub(super) fn missing(&self, names: &[&str], object: &Object) -> Option<String> {
        let spec = object.body.get("spec").filter(|_| *self == Self::Pods)?;
        let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let of_complete_pod = compute_usage(
            &amounts::parse(&spec["resources"]["requests"]),
            &amounts::parse(&spec["resources"]["limits"]),
        );
        for container in ["containers", "initContainers"].into_iter().flat_map(|list| amounts::containers(spec, list)) {
            let resources = &container["resources"];
            let usage = compute_usage(&amounts::parse(&resources["requests"]), &amounts::parse(&resources["limits"]));
            let is_missing = |name: &&&str| {
                REQUIRED.contains(*name) && !usage.contains_key(**name) && !of_complete_pod.contains_key(**name)
            };
            for name in names.iter().filter(is_missing) {
                missing.entry(*name).or_default().push(container["name"].as_str().unwrap_or_default());
            }
        }
        let errors = missing.into_iter().map(|(name, mut containers)| {
            containers.sort_unstable();
            format!("{name} for: {}", containers.join(","))
        });
        let errors: Vec<String> = errors.collect();
        (!errors.is_empty()).then(|| format!("must specify {}", errors.join("; ")))
    }
}

fn pod(pod: &Object) -> Amounts {
    let mut usage = Amounts::from([("count/pods".to_owned(), unit())]);
    if has_ended(pod) {
        return usage;
    }
    let spec = pod.body.get("spec").unwrap_or(&Value::Null);
    let [requests, limits] = ["requests", "limits"].map(|list| amounts::of_pod_with_overhead(spec, list));
    usage.insert("pods".to_owned(), unit());
    usage.extend(compute_usage(&requests, &limits));
    usage
}

/// Returns whether a pod has terminated, or should have.
fn has_ended(pod: &Object) -> bool {
    let phase = pod.field("status.phase").and_then(Value::as_str);
    let deadline = pod.metadata.deletion_timestamp.as_ref().zip(pod.metadata.deletion_grace_period_seconds);
    let is_overdue = deadline.is_some_and(|(at, grace)| {
        at.0.checked_add(SignedDuration::from_secs(grace)).is_ok_and(|deadline| Timestamp::now() > deadline)
    });
    matches!(phase, Some("Failed" | "Succeeded")) || is_overdue
}

/// Returns the usage of compute resources.
fn compute_usage(requests: &Amounts, limits: &Amounts) -> Amounts {
    const COMPUTE: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
    let mut usage = Amounts::new();
    for (name, amount) in requests {
        let is_compute = COMPUTE.contains(&name.as_str());
        if is_compute || is_hugepages(name) {
            usage.insert(name.clone(), *amount);
        }
        let requested = format!("requests.{name}");
        if is_compute || is_hugepages(name) || is_extended(&requested) {
            usage.insert(requested, *amount);
        }
    }
    let limited = limits.iter().filter(|(name, _)| COMPUTE.contains(&name.as_str()));
    usage.extend(limited.map(|(name, amount)| (format!("limits.{name}"), *amount)));
    usage
}

fn is_hugepages(name: &str) -> bool {
    name.strip_prefix("requests.").unwrap_or(name).starts_with("hugepages-")
}

/// Returns whether a resource is the request of an extended resource, such as `requests.example.com/gpu`.
fn is_extended(name: &str) -> bool {
    name.strip_prefix("requests.").is_some_and(|name| name.contains('/') && !name.contains("kubernetes.io/"))
}

fn service(service: &Object) -> Amounts {
    let spec = service.body.get("spec").unwrap_or(&Value::Null);
    let ports = spec["ports"].as_array().map(Vec::as_slice).unwrap_or_default();
    let explicit = || ports.iter().filter(|port| port["nodePort"].as_i64().unwrap_or(0) != 0).count();
    let (balancers, node_ports) = match spec["type"].as_str() {
        Some("NodePort") => (0, ports.len()),
        Some("LoadBalancer") if spec["allocateLoadBalancerNodePorts"] == false => (1, explicit()),
        Some("LoadBalancer") => (1, ports.len()),
        _ => (0, 0),
    };
    let counts = [1, 1, balancers, i64::try_from(node_ports).unwrap_or(i64::MAX)].map(Quantity::from_integer);
    SERVICE_RESOURCES.map(str::to_owned).into_iter().zip(counts).collect()
}

fn claim(claim: &Object) -> Amounts {
    let spec = claim.body.get("spec").unwrap_or(&Value::Null);
    let annotations = claim.metadata.annotations.as_ref();
    let annotated = annotations.and_then(|annotations| annotations.get("volume.beta.kubernetes.io/storage-class"));
    let class = annotated.map(String::as_str).or(spec["storageClassName"].as_str()).filter(|class| !class.is_empty());
    let mut usage = vec![("persistentvolumeclaims", unit())];
    usage.extend(
        Quantity::from_json(&spec["resources"]["requests"]["storage"]).map(|storage| ("requests.storage", storage)),
    );
    let of_class = class.into_iter().flat_map(|class| {
        usage.iter().map(move |(name, amount)| (format!("{class}{OF_STORAGE_CLASS}{name}"), *amount))
    });
    let named = usage.iter().map(|(name, amount)| ((*name).to_owned(), *amount));
    named.chain(of_class).chain([("count/persistentvolumeclaims".to_owned(), unit())]).collect()
}

fn unit() -> Quantity {
    Quantity::from_integer(1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn usage(evaluator: &Evaluator, body: &Value) -> Value {
        amounts::to_json(&evaluator.usage(&Object::from_json(body.as_object().unwrap().clone()).unwrap()))
    }

    #[test]
    fn pods_use_what_they_request_until_they_end() {
        let resources = json!({ "requests": { "cpu": "1", "example.com/gpu": "2" }, "limits": { "memory": "1Gi" } });
        let spec = json!({ "containers": [{ "name": "c", "resources": resources }] });
        let expected = json!({
            "count/pods": "1", "pods": "1", "cpu": "1", "requests.cpu": "1", "limits.memory": "1Gi",
            "requests.example.com/gpu": "2",
        });
        assert_eq!(usage(&Evaluator::Pods, &json!({ "spec": spec })), expected);
        let ended = json!({ "spec": spec, "status": { "phase": "Succeeded" } });
        assert_eq!(usage(&Evaluator::Pods, &ended), json!({ "count/pods": "1" }));
    }

    #[test]
    fn services_and_claims_use_what_their_type_and_class_need() {
        let service = json!({ "spec": { "type": "LoadBalancer", "ports": [{ "port": 80 }, { "port": 81 }] } });
        let expected = json!({
            "count/services": "1", "services": "1", "services.loadbalancers": "1", "services.nodeports": "2",
        });
        assert_eq!(usage(&Evaluator::Services, &service), expected);
        let claim = json!({ "spec": { "storageClassName": "s", "resources": { "requests": { "storage": "1Gi" } } } });
        let expected = json!({
            "count/persistentvolumeclaims": "1", "persistentvolumeclaims": "1", "requests.storage": "1Gi",
            "s.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
            "s.storageclass.storage.k8s.io/requests.storage": "1Gi",
        });
        assert_eq!(usage(&Evaluator::Claims, &claim), expected);
    }
}
