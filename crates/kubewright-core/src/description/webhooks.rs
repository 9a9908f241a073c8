//! The webhooks of an operator: which requests the API server sends to which path.

use k8s_openapi::{
    api::admissionregistration::v1::{
        MatchCondition, MutatingWebhook, RuleWithOperations, ValidatingWebhook, WebhookClientConfig,
    },
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};
use serde::{Deserialize, Serialize};

use super::KindDescription;

/// The version of the reviews that the handlers read and write.
const REVIEW_VERSIONS: [&str; 1] = ["v1"];

/// An admission webhook of one kind: which requests the API server sends to it, and what happens if it does not answer.
///
/// The path is that of the handler. The server whose [paths](super::ServerDescription::paths) contain it has its port.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AdmissionWebhookDescription {
    /// The name, which is unique: a DNS subdomain with at least three labels. The API server shows it in rejections.
    pub name: String,
    /// Whether it changes or validates objects.
    pub admission: AdmissionType,
    /// The path of the handler.
    pub path: String,
    /// The kind of the objects.
    pub kind: KindDescription,
    /// The subresources whose requests are sent besides those of the objects themselves, such as `status`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subresources: Vec<String>,
    /// The operations.
    pub operations: Vec<Operation>,
    /// What happens if the webhook cannot be called.
    pub failure_policy: FailurePolicy,
    /// Which versions of the objects are sent.
    pub match_policy: MatchPolicy,
    /// Whether a call changes anything besides the object.
    pub side_effects: SideEffects,
    /// How long the API server waits for the response, in seconds: 1 to 30.
    pub timeout_seconds: i32,
    /// Whether it is called again after later webhooks changed the object. Only for mutating webhooks.
    #[serde(default)]
    pub reinvocation_policy: ReinvocationPolicy,
    /// CEL expressions that all must be true; at most 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub match_conditions: Vec<MatchCondition>,
    /// The labels of the namespaces of the objects; all namespaces if it is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace_selector: Option<LabelSelector>,
    /// The labels of the objects; all objects if it is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_selector: Option<LabelSelector>,
}

/// The type of an admission webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum AdmissionType {
    /// It changes objects. It is called before the validation of the schema.
    Mutating,
    /// It accepts or denies objects. It is called last.
    Validating,
}

/// An operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operation {
    /// The object is created.
    Create,
    /// The object is replaced, patched or applied.
    Update,
    /// The object is deleted.
    Delete,
    /// A connection to a subresource is opened, such as `pods/exec`.
    Connect,
}

impl Operation {
    /// Returns the name in rules of webhooks.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
            Operation::Connect => "CONNECT",
        }
    }
}

/// What happens to a request if the webhook cannot be called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum FailurePolicy {
    /// The request fails.
    #[default]
    Fail,
    /// The request is admitted without the webhook.
    Ignore,
}

/// Which versions of an object are sent to the webhook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum MatchPolicy {
    /// Requests of the version of the webhook only.
    Exact,
    /// Requests of every version, whose objects are converted to the version of the webhook.
    #[default]
    Equivalent,
}

/// Whether a call changes anything besides the object of the review.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum SideEffects {
    /// It changes nothing.
    #[default]
    None,
    /// It changes nothing if the request is a dry run.
    NoneOnDryRun,
}

/// Whether a mutating webhook is called again after later webhooks changed the object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum ReinvocationPolicy {
    /// It is called once.
    #[default]
    Never,
    /// It can be called once more.
    IfNeeded,
}

macro_rules! named {
    ($($type:ident: $($variant:ident),+;)+) => {$(
        impl $type {
            /// Returns the name in the configuration of a webhook.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => stringify!($variant),)+
                }
            }
        }
    )+};
}

named! {
    FailurePolicy: Fail, Ignore;
    MatchPolicy: Exact, Equivalent;
    SideEffects: None, NoneOnDryRun;
    ReinvocationPolicy: Never, IfNeeded;
}

impl AdmissionWebhookDescription {
    /// The default timeout, as that of the API server.
    pub const TIMEOUT_SECONDS: i32 = 10;

    /// Describes a webhook for the creation and the update of objects, with the defaults of the API server and the
    /// [path](Self::default_path) and name of kubebuilder's conventions. The group replaces kubebuilder's `kb.io` in
    /// the name.
    #[must_use]
    pub fn new(admission: AdmissionType, kind: KindDescription) -> Self {
        AdmissionWebhookDescription {
            name: default_name(admission, &kind),
            admission,
            path: Self::default_path(admission, &kind),
            kind,
            subresources: Vec::new(),
            operations: vec![Operation::Create, Operation::Update],
            failure_policy: FailurePolicy::default(),
            match_policy: MatchPolicy::default(),
            side_effects: SideEffects::default(),
            timeout_seconds: Self::TIMEOUT_SECONDS,
            reinvocation_policy: ReinvocationPolicy::default(),
            match_conditions: Vec::new(),
            namespace_selector: None,
            object_selector: None,
        }
    }

    /// Returns the path of the webhook of a kind by kubebuilder's convention, such as
    /// `/validate-apps-example-com-v1-widget`.
    #[must_use]
    pub fn default_path(admission: AdmissionType, kind: &KindDescription) -> String {
        let verb = match admission {
            AdmissionType::Mutating => "mutate",
            AdmissionType::Validating => "validate",
        };
        format!("/{verb}-{}-{}-{}", kind.group.replace('.', "-"), kind.version, kind.kind.to_lowercase())
    }

    /// Returns the rule of the webhook: its kind, subresources and operations.
    #[must_use]
    pub fn rule(&self) -> RuleWithOperations {
        let subresources = self.subresources.iter().map(|name| format!("{}/{name}", self.kind.plural));
        RuleWithOperations {
            api_groups: Some(vec![self.kind.group.clone()]),
            api_versions: Some(vec![self.kind.version.clone()]),
            operations: Some(self.operations.iter().map(|operation| operation.name().to_owned()).collect()),
            resources: Some([self.kind.plural.clone()].into_iter().chain(subresources).collect()),
            scope: None,
        }
    }

    /// Returns the entry of a `MutatingWebhookConfiguration`, without the defaults of the API server; `None` for a
    /// validating webhook. The client configuration contains the path.
    #[must_use]
    pub fn to_mutating_webhook(&self, client_config: WebhookClientConfig) -> Option<MutatingWebhook> {
        let reinvocation = Some(self.reinvocation_policy).filter(|policy| *policy != ReinvocationPolicy::default());
        (self.admission == AdmissionType::Mutating).then(|| MutatingWebhook {
            admission_review_versions: review_versions(),
            client_config,
            failure_policy: Some(self.failure_policy.name().to_owned()),
            match_conditions: self.conditions(),
            match_policy: self.changed_match_policy(),
            name: self.name.clone(),
            namespace_selector: self.namespace_selector.clone(),
            object_selector: self.object_selector.clone(),
            reinvocation_policy: reinvocation.map(|policy| policy.name().to_owned()),
            rules: Some(vec![self.rule()]),
            side_effects: self.side_effects.name().to_owned(),
            timeout_seconds: self.changed_timeout(),
        })
    }

    /// Returns the entry of a `ValidatingWebhookConfiguration`, without the defaults of the API server; `None` for a
    /// mutating webhook. The client configuration contains the path.
    #[must_use]
    pub fn to_validating_webhook(&self, client_config: WebhookClientConfig) -> Option<ValidatingWebhook> {
        (self.admission == AdmissionType::Validating).then(|| ValidatingWebhook {
            admission_review_versions: review_versions(),
            client_config,
            failure_policy: Some(self.failure_policy.name().to_owned()),
            match_conditions: self.conditions(),
            match_policy: self.changed_match_policy(),
            name: self.name.clone(),
            namespace_selector: self.namespace_selector.clone(),
            object_selector: self.object_selector.clone(),
            rules: Some(vec![self.rule()]),
            side_effects: self.side_effects.name().to_owned(),
            timeout_seconds: self.changed_timeout(),
        })
    }

    fn conditions(&self) -> Option<Vec<MatchCondition>> {
        Some(self.match_conditions.clone()).filter(|conditions| !conditions.is_empty())
    }

    fn changed_match_policy(&self) -> Option<String> {
        Some(self.match_policy)
            .filter(|policy| *policy != MatchPolicy::default())
            .map(|policy| policy.name().to_owned())
    }

    fn changed_timeout(&self) -> Option<i32> {
        Some(self.timeout_seconds).filter(|timeout| *timeout != Self::TIMEOUT_SECONDS)
    }
}

fn review_versions() -> Vec<String> {
    REVIEW_VERSIONS.map(str::to_owned).to_vec()
}

/// Returns a name with at least three labels, such as `vwidget-v1.apps.example.com`. Groups without a dot are those of
/// Kubernetes itself.
fn default_name(admission: AdmissionType, kind: &KindDescription) -> String {
    let prefix = match admission {
        AdmissionType::Mutating => 'm',
        AdmissionType::Validating => 'v',
    };
    let group = match kind.group.as_str() {
        "" => "core.k8s.io".to_owned(),
        group if group.contains('.') => group.to_owned(),
        group => format!("{group}.k8s.io"),
    };
    format!("{prefix}{}-{}.{group}", kind.kind.to_lowercase(), kind.version)
}

/// A conversion webhook of one kind: objects of every version are converted at one path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversionWebhookDescription {
    /// The API group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The resource.
    pub plural: String,
    /// The path of the handler.
    pub path: String,
}

impl ConversionWebhookDescription {
    /// Describes the webhook of a kind at the path `/convert/<plural>.<group>`.
    #[must_use]
    pub fn new(group: &str, kind: &str, plural: &str) -> Self {
        ConversionWebhookDescription {
            group: group.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            path: format!("/convert/{plural}.{group}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(group: &str, version: &str, kind: &str) -> KindDescription {
        KindDescription {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            plural: format!("{}s", kind.to_lowercase()),
            namespaced: true,
        }
    }

    #[test]
    fn paths_follow_the_convention_of_kubebuilder() {
        let path = |group, version, name| {
            AdmissionWebhookDescription::default_path(AdmissionType::Mutating, &kind(group, version, name))
        };
        assert_eq!(path("apps.example.com", "v1", "Widget"), "/mutate-apps-example-com-v1-widget");
        assert_eq!(path("", "v1", "Pod"), "/mutate--v1-pod");
    }

    #[test]
    fn names_have_at_least_three_labels() {
        let name =
            |group| AdmissionWebhookDescription::new(AdmissionType::Validating, kind(group, "v1", "Widget")).name;
        assert_eq!(name("example.com"), "vwidget-v1.example.com");
        assert_eq!(name("apps"), "vwidget-v1.apps.k8s.io");
        assert_eq!(name(""), "vwidget-v1.core.k8s.io");
    }

    #[test]
    fn a_webhook_is_rendered_without_the_defaults_of_the_server() {
        let mut webhook =
            AdmissionWebhookDescription::new(AdmissionType::Validating, kind("example.com", "v1", "Widget"));
        webhook.subresources.push("status".to_owned());
        assert_eq!(webhook.to_mutating_webhook(WebhookClientConfig::default()), None);
        let rendered = webhook.to_validating_webhook(WebhookClientConfig::default()).unwrap();
        assert_eq!((rendered.timeout_seconds, rendered.match_policy, rendered.match_conditions), (None, None, None));
        assert_eq!((rendered.side_effects.as_str(), rendered.failure_policy.as_deref()), ("None", Some("Fail")));
        let rule = &rendered.rules.unwrap()[0];
        assert_eq!(rule.resources.as_deref().unwrap(), ["widgets", "widgets/status"]);
        assert_eq!(rule.operations.as_deref().unwrap(), ["CREATE", "UPDATE"]);
    }

    #[test]
    fn a_description_is_the_same_after_serialization() {
        let mut webhook =
            AdmissionWebhookDescription::new(AdmissionType::Mutating, kind("example.com", "v1", "Widget"));
        webhook.timeout_seconds = 3;
        webhook.operations.push(Operation::Delete);
        webhook.namespace_selector = Some(LabelSelector::default());
        let json = serde_json::to_string(&webhook).unwrap();
        assert!(json.contains(r#""operations":["CREATE","UPDATE","DELETE"]"#), "{json}");
        assert_eq!(serde_json::from_str::<AdmissionWebhookDescription>(&json).unwrap(), webhook);
    }
}
