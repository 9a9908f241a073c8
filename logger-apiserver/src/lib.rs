//! An in-memory Kubernetes API server as a [`tower::Service`]
//!
//! It is the server side of a real [`kube::Client`]: typed clients, informers and controllers run over it unchanged, in one
//! process, with tokio's time paused if a test likes. It is no mock: it follows kube-apiserver's rules for objects, versions,
//! watches, custom resource definitions and refusals, down to the text of the `Status`.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), kube::Error> {
//! use k8s_openapi::api::core::v1::Namespace;
//! use kube::Api;
//!
//! let server = logger_apiserver::ApiServer::new();
//! let namespaces: Api<Namespace> = Api::all(server.client());
//! assert!(namespaces.get_opt("default").await?.is_some());
//! # Ok(())
//! # }
//! ```
//!
//! Between this or any other server and a client, [`Faults`] make requests fail, hang, crawl or break off, and tell which were
//! sent; [`Reactors`] answer in the server's place and record every action with its object. Both are tower layers.
//!
//! Served from the start: `Namespace` and `CustomResourceDefinition`; a definition that is created brings its kind, with
//! `/status` and `/scale` if it says so. Every write says in `metadata.managedFields` who owns which field, and server-side
//! apply goes by that and by the schema's list and map types, conflicts and all.
//!
//! Served too, each in its version `v1` (autoscalers in `v2`), are the kinds operators write:
//!
//! | group | kinds |
//! |---|---|
//! | core | `ConfigMap`, `Endpoints`, `Event`, `LimitRange`, `Node`, `PersistentVolume`, `PersistentVolumeClaim`, `Pod`, `ResourceQuota`, `Secret`, `Service`, `ServiceAccount` |
//! | `admissionregistration.k8s.io` | `MutatingWebhookConfiguration`, `ValidatingAdmissionPolicy`, `ValidatingAdmissionPolicyBinding`, `ValidatingWebhookConfiguration` |
//! | `apps` | `ControllerRevision`, `DaemonSet`, `Deployment`, `ReplicaSet`, `StatefulSet` |
//! | `autoscaling` | `HorizontalPodAutoscaler` |
//! | `batch` | `CronJob`, `Job` |
//! | `coordination.k8s.io` | `Lease` |
//! | `discovery.k8s.io` | `EndpointSlice` |
//! | `events.k8s.io` | `Event` |
//! | `networking.k8s.io` | `Ingress`, `IngressClass`, `NetworkPolicy` |
//! | `policy` | `PodDisruptionBudget` |
//! | `rbac.authorization.k8s.io` | `ClusterRole`, `ClusterRoleBinding`, `Role`, `RoleBinding` |
//! | `scheduling.k8s.io` | `PriorityClass`, with the two of the system |
//! | `storage.k8s.io` | `StorageClass` |
//!
//! They are read as Go reads them, defaulted, checked against their schemas and merged by Kubernetes' own list and map types.
//! Of these kinds is not done:
//!
//! - No controllers run but the garbage collector and the one that empties namespaces ([`Builder::collects_garbage`]): nothing
//!   makes a pod of a Deployment, writes a status or aggregates roles. Nor is a role a reason to refuse a request.
//! - Services have addresses of `10.0.0.0/16` alone, of version 4; there is no service `kubernetes`. A Pod's service account (a
//!   kube-apiserver with the plugin `ServiceAccount` does that) and the finalizers of volumes and claims are not filled in.
//! - Rules beyond the schemas are those users hit most: of containers, probes, volumes and mounts, strategies, selectors, schedules, roles,
//!   paths of ingresses, bounds. What is not looked at: affinities, topology spreads, security contexts but for the ids, projected volumes,
//!   resize policies, volume sources in full, metrics and behaviours of autoscalers, webhook configurations, CEL in admission policies.
//! - Of a pod that is there hardly anything changes; the refusal does not show what would have. The warnings of built-in kinds are given
//!   of what is deprecated alone.
//! - No webhook and no admission policy is asked, and no quota or range of limits bounds anything: they are kept and shown.
//! - Times come back as they were written, and not in their shortest form.
//! - No kubelet runs: a pod on a node that is deleted has its grace period, and stays until it is deleted with a period of 0.
//! - Of the subresources there are `/status`, `/scale`, a pod's `/eviction` and `/binding`, and a namespace's `/finalize`; others, as logs,
//!   ephemeral containers and resizes, are not found.
//!
//! A list can be of any version the server still knows, in pages or whole; a watch can begin at any. How much is known is
//! [`Builder::history`]; [`ApiServer::compact`] forgets it. Objects are sent whole, as `PartialObjectMetadata`
//! or as rows of a `Table`, with the columns of their definition or those `kubectl get` shows of built-in kinds. Bodies and
//! answers are JSON, YAML or, of built-in kinds, the protobuf that Go's clients prefer.
//!
//! With the feature `serve` it is a program, too: `cargo run -p logger-apiserver --features serve -- --port 0
//! --write-kubeconfig FILE [--data-dir DIR]` serves real kubectl (`serve::serve`), and keeps its objects if it is told where
//! (`Builder::build_on`). Discovery, OpenAPI and health checks are there with and without. There is neither TLS nor
//! authentication: whoever reaches it may do anything, reviews of access are always allowed, and every token is an admin's.
//!
//! A custom kind in several versions is stored in one and read in any, as on a real server whose definition converts by strategy `None`.
//! A definition may say that it converts by a webhook; none is called, so what would have to be converted is refused (code 500).
//!
//! Each difference that is known is in `tests/conformance/differences.yaml`, beside the checks that show it, and what kubectl's
//! users see of them in `tests/kubectl/differences.yaml`.

mod api;
mod controllers;
mod handlers;
mod lifecycle;
mod meta;
mod resource;
mod response;
mod server;
mod storage;
mod testing;
mod wire;

pub use crate::{
    handlers::load::LoadError,
    response::answer::Body,
    server::{api_server::ApiServer, builder::Builder},
    testing::{
        actions::{Action, Actions, PatchType},
        fake,
        faults::{Fault, FaultLayer, FaultService, Faults, Rule, Seen},
        reactors::{Reaction, ReactorLayer, ReactorService, Reactors, WatchFeed},
        request_info::{RequestInfo, Verb},
        requests::Requests,
    },
};
#[cfg(feature = "serve")]
pub use crate::{
    server::serve,
    storage::data_dir::{DataDirError, Safety},
};
