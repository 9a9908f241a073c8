//! The places of values in pods: those of the Deployment, and that of the Job.

use super::{ChartError, helpers::Helpers, template::Template};

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
    let pull_policy = Template::pipeline(".Values.image.pullPolicy").only_if(".Values.image.pullPolicy");
    container.set("imagePullPolicy", pull_policy);
    container.set("resources", Template::With(".Values.resources".to_owned()));
    Ok(())
}

/// Places the values of the Deployment. `namespaced` are the variables of an operator that watches its own namespace.
pub(super) fn place_deployment(
    deployment: &mut Template,
    namespaced: Vec<Template>,
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
    deployment.map_at(container)?.set("env", environment(namespaced));
    // The health checks can be on the port of the metrics, which then has their name.
    for port in deployment.list_at(&format!("{container}/ports"))? {
        if matches!(port.at("/name"), Ok(name) if *name == Template::Scalar("metrics".into())) {
            *port = port.clone().only_if(".Values.metrics.enabled");
        }
    }
    Ok(())
}

fn environment(namespaced: Vec<Template>) -> Template {
    let value = Template::pipeline(".Values.logLevel | quote");
    let log = [("name".to_owned(), Template::Scalar(LOG_FILTER.into())), ("value".to_owned(), value)];
    let mut items = vec![Template::With(".Values.env".to_owned()), Template::map(log).only_if(".Values.logLevel")];
    items.extend(namespaced.into_iter().map(|variable| variable.only_if(".Values.rbac.namespaced")));
    Template::List(items).only_if("or .Values.env .Values.logLevel .Values.rbac.namespaced")
}
