//! The topology of pods: they get the labels of their node.

use std::collections::BTreeMap;

use crate::{api::object::Object, resource::strategy::Objects};

/// The labels of nodes that their pods get, as the admission plugin `PodTopologyLabels` of kube-apiserver 1.36
/// declares.
const LABELS: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/// Returns the labels of the pods of a node. A node that does not exist has none.
pub(crate) fn labels(objects: &dyn Objects, node: &str) -> BTreeMap<String, String> {
    let node = objects.get("nodes", "", node);
    let of_node = node.as_ref().and_then(|node| node.metadata.labels.as_ref());
    LABELS.iter().filter_map(|name| Some(((*name).to_owned(), of_node?.get(*name)?.clone()))).collect()
}

/// Labels a new pod that is on a node already. Labels of the pod are replaced.
pub(crate) fn admit(objects: &dyn Objects, pod: &mut Object) {
    let node = pod.body.get("spec").and_then(|spec| spec["nodeName"].as_str()).filter(|node| !node.is_empty());
    let labels = node.map(|node| labels(objects, node)).unwrap_or_default();
    if !labels.is_empty() {
        pod.metadata.labels.get_or_insert_default().extend(labels);
    }
}
