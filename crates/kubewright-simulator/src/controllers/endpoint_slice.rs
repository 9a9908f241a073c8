//! The EndpointSlice controller: the addresses of the pods that a Service selects.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    api::{
        core::v1::{Node, ObjectReference, Pod, Service, ServicePort},
        discovery::v1::{Endpoint, EndpointConditions, EndpointPort, EndpointSlice},
    },
    apimachinery::pkg::{apis::meta::v1::ObjectMeta, util::intstr::IntOrString},
};
use kube::{
    ResourceExt,
    api::{DeleteParams, PostParams},
};
use kubewright_runtime::{Action, Controller, Error, ObjectKey, ReconcileContext, ReconcileError, Store};

use crate::{
    environment::Environment,
    model::{
        labels, nodes,
        pods::{self, controller_of, controller_reference, has_finished, is_ready, is_terminating},
    },
};

const SERVICE_NAME: &str = "kubernetes.io/service-name";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const MANAGER: &str = "endpointslice-controller.k8s.io";
/// The maximum number of endpoints of a slice, as in kube-controller-manager.
const MAX_ENDPOINTS: usize = 100;

struct State {
    pods: Store<Pod>,
    nodes: Store<Node>,
    slices: Store<EndpointSlice>,
}

pub(super) fn controller(environment: &Environment) -> Controller {
    let (services, slices) =
        (environment.factory.informer::<Service>(), environment.factory.informer::<EndpointSlice>());
    let (pods, nodes) = (environment.pods(), environment.nodes());
    let state = State { pods: pods.store(), nodes: nodes.store(), slices: slices.store() };
    let known = services.store();
    let services_of = move |pod: &Pod| {
        let services = known.list_namespace(pod.metadata.namespace.as_deref().unwrap_or_default());
        let selecting = services.iter().filter(|service| selects(service, pod));
        selecting.map(|service| ObjectKey::from_object(&**service)).collect::<Vec<_>>()
    };
    Controller::new("endpointslice", &services)
        .owns(&slices)
        .watches(&pods, services_of)
        .reconcile_with(move |_| state, reconcile)
        .build()
}

fn selects(service: &Service, pod: &Pod) -> bool {
    let selector = service.spec.as_ref().and_then(|spec| spec.selector.as_ref());
    selector.is_some_and(|selector| !selector.is_empty() && labels::contains(pod.labels(), selector))
}

async fn reconcile(service: Arc<Service>, context: ReconcileContext<State>) -> Result<Action, ReconcileError> {
    let spec = service.spec.clone().unwrap_or_default();
    let has_selector = spec.selector.as_ref().is_some_and(|selector| !selector.is_empty());
    if is_terminating(&*service) || !has_selector || spec.type_.as_deref() == Some("ExternalName") {
        return Ok(Action::Done);
    }
    let mut pods = context.pods.list_namespace(context.key().namespace());
    pods.retain(|pod| !has_finished(pod) && selects(&service, pod));
    pods.sort_by_key(|pod| pod.name_any());
    let mut groups: Vec<(Vec<EndpointPort>, Vec<Endpoint>)> = Vec::new();
    for pod in &pods {
        let Some(endpoint) = endpoint(&service, pod, &context) else { continue };
        let ports = ports(spec.ports.as_deref().unwrap_or_default(), pod);
        match groups.iter_mut().find(|(known, _)| *known == ports) {
            Some((_, endpoints)) => endpoints.push(endpoint),
            None => groups.push((ports, vec![endpoint])),
        }
    }
    let mut desired = Vec::new();
    for (ports, endpoints) in &groups {
        desired.extend(endpoints.chunks(MAX_ENDPOINTS).map(|chunk| slice(&service, ports, chunk)));
    }
    if desired.is_empty() {
        desired.push(slice(&service, &[], &[]));
    }
    write(&service, desired, &context).await?;
    Ok(Action::Done)
}

/// Updates existing slices, creates missing ones and deletes the rest.
async fn write(service: &Service, desired: Vec<EndpointSlice>, context: &ReconcileContext<State>) -> Result<(), Error> {
    let mut existing = context.slices.list_namespace(context.key().namespace());
    existing.retain(|slice| controller_of(&**slice).is_some_and(|by| Some(&by.uid) == service.metadata.uid.as_ref()));
    existing.sort_by_key(|slice| slice.name_any());
    let client = context.typed::<EndpointSlice>();
    let mut reusable = existing.into_iter();
    for slice in desired {
        match reusable.next() {
            Some(known) if is_equal(&known, &slice) => {}
            Some(known) => {
                let updated = EndpointSlice { metadata: known.metadata.clone(), ..slice };
                client.update(&updated, &PostParams::default()).await?;
            }
            None => drop(client.create(&slice, &PostParams::default()).await?),
        }
    }
    for surplus in reusable {
        match client.delete(&surplus.name_any(), &DeleteParams::default()).await {
            Err(error) if !error.is_not_found() => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Returns whether two slices have the same ports and endpoints. No list is equal to an empty one.
fn is_equal(slice: &EndpointSlice, other: &EndpointSlice) -> bool {
    slice.ports.as_deref().unwrap_or_default() == other.ports.as_deref().unwrap_or_default()
        && slice.endpoints.as_deref().unwrap_or_default() == other.endpoints.as_deref().unwrap_or_default()
}

fn slice(service: &Service, ports: &[EndpointPort], endpoints: &[Endpoint]) -> EndpointSlice {
    let labels = [(SERVICE_NAME.to_owned(), service.name_any()), (MANAGED_BY.to_owned(), MANAGER.to_owned())];
    EndpointSlice {
        metadata: ObjectMeta {
            generate_name: Some(format!("{}-", service.name_any())),
            namespace: service.namespace(),
            labels: Some(service.labels().clone().into_iter().chain(labels).collect::<BTreeMap<_, _>>()),
            owner_references: controller_reference(service).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        address_type: "IPv4".to_owned(),
        endpoints: Some(endpoints.to_vec()),
        ports: Some(ports.to_vec()).filter(|ports| !ports.is_empty()),
    }
}

/// Returns the endpoint of a pod that has an address.
fn endpoint(service: &Service, pod: &Pod, context: &ReconcileContext<State>) -> Option<Endpoint> {
    let address = pod.status.as_ref()?.pod_ip.clone()?;
    let node = pods::node_name(pod).map(str::to_owned);
    let zone = node.as_ref().and_then(|node| context.nodes.get("", node)).map(|node| nodes::zone(&node).to_owned());
    let publishes = service.spec.as_ref().and_then(|spec| spec.publish_not_ready_addresses).unwrap_or_default();
    let (serving, terminating) = (is_ready(pod), is_terminating(pod));
    Some(Endpoint {
        addresses: vec![address],
        conditions: Some(EndpointConditions {
            ready: Some(publishes || serving && !terminating),
            serving: Some(serving),
            terminating: Some(terminating),
        }),
        node_name: node,
        zone: zone.filter(|zone| !zone.is_empty()),
        target_ref: Some(ObjectReference {
            kind: Some("Pod".to_owned()),
            namespace: pod.namespace(),
            name: Some(pod.name_any()),
            uid: pod.uid(),
            ..ObjectReference::default()
        }),
        ..Endpoint::default()
    })
}

/// Returns the ports of a Service on a pod. A named target port is that of a container.
fn ports(ports: &[ServicePort], pod: &Pod) -> Vec<EndpointPort> {
    let port = |port: &ServicePort| {
        let number = match &port.target_port {
            None => port.port,
            Some(IntOrString::Int(number)) => *number,
            Some(IntOrString::String(name)) => {
                let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
                let mut ports = containers.flat_map(|container| container.ports.iter().flatten());
                ports.find(|port| port.name.as_ref() == Some(name))?.container_port
            }
        };
        Some(EndpointPort {
            name: Some(port.name.clone().unwrap_or_default()),
            port: Some(number),
            protocol: Some(port.protocol.clone().unwrap_or_else(|| "TCP".to_owned())),
            app_protocol: port.app_protocol.clone(),
        })
    };
    ports.iter().filter_map(port).collect()
}
