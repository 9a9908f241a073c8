//! The definitions: as templates that survive the release, or applied by a Job of the operator.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        batch::v1::{Job, JobSpec},
        core::v1::{Container, PodSpec, PodTemplateSpec, ServiceAccount},
        rbac::v1::PolicyRule,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kubewright_core::description::{ConversionWebhookDescription, KindDescription, Verb};
use serde_json::Value;

use super::{
    ChartError, Document, encode,
    helpers::Helpers,
    pods::place_pod,
    template::{Map, Template},
    webhooks::{CERT_MANAGER, ca_annotation, certificate_id, name_prefix, place_conversion},
};
use crate::{
    config::{
        NAMESPACE, Project,
        manager::{container_security, pod_security},
    },
    rbac::{cluster_role, cluster_role_binding, normalize},
};

/// The name of the objects of the Job, after the prefix of the release.
const NAME: &str = "crds";
const INSTALL: &str = ".Values.crds.install";
const JOB: &str = ".Values.crds.job";
const KEEP: &str = ".Values.crds.keep";
const RESOURCE_POLICY: &str = "helm.sh/resource-policy";
/// The flag of `crds apply` with the namespace and the name of a Certificate.
const CA_FROM_FLAG: &str = "--inject-ca-from";
const RBAC: &str = ".Values.rbac.create";

/// Returns the template of a definition, whose objects a webhook can convert.
pub(super) fn definition(
    definition: &Value,
    conversion: Option<&ConversionWebhookDescription>,
    helpers: Helpers<'_>,
) -> Result<Document, ChartError> {
    let mut template = Template::from(definition.clone());
    let mut annotations = vec![((RESOURCE_POLICY.to_owned(), Template::Scalar("keep".into())), KEEP)];
    if let Some(conversion) = conversion {
        place_conversion(&mut template, conversion, helpers)?;
        annotations.push((ca_annotation(helpers), CERT_MANAGER));
    }
    annotate(template.map_at("/metadata")?, annotations);
    Ok(Document::new(&[INSTALL, &format!("not {JOB}")], template))
}

/// Adds annotations, each with its condition. Without any there is no map of annotations.
fn annotate(metadata: &mut Map, annotations: Vec<((String, Template), &str)>) {
    let conditions: Vec<_> = annotations.iter().map(|(_, condition)| *condition).collect();
    let exists = matches!(metadata.entries.get("annotations"), Some(Template::Map(_)));
    // A single annotation of a new map has the condition of the map.
    let (any, is_alone) = match conditions[..] {
        [condition] => (condition.to_owned(), !exists),
        _ => (format!("or {}", conditions.join(" ")), false),
    };
    let annotations = annotations.into_iter().map(|((name, value), condition)| {
        let value = if is_alone { value } else { value.only_if(condition) };
        (name, value)
    });
    match metadata.entries.get_mut("annotations") {
        Some(Template::Map(existing)) => existing.entries.extend(annotations),
        _ => metadata.set("annotations", Template::map(annotations).only_if(&any)),
    }
}

/// Returns the files and the objects of the Job: its service account, its role and binding, and the Job.
pub(super) fn job(
    project: &Project,
    names: &[String],
    helpers: Helpers<'_>,
) -> Result<Vec<(&'static str, Document)>, ChartError> {
    let metadata = || ObjectMeta {
        labels: Some(BTreeMap::from([("app.kubernetes.io/name".to_owned(), project.settings.name.clone())])),
        name: Some(NAME.to_owned()),
        ..ObjectMeta::default()
    };
    let namespaced = || ObjectMeta { namespace: Some(NAMESPACE.to_owned()), ..metadata() };
    let account = ServiceAccount { metadata: namespaced(), ..ServiceAccount::default() };
    let role = cluster_role(metadata(), rules(&project.kinds, names));
    let binding = cluster_role_binding(metadata(), NAME, NAMESPACE);
    let job = Job { metadata: namespaced(), spec: Some(job_spec()), ..Job::default() };
    // Hooks of one weight are created in the order of their names.
    let objects = [
        ("service_account", encode(&account)?, &[INSTALL, JOB][..]),
        ("role", encode(&role)?, &[INSTALL, JOB, RBAC]),
        ("role_binding", encode(&binding)?, &[INSTALL, JOB, RBAC]),
        ("job", encode(&job)?, &[INSTALL, JOB]),
    ];
    let mut documents = Vec::new();
    for (weight, (file, object, conditions)) in (-3..).zip(objects) {
        let mut template = super::place(object, helpers)?;
        template.map_at("/metadata")?.set("annotations", hook(weight, file == "job"));
        if file == "role_binding" {
            template.map_at("/subjects/0")?.set("name", helpers.object(NAME));
        }
        if file == "job" {
            place_pod(&mut template, "/spec/template/spec", helpers)?;
            template.map_at("/spec/template/spec")?.set("serviceAccountName", helpers.object(NAME));
            if !project.description.conversion_webhooks.is_empty() {
                place_conversions(&mut template, helpers)?;
            }
        }
        documents.push((file, Document::new(conditions, template)));
    }
    Ok(documents)
}

/// Passes the prefix of the names of the release and the Certificate to the program.
fn place_conversions(job: &mut Template, helpers: Helpers<'_>) -> Result<(), ChartError> {
    let container = "/spec/template/spec/containers/0";
    job.map_at(container)?.set("env", Template::List(vec![name_prefix(helpers)]));
    let flag = Template::Expression(format!("{CA_FROM_FLAG}={}", certificate_id(helpers)));
    job.list_at(&format!("{container}/args"))?.push(flag.only_if(CERT_MANAGER));
    Ok(())
}

/// Creates the object before an install or upgrade, and deletes it afterwards. The log of a Job that fails is printed.
fn hook(weight: i32, has_log: bool) -> Template {
    let mut annotations = vec![
        ("helm.sh/hook", "pre-install,pre-upgrade".to_owned()),
        ("helm.sh/hook-delete-policy", "before-hook-creation,hook-succeeded".to_owned()),
        ("helm.sh/hook-weight", weight.to_string()),
    ];
    if has_log {
        annotations.push(("helm.sh/hook-output-log-policy", "hook-failed".to_owned()));
    }
    Template::map(annotations.into_iter().map(|(key, value)| (key.to_owned(), Template::Scalar(value.into()))))
}

/// Permits what `crds apply` does: it applies the definitions of this operator and waits for them, migrates their
/// objects, and then removes old versions from the status. The name of a new object cannot restrict its creation.
fn rules(kinds: &[KindDescription], names: &[String]) -> Vec<PolicyRule> {
    let on_definitions = |resource: &str, verbs: &[Verb], names: Option<&[String]>| PolicyRule {
        api_groups: Some(vec!["apiextensions.k8s.io".to_owned()]),
        resources: Some(vec![resource.to_owned()]),
        resource_names: names.map(<[String]>::to_vec),
        verbs: verbs.iter().map(|verb| verb.as_str().to_owned()).collect(),
        ..PolicyRule::default()
    };
    let mut rules = vec![
        on_definitions("customresourcedefinitions", &[Verb::Create], None),
        on_definitions("customresourcedefinitions", &[Verb::Get, Verb::List, Verb::Patch, Verb::Watch], Some(names)),
        on_definitions("customresourcedefinitions/status", &[Verb::Patch], Some(names)),
    ];
    let migrate = [Verb::Get, Verb::List, Verb::Patch, Verb::Update];
    rules.extend(kinds.iter().map(|kind| kind.permission(migrate).rule));
    normalize(rules)
}

fn job_spec() -> JobSpec {
    let container = Container {
        name: NAME.to_owned(),
        args: Some(["crds", "apply"].map(str::to_owned).into()),
        security_context: Some(container_security()),
        ..Container::default()
    };
    let pod = PodSpec {
        containers: vec![container],
        restart_policy: Some("Never".to_owned()),
        security_context: Some(pod_security()),
        ..PodSpec::default()
    };
    JobSpec {
        backoff_limit: Some(2),
        template: PodTemplateSpec { metadata: None, spec: Some(pod) },
        ..JobSpec::default()
    }
}
