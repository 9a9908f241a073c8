//! The ClusterServiceVersion: what OLM installs, and what catalogs show.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{admissionregistration::v1::RuleWithOperations, apps::v1::DeploymentSpec, rbac::v1::PolicyRule},
    apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta},
};
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClusterServiceVersion {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    pub(super) metadata: ObjectMeta,
    pub(super) spec: ClusterServiceVersionSpec,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClusterServiceVersionSpec {
    #[serde(rename = "customresourcedefinitions")]
    pub(super) custom_resource_definitions: CustomResourceDefinitions,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    pub(super) display_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) icon: Option<[Icon; 1]>,
    pub(super) install: InstallStrategy,
    pub(super) install_modes: Vec<InstallMode>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) keywords: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) links: Vec<Link>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) maintainers: Vec<Maintainer>,
    pub(super) maturity: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min_kube_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) provider: Option<Provider>,
    pub(super) related_images: Vec<RelatedImage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) replaces: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) skips: Vec<String>,
    pub(super) version: String,
    #[serde(rename = "webhookdefinitions", skip_serializing_if = "Vec::is_empty")]
    pub(super) webhook_definitions: Vec<WebhookDefinition>,
}

/// A webhook, for which OLM creates the configuration, the Service and the certificate.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookDefinition {
    pub(super) admission_review_versions: Vec<String>,
    pub(super) container_port: u16,
    #[serde(rename = "conversionCRDs", skip_serializing_if = "Vec::is_empty")]
    pub(super) conversion_definitions: Vec<String>,
    pub(super) deployment_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failure_policy: Option<String>,
    pub(super) generate_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) match_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) object_selector: Option<LabelSelector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reinvocation_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rules: Option<Vec<RuleWithOperations>>,
    pub(super) side_effects: String,
    pub(super) target_port: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timeout_seconds: Option<i32>,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) webhook_path: String,
}

#[derive(Serialize)]
pub(super) struct CustomResourceDefinitions {
    pub(super) owned: Vec<OwnedDefinition>,
}

/// One version of a definition of the bundle.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OwnedDefinition {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    pub(super) display_name: String,
    pub(super) kind: String,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) resources: Vec<OwnedResource>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) spec_descriptors: Vec<Descriptor>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) status_descriptors: Vec<Descriptor>,
    pub(super) version: String,
}

/// A kind of objects that the operator creates for an object. OLM requires the name, which can be empty.
#[derive(Serialize)]
pub(super) struct OwnedResource {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) version: String,
}

/// A field of the spec or the status.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    pub(super) display_name: String,
    pub(super) path: String,
}

#[derive(Serialize)]
pub(super) struct Icon {
    pub(super) base64data: String,
    pub(super) mediatype: &'static str,
}

#[derive(Serialize)]
pub(super) struct InstallStrategy {
    pub(super) strategy: &'static str,
    pub(super) spec: InstallSpec,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InstallSpec {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) cluster_permissions: Vec<Permissions>,
    pub(super) deployments: Vec<NamedDeployment>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) permissions: Vec<Permissions>,
}

/// The rules of a service account, which OLM creates.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Permissions {
    pub(super) rules: Vec<PolicyRule>,
    pub(super) service_account_name: String,
}

#[derive(Serialize)]
pub(super) struct NamedDeployment {
    pub(super) label: BTreeMap<String, String>,
    pub(super) name: String,
    pub(super) spec: DeploymentSpec,
}

#[derive(Serialize)]
pub(super) struct InstallMode {
    #[serde(rename = "type")]
    pub(super) mode: &'static str,
    pub(super) supported: bool,
}

#[derive(Serialize)]
pub(super) struct Link {
    pub(super) name: &'static str,
    pub(super) url: String,
}

#[derive(Serialize)]
pub(super) struct Maintainer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) email: Option<String>,
    pub(super) name: String,
}

#[derive(Serialize)]
pub(super) struct Provider {
    pub(super) name: String,
}

#[derive(Serialize)]
pub(super) struct RelatedImage {
    pub(super) image: String,
    pub(super) name: String,
}
