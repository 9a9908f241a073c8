//! The NetworkPolicy: only the peers of the Logger and the operator can connect to agents.

use k8s_openapi::{
    api::networking::v1::{IPBlock, NetworkPolicyPeer},
    apimachinery::pkg::{
        apis::meta::v1::{LabelSelector, LabelSelectorRequirement},
        util::intstr::IntOrString,
    },
};
use kubewright_apply::{
    meta_v1::{LabelSelectorApply, LabelSelectorRequirementApply},
    networking_v1::{
        IPBlockApply, NetworkPolicyApply, NetworkPolicyIngressRuleApply, NetworkPolicyPeerApply,
        NetworkPolicyPortApply, NetworkPolicySpecApply,
    },
};

use super::{AgentOptions, PORT_NAME, pod::selector};
use crate::names::{CONTROLLER, NAME_LABEL, Names};

/// The label with the name of a namespace, which the API server sets.
const NAMESPACE_LABEL: &str = "kubernetes.io/metadata.name";

/// Agents open no connections, so that the policy has no rule for egress.
pub(super) fn network_policy(names: &Names, peers: &[NetworkPolicyPeer], agent: &AgentOptions) -> NetworkPolicyApply {
    let peers = peers.iter().cloned().map(peer);
    let port = NetworkPolicyPortApply::new().with_port(IntOrString::String(PORT_NAME.to_owned())).with_protocol("TCP");
    let rule = NetworkPolicyIngressRuleApply::new().with_from(peers.chain([operator(agent)])).with_ports([port]);
    let spec = NetworkPolicySpecApply::new()
        .with_ingress([rule])
        .with_pod_selector(selector(names))
        .with_policy_types(["Ingress".to_owned(), "Egress".to_owned()]);
    NetworkPolicyApply::new(names.child(), names.namespace()).with_labels(names.labels()).with_spec(spec)
}

/// Returns the Pods of the operator, which request the reports of agents.
fn operator(agent: &AgentOptions) -> NetworkPolicyPeerApply {
    NetworkPolicyPeerApply::new()
        .with_namespace_selector(
            LabelSelectorApply::new().with_match_labels([(NAMESPACE_LABEL, agent.operator_namespace.as_str())]),
        )
        .with_pod_selector(LabelSelectorApply::new().with_match_labels([(NAME_LABEL, CONTROLLER)]))
}

fn peer(peer: NetworkPolicyPeer) -> NetworkPolicyPeerApply {
    let ip_block = |block: IPBlock| IPBlockApply { cidr: Some(block.cidr), except: block.except };
    NetworkPolicyPeerApply {
        ip_block: peer.ip_block.map(ip_block),
        namespace_selector: peer.namespace_selector.map(label_selector),
        pod_selector: peer.pod_selector.map(label_selector),
    }
}

fn label_selector(selector: LabelSelector) -> LabelSelectorApply {
    let requirement = |LabelSelectorRequirement { key, operator, values }| LabelSelectorRequirementApply {
        key: Some(key),
        operator: Some(operator),
        values,
    };
    LabelSelectorApply {
        match_expressions: selector.match_expressions.map(|all| all.into_iter().map(requirement).collect()),
        match_labels: selector.match_labels,
    }
}
