//! Types of Kubernetes' own.

#![allow(dead_code)]

use k8s_openapi::api::batch::v1::JobTemplateSpec;
use k8s_openapi::api::core::v1::{ContainerPort, LocalObjectReference};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{JSON, JSONSchemaProps};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, MicroTime, ObjectMeta, Time};
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright_crd::structural::{EmbeddedMetadata, Options};
use schemars::JsonSchema;
use serde_json::json;

use super::{Row, row};

#[derive(JsonSchema)]
struct Bytes {
    #[schemars(with = "String", extend("format" = "byte"))]
    data: k8s_openapi::ByteString,
}

/// Many of Kubernetes' own: the server takes and serves them all.
#[derive(JsonSchema)]
struct Many {
    deployment: k8s_openapi::api::apps::v1::DeploymentSpec,
    stateful_set: k8s_openapi::api::apps::v1::StatefulSetSpec,
    daemon_set: k8s_openapi::api::apps::v1::DaemonSet,
    autoscaler: k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscalerSpec,
    cron_job: k8s_openapi::api::batch::v1::CronJobStatus,
    endpoints: k8s_openapi::api::core::v1::Endpoints,
    node: k8s_openapi::api::core::v1::Node,
    volume: k8s_openapi::api::core::v1::PersistentVolumeSpec,
    claim: k8s_openapi::api::core::v1::PersistentVolumeClaim,
    pod: k8s_openapi::api::core::v1::PodStatus,
    service: k8s_openapi::api::core::v1::Service,
    account: k8s_openapi::api::core::v1::ServiceAccount,
    slice: k8s_openapi::api::discovery::v1::EndpointSlice,
    flow: k8s_openapi::api::flowcontrol::v1::FlowSchema,
    ingress: k8s_openapi::api::networking::v1::Ingress,
    policy: k8s_openapi::api::networking::v1::NetworkPolicySpec,
    budget: k8s_openapi::api::policy::v1::PodDisruptionBudget,
    role: k8s_openapi::api::rbac::v1::ClusterRole,
    resource_claim: k8s_openapi::api::resource::v1::ResourceClaim,
    class: k8s_openapi::api::storage::v1::StorageClass,
    webhooks: k8s_openapi::api::admissionregistration::v1::ValidatingAdmissionPolicySpec,
}

pub(super) fn rows() -> Vec<Row> {
    let labels = json!({"name": "a", "labels": {"a": "b"}, "managedFields": []});
    let metadata = |name, metadata| {
        let mut row = row::<ObjectMeta>(name, vec![labels.clone()]);
        row.options = Options { metadata, ..row.options };
        row
    };
    vec![
        row::<IntOrString>("IntOrString", vec![json!(80), json!("http"), json!(1.5), json!(true)]),
        row::<Quantity>("Quantity", vec![json!("1500m"), json!(2), json!("1.5Gi"), json!("abc"), json!("1 Gi")]),
        row::<RawExtension>("RawExtension", vec![json!({"kind": "A", "a": [1]}), json!("a")]),
        row::<JSON>("JSON", vec![json!({"a": [1]}), json!("a"), json!(1.5)]),
        row::<Bytes>("ByteString", vec![json!({"data": "aGk="}), json!({"data": "?"})]),
        row::<Time>("Time", vec![json!("2024-01-01T00:00:00Z"), json!("yesterday")]),
        row::<MicroTime>("MicroTime", vec![json!("2024-01-01T00:00:00.000000Z")]),
        metadata("ObjectMeta", EmbeddedMetadata::Subset),
        metadata("ObjectMeta, full", EmbeddedMetadata::Full),
        metadata("ObjectMeta, none", EmbeddedMetadata::None),
        row::<LabelSelector>("LabelSelector", vec![json!({"matchLabels": {"a": "b"}})]),
        row::<LocalObjectReference>("LocalObjectReference", vec![json!({})]),
        row::<Vec<ContainerPort>>("list of ContainerPort", vec![json!([{"containerPort": 80}])]),
        row::<Vec<Condition>>("list of Condition", vec![json!([{"type": "Ready"}])]),
        row::<JSONSchemaProps>("JSONSchemaProps", vec![]),
        row::<Many>("many built-in types", vec![]),
        row::<JobTemplateSpec>(
            "JobTemplateSpec",
            vec![
                json!({"spec": {"template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [
                    {"name": "a", "image": "a", "ports": [{"containerPort": 80}]},
                ]}}}}),
                json!({"spec": {"template": {"spec": {"containers": [{"name": "a"}, {"name": "a"}]}}}}),
            ],
        ),
    ]
}
