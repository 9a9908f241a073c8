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
//! let server = kubewright_apiserver::ApiServer::new();
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
//! with `/status` and `/scale` if it declares them. Every write records field ownership in `metadata.managedFields`;
//! server-side apply uses it together with the list and map types of the schema, and reports conflicts.
//!
//! The kinds that kube-apiserver 1.36 serves by default are served too, in version `v1` (autoscalers in `v2`):
//!
//! | group | kinds |
//! |---|---|
//! | core | `ConfigMap`, `Endpoints`, `Event`, `LimitRange`, `Node`, `PersistentVolume`, `PersistentVolumeClaim`, `Pod`, `PodTemplate`, `ReplicationController`, `ResourceQuota`, `Secret`, `Service`, `ServiceAccount` |
//! | `admissionregistration.k8s.io` | `MutatingAdmissionPolicy`, `MutatingAdmissionPolicyBinding`, `MutatingWebhookConfiguration`, `ValidatingAdmissionPolicy`, `ValidatingAdmissionPolicyBinding`, `ValidatingWebhookConfiguration` |
//! | `apiregistration.k8s.io` | `APIService` |
//! | `apps` | `ControllerRevision`, `DaemonSet`, `Deployment`, `ReplicaSet`, `StatefulSet` |
//! | `autoscaling` | `HorizontalPodAutoscaler` |
//! | `batch` | `CronJob`, `Job` |
//! | `certificates.k8s.io` | `CertificateSigningRequest`, with `/approval` |
//! | `coordination.k8s.io` | `Lease` |
//! | `discovery.k8s.io` | `EndpointSlice` |
//! | `events.k8s.io` | `Event` |
//! | `networking.k8s.io` | `IPAddress`, `Ingress`, `IngressClass`, `NetworkPolicy`, `ServiceCIDR` |
//! | `node.k8s.io` | `RuntimeClass` |
//! | `policy` | `PodDisruptionBudget` |
//! | `rbac.authorization.k8s.io` | `ClusterRole`, `ClusterRoleBinding`, `Role`, `RoleBinding` |
//! | `resource.k8s.io` | `DeviceClass`, `ResourceClaim`, `ResourceClaimTemplate`, `ResourceSlice` |
//! | `scheduling.k8s.io` | `PriorityClass`, with the two system classes |
//! | `storage.k8s.io` | `CSIDriver`, `CSINode`, `CSIStorageCapacity`, `StorageClass`, `VolumeAttachment`, `VolumeAttributesClass` |
//!
//! With k8s-openapi's types of an older version of Kubernetes, the kinds of `resource.k8s.io` and
//! `VolumeAttributesClass` (1.34) or the mutating admission policies (1.36) are not served.
//!
//! The service `default/kubernetes` exists from the start, with its endpoints.
//!
//! Their bodies are decoded as Go decodes them, defaulted, validated against their schemas, and merged by Kubernetes'
//! list and map types.
//!
//! # Not implemented
//!
//! - Kinds and paths: `ComponentStatus`, `FlowSchema`, `PriorityLevelConfiguration`, `HorizontalPodAutoscaler` in
//!   `autoscaling/v1`, and `/metrics`.
//! - Controllers other than the garbage collector, the namespace controller, the usage of quotas and the aggregation of
//!   roles ([`Builder::collects_garbage`]): nothing creates the pods of a Deployment or writes another status.
//! - Services: cluster IPs outside `10.0.0.0/16` and IPv6. Their `IPAddress` and `ServiceCIDR` objects do not exist,
//!   and those of clients have no effect; only the `parentRef` of an address is validated, which is immutable. The
//!   service account of a Pod (the `ServiceAccount` admission plugin) is not set.
//! - Aggregated API servers: an `APIService` is stored without validation and without an effect, and its table has name
//!   and age only. Those of the served versions do not exist.
//! - Certificates are not parsed, the usages and the signer of a request are any text, and every user with the
//!   permission for `/approval` or `/status` can act for any signer.
//! - Validation beyond the schemas covers the most common errors: containers, probes, volumes and mounts, strategies,
//!   selectors, schedules, roles, ingress paths, ranges. Not validated: affinities, topology spread constraints,
//!   security contexts except ids, projected volumes, resize policies, volume sources in full, metrics and behaviors of
//!   autoscalers, webhook configurations.
//! - Duplicate fields: the last one wins, and neither `fieldValidation=Strict` nor warnings report them.
//! - OpenAPI version 2: the document has no kinds, so that kubectl and Helm do not use it. Version 3 has all of them.
//! - Updates of existing pods: hardly any field can change, and the error does not show the difference. Built-in kinds
//!   return warnings only for deprecated fields and for the tokens of storage drivers.
//! - Admission policies are evaluated, except for requests to `/scale`, `/binding` and
//!   `/eviction`; there is no audit log for their action `Audit`.
//! - Times are returned as they were written, not in their shortest representation.
//! - Kubelets: a pod on a node gets its grace period when it is deleted, and remains until it is deleted with a period
//!   of 0.
//! - Subresources other than `/status` and `/scale`; `/binding`, `/ephemeralcontainers` and `/eviction` of a pod;
//!   `/finalize` of a namespace; `/approval` of a certificate signing request; and `/token` of a service account.
//!   Logs return 404 except on a socket (`serve::serve`).
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
//! JSON and YAML are nested up to 127 levels, where the real server accepts 10,000. An object with its managed fields
//! is about five levels deeper, so that one of more than 122 levels cannot be sent back with them. JSON with invalid
//! Unicode is rejected, where the real server replaces it by U+FFFD.
//!
//! In addition, nothing that a request computes is much larger than its body and the object, where the real server can
//! run out of memory: aliases in YAML add at most 400,000 nodes and text of 6 MiB, defaults at most 3 MiB, errors are
//! listed up to 1 MiB and their paths have at most 4 KiB, and the cells of a table are null once they are larger than
//! the object. `tests/memory.rs` verifies it for each kind of body.
//!
//! # The program
//!
//! The feature `serve` adds the server on a socket (`serve::serve`, with
//! `serve::Limits`) and objects in a data directory (`Builder::build_on`);
//! `program` adds a program that serves real kubectl: `cargo run -p kubewright-apiserver --features program -- --port 0
//! --write-kubeconfig FILE [--data-dir
//! DIR]`. Discovery, OpenAPI and health checks are served with and without the features. The program serves HTTPS and
//! authenticates requests (`serve::serve_tls`), unless it has the option `--insecure`; the kubeconfig has the
//! credentials of an administrator.
//!
//! # Authentication
//!
//! By default the user of a request is an administrator, who can impersonate users (`kubectl --as`), or the user of
//! [`ApiServer::client_as`]. With [`Builder::authentication`] a client certificate or a bearer token identifies the
//! user: a configured token, or a token of a service account. The server issues tokens of service accounts
//! (`TokenRequest`), bound to pods, secrets and nodes, and reviews them (`TokenReview`). Not implemented: the keys of
//! the issuer (`/openid/v1/jwks`), tokens in Secrets, bootstrap tokens, OpenID Connect, and webhooks.
//!
//! # Authorization
//!
//! By default every user may do anything, and access reviews always allow. With [`Builder::rbac`], or
//! `--authorization-mode RBAC` of the program, roles and bindings decide, as on a real server: with aggregated roles,
//! the default roles `admin`, `edit`, `view`, `cluster-admin` and those of discovery, rejection of privilege
//! escalation, impersonation, and the texts of the errors and reviews. [`ApiServer::client_as`] returns the client of a
//! user, and [`ApiServer::authorizations`] lists what users did and tried to do. [`Coverage`] compares it with the
//! rules of a role, and so does it with the audit log of a real server ([`audited_authorizations`]). The default roles
//! of the components of the control plane do not exist, and existing default roles are not reconciled.
//!
//! # Webhooks
//!
//! With [`ApiServer::call_webhooks`], writes call the webhooks of the stored `MutatingWebhookConfiguration`s and
//! `ValidatingWebhookConfiguration`s: a function of the test in place of an HTTPS client. The order, the rules and
//! selectors, the reviews, the checks of the responses, failure policies, timeouts, reinvocation, warnings and errors
//! are those of the real server. Not called are webhooks for `/scale`, `/binding`, `/eviction` and `/token`, for
//! reviews, and for what the controllers of this server do. Webhooks see a pod without its priority. A webhook with
//! `matchConditions` is an error, because they are not evaluated.
//!
//! With `serve::call_webhooks` webhooks are called over HTTPS, and so does the program: with their `caBundle`, at their
//! URL or at a ready endpoint of their service.
//!
//! # Versions
//!
//! A custom kind in several versions is stored in one and read in any, as on a real server. With the conversion
//! strategy `None`, fields that the other version does not have are dropped. With the strategy `Webhook`, a function
//! converts ([`ApiServer::convert`]), or else the webhook of the definition, through the same client as other webhooks.
//! Reviews, the checks of the responses, the time limit of 30 s and the errors are those of the real server, with these
//! differences:
//!
//! - A list and the initial events of a watch need one review for 256 objects or 2 MiB, and not one for each object. If
//!   the webhook rejects it, the objects are converted one by one up to the first that is rejected.
//! - Nothing is cached: a list in another version than the stored one calls the webhook each time. Each watch in such a
//!   version calls it, and ends with an error event if an object cannot be converted.
//! - The controllers of this server do not convert: garbage collection and the deletion of a namespace do not need the
//!   webhook.
//! - Each connection of the HTTPS client is used once, responses have at most 32 MiB, and redirects are errors.
//!
//! All known differences to a real server are in `tests/conformance/differences.yaml`, with the checks that show them;
//! those that users of kubectl see are in `tests/kubectl/differences.yaml`.

mod api;
mod authentication;
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

#[cfg(feature = "serve")]
pub use crate::server::serve;
#[cfg(feature = "data-dir")]
pub use crate::storage::data_dir::{DataDirError, Safety};
pub use crate::{
    authentication::{
        options::Authentication,
        signing_key::{SigningKey, SigningKeyError},
        static_tokens::TokenFileError,
    },
    authorization::recorder::Authorization,
    handlers::load::LoadError,
    response::body::Body,
    server::{api_server::ApiServer, builder::Builder},
    testing::{
        actions::{Action, Actions, PatchType},
        audit_log::audited_authorizations,
        coverage::{Coverage, CoverageReport},
        fake::{Fake, Fakeable},
        faults::{Fault, FaultLayer, FaultService, Faults, Rule, Seen},
        reactors::{Reaction, ReactorLayer, ReactorService, Reactors},
        requests::Requests,
    },
    wire::request_info::{RequestInfo, Verb},
};
