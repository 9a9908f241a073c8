//! An in-memory Kubernetes API server as a [`tower::Service`].
//!
//! It is the server side of a real [`kube::Client`]: typed clients, informers and controllers run on it unchanged, in
//! one process, with paused tokio time if a test wants that. It is not a mock: it implements kube-apiserver's rules for
//! objects, resource versions, watches, custom resource definitions and errors, including the text of each `Status`.
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
//! Two tower layers wrap this or any other server: [`Faults`] makes requests fail, hang, slow
//! down or disconnect, and counts them; [`Reactors`] responds in place of the server and records every action with its
//! object.
//!
//! # Resources
//!
//! `Namespace` and `CustomResourceDefinition` are served from the start. The kind of a stored definition is served,
//! with `/status` and `/scale` if it declares them. Every write records field ownership in `metadata.managedFields`; server-side apply
//! uses it together with the list and map types of the schema, and reports conflicts.
//!
//! The kinds that operators write are served too, each in version `v1` (autoscalers in `v2`):
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
//! | `scheduling.k8s.io` | `PriorityClass`, with the two system classes |
//! | `storage.k8s.io` | `StorageClass` |
//!
//! Their bodies are decoded as Go decodes them, defaulted, validated against their schemas, and merged by Kubernetes'
//! list and map types.
//!
//! # Not implemented
//!
//! - Controllers other than the garbage collector, the namespace controller and the aggregation of roles
//!   ([`Builder::collects_garbage`]): nothing creates the pods of a Deployment or writes a status.
//! - Services: cluster IPs outside `10.0.0.0/16`, IPv6, and the service `kubernetes`. The service account of a Pod (the
//!   `ServiceAccount` admission plugin) and the finalizers of volumes and claims are not set.
//! - Validation beyond the schemas covers the most common errors: containers, probes, volumes and mounts, strategies,
//!   selectors, schedules, roles, ingress paths, ranges. Not validated: affinities, topology spread constraints,
//!   security contexts except ids, projected volumes, resize policies, volume sources in full, metrics and behaviors of
//!   autoscalers, webhook configurations.
//! - Updates of existing pods: hardly any field can change, and the error does not show the difference. Built-in kinds
//!   return warnings only for deprecated fields.
//! - Webhooks, quotas and limit ranges are stored and shown, but not evaluated. Admission policies are evaluated, except
//!   for requests to `/scale`, `/binding` and `/eviction`; there is no audit log for their action `Audit`.
//! - Times are returned as they were written, not in their shortest representation.
//! - Kubelets: a pod on a node gets its grace period when it is deleted, and remains until it is deleted with a period
//!   of 0.
//! - Subresources other than `/status`, `/scale`, `/eviction` and `/binding` of a pod, and `/finalize` of a namespace.
//!   Ephemeral containers and resizes return 404, and so do logs except on a socket (`serve::serve`).
//!
//! # Reads
//!
//! A list can be of any resource version in the history, complete or in pages; a watch can start at any of them. The
//! history is bounded by [`Builder::history`] and [`Builder::history_bytes`], and [`ApiServer::compact`] discards it.
//! Objects are sent in full, as `PartialObjectMetadata`, or as rows of a `Table`, with the printer columns of their
//! definition or those of `kubectl get` for built-in kinds. Bodies are JSON, YAML or, for built-in kinds, the protobuf
//! encoding that Go clients prefer.
//!
//! # Limits
//!
//! Sizes are limited as on the real server, with its errors: 3 MiB for a body, 1 MiB for the data of a `ConfigMap` or a
//! `Secret`, 256 KiB for annotations, and 1.5 MiB for the stored representation of an object, which is protobuf for
//! built-in kinds. An object that is too large is stored without its managed fields if it fits then, as there. A JSON
//! patch has at most 10,000 operations, which copy at most 3 MiB.
//!
//! In addition, nothing that a request computes is much larger than its body and the object, where the real server can
//! run out of memory: aliases in YAML add at most 400,000 nodes and text of 6 MiB, defaults at most 3 MiB, errors are
//! listed up to 1 MiB and their paths have at most 4 KiB, and the cells of a table are null once they are larger than
//! the object. `tests/memory.rs` verifies it for each kind of body.
//!
//! # The program
//!
//! The feature `serve` adds a program: `cargo run -p logger-apiserver --features serve -- --port 0 --write-kubeconfig
//! FILE [--data-dir DIR]` serves real kubectl (`serve::serve`, with `serve::Limits`) and persists objects in a data
//! directory (`Builder::build_on`). Discovery, OpenAPI and health checks are served with and without the feature. There
//! is neither TLS nor authentication: every client is an administrator, who can impersonate users (`kubectl --as`), and
//! every token is that of an administrator.
//!
//! # Authorization
//!
//! By default every user may do anything, and access reviews always allow. With [`Builder::rbac`], or
//! `--authorization-mode RBAC` of the program, roles and bindings decide, as on a real server: with aggregated roles, the
//! default roles `admin`, `edit`, `view`, `cluster-admin` and those of discovery, rejection of privilege escalation,
//! impersonation, and the texts of the errors and reviews. [`ApiServer::client_as`] returns the client of a user, and
//! [`ApiServer::authorizations`] lists what users did and tried to do. [`Coverage`] compares it with the rules of a role,
//! and so does it with the audit log of a real server ([`audited_authorizations`]). The default roles of the components
//! of the control plane do not exist, existing default roles are not reconciled, and impersonated UIDs and extra fields
//! are ignored.
//!
//! # Versions
//!
//! A custom kind in several versions is stored in one and read in any, as on a real server with the conversion strategy
//! `None`. Webhook conversion is not implemented: an object that needs it fails with code 500.
//!
//! All known differences to a real server are in `tests/conformance/differences.yaml`, with the checks that show them;
//! those that users of kubectl see are in `tests/kubectl/differences.yaml`.

mod api;
mod authorization;
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
    authorization::recorder::Authorization,
    handlers::load::LoadError,
    response::api_response::Body,
    server::{api_server::ApiServer, builder::Builder},
    testing::{
        actions::{Action, Actions, PatchType},
        audit_log::audited_authorizations,
        coverage::{Coverage, CoverageReport},
        fake,
        faults::{Fault, FaultLayer, FaultService, Faults, Rule, Seen},
        reactors::{Reaction, ReactorLayer, ReactorService, Reactors, WatchFeed},
        requests::Requests,
    },
    wire::request_info::{RequestInfo, Verb},
};
#[cfg(feature = "serve")]
pub use crate::{
    server::serve,
    storage::data_dir::{DataDirError, Safety},
};
