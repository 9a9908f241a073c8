//! Where values go in the pods of the Deployment and of the Job.

use kubewright_core::description::WebhookNames;
use serde_json::json;

use super::{
    ChartError,
    helpers::Helpers,
    template::Template,
    webhooks::{CERT_MANAGER, SELF_MANAGED, name_prefix},
};
use crate::config::{
    manager::{CERTIFICATE_FLAG, CERTIFICATE_VOLUME},
    webhooks::CERTIFICATE_DIRECTORY,
};

/// The environment variable with the filter of the log.
const LOG_FILTER: &str = "RUST_LOG";

/// Places the values that all pods of the operator share, in the pod specification at a JSON pointer.
pub(super) fn place_pod(object: &mut Template, pod: &str, helpers: Helpers<'_>) -> Result<(), ChartError> {
    let spec = object.map_at(pod)?;
    for name in ["affinity", "imagePullSecrets", "nodeSelector", "tolerations"] {
        spec.set(name, Template::With(format!(".Values.{name}")));
    }
    let container = object.map_at(&format!("{pod}/containers/0"))?;
    container.set("image", helpers.image());
    let pull_policy = Template::pipeline(".Values.image.pullPolicy | quote").only_if(".Values.image.pullPolicy");
    container.set("imagePullPolicy", pull_policy);
    container.set("resources", Template::With(".Values.resources".to_owned()));
    Ok(())
}

/// Places the values of the Deployment. `namespaced` are the variables of an operator that watches its own namespace.
pub(super) fn place_deployment(
    deployment: &mut Template,
    namespaced: Vec<Template>,
    has_webhooks: bool,
    helpers: Helpers<'_>,
) -> Result<(), ChartError> {
    deployment.map_at("/spec")?.set("replicas", Template::pipeline("int .Values.replicas"));
    deployment.map_at("/spec/template/metadata/annotations")?.rest = Some(".Values.podAnnotations".to_owned());
    deployment.map_at("/spec/template/metadata/labels")?.rest = Some(".Values.podLabels".to_owned());
    deployment.map_at("/spec/template/spec")?.set("serviceAccountName", helpers.service_account());
    place_pod(deployment, "/spec/template/spec", helpers)?;
    let container = "/spec/template/spec/containers/0";
    let args = deployment.list_at(&format!("{container}/args"))?;
    // The subcommand is not a value.
    args.truncate(1);
    args.push(Template::With(".Values.args".to_owned()));
    let prefix = has_webhooks.then(|| name_prefix(helpers));
    deployment.map_at(container)?.set("env", environment(namespaced, prefix));
    if has_webhooks {
        mount_certificate(deployment, helpers)?;
    }
    // The health checks can be on the port of the metrics, which then has their name.
    for port in deployment.list_at(&format!("{container}/ports"))? {
        if matches!(port.at("/name"), Ok(name) if *name == Template::Scalar("metrics".into())) {
            *port = port.clone().only_if(".Values.metrics.enabled");
        }
    }
    Ok(())
}

/// Mounts the Secret that cert-manager writes, if it does.
fn mount_certificate(deployment: &mut Template, helpers: Helpers<'_>) -> Result<(), ChartError> {
    let container = "/spec/template/spec/containers/0";
    let flag = Template::Scalar(format!("{CERTIFICATE_FLAG}={CERTIFICATE_DIRECTORY}").into());
    deployment.list_at(&format!("{container}/args"))?.push(flag.only_if(CERT_MANAGER));
    let mount = json!([{"name": CERTIFICATE_VOLUME, "mountPath": CERTIFICATE_DIRECTORY, "readOnly": true}]);
    deployment.map_at(container)?.set("volumeMounts", Template::from(mount).only_if(CERT_MANAGER));
    let secret = Template::map([("secretName".to_owned(), helpers.object(WebhookNames::SECRET))]);
    let name = Template::Scalar(CERTIFICATE_VOLUME.into());
    let volume = Template::map([("name".to_owned(), name), ("secret".to_owned(), secret)]);
    deployment.map_at("/spec/template/spec")?.set("volumes", Template::List(vec![volume]).only_if(CERT_MANAGER));
    Ok(())
}

/// `prefix` is the variable of an operator with webhooks that issues their certificate itself.
fn environment(namespaced: Vec<Template>, prefix: Option<Template>) -> Template {
    let value = Template::pipeline(".Values.logLevel | quote");
    let log = [("name".to_owned(), Template::Scalar(LOG_FILTER.into())), ("value".to_owned(), value)];
    let mut items = vec![Template::With(".Values.env".to_owned()), Template::map(log).only_if(".Values.logLevel")];
    items.extend(namespaced.into_iter().map(|variable| variable.only_if(".Values.rbac.namespaced")));
    let mut condition = "or .Values.env .Values.logLevel .Values.rbac.namespaced".to_owned();
    if let Some(prefix) = prefix {
        items.push(prefix.only_if(SELF_MANAGED));
        condition += &format!(" ({SELF_MANAGED})");
    }
    Template::List(items).only_if(&condition)
}
