//! The rendered manifests of the Logger operator: the server accepts every object, and admits the pods of the operator
//! in a namespace that enforces the Pod Security Standard "restricted".

use std::{
    io::Write,
    process::{Output, Stdio},
    sync::Arc,
};

use envtest::ControlPlane;
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use super::{
    Suite,
    external::{self, is_external},
    trial,
};

/// The namespace of the rendered objects.
pub(super) const NAMESPACE: &str = "logger-operator-system";

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    vec![trial(suite, "manifests::the_server_accepts_every_rendered_object", the_server_accepts_every_rendered_object)]
}

fn the_server_accepts_every_rendered_object(control_plane: &ControlPlane) -> Result<(), Failed> {
    let mut objects = built(control_plane)?;
    let is_installed = external::install(control_plane)?;
    objects.retain(|object| is_appliable(object, is_installed));
    let namespace = objects.iter().find(|object| object["kind"] == "Namespace").ok_or("a namespace is rendered")?;
    // Further objects need it, also in a dry run.
    succeeded(&kubectl(control_plane, &["apply", "--server-side", "-f", "-"], namespace)?)?;
    let result = objects.iter().try_for_each(|object| accept(control_plane, object));
    let pod = operator_pod(&objects).and_then(|pod| accept(control_plane, &pod));
    succeeded(&kubectl(control_plane, &["delete", "--wait=false", "-f", "-"], namespace)?)?;
    result.and(pod)
}

/// Returns whether the object can be applied. The definitions of Loggers are omitted, as other trials apply them, and
/// so are objects of other projects unless their definitions are installed.
pub(super) fn is_appliable(object: &Value, is_installed: bool) -> bool {
    object["kind"] != "CustomResourceDefinition" && (is_installed || !is_external(object))
}

/// Builds `config/default`.
pub(super) fn built(control_plane: &ControlPlane) -> Result<Vec<Value>, Failed> {
    let directory = tests::workspace_root().join("config/default");
    let output = control_plane.kubectl().arg("kustomize").arg(directory).output()?;
    succeeded(&output)?;
    let text = String::from_utf8(output.stdout)?;
    text.split("\n---\n").map(|document| Ok(serde_saphyr::from_str(document)?)).collect()
}

/// Returns the pod of the Deployment. The API server only warns about Deployments, and rejects pods.
fn operator_pod(objects: &[Value]) -> Result<Value, Failed> {
    let deployment = objects.iter().find(|object| object["kind"] == "Deployment").ok_or("a Deployment is rendered")?;
    let mut spec = deployment["spec"]["template"]["spec"].clone();
    // No controller creates service accounts here.
    spec.as_object_mut().ok_or("a pod has a spec")?.remove("serviceAccountName");
    spec["automountServiceAccountToken"] = json!(false);
    let metadata = json!({"name": "operator", "namespace": NAMESPACE});
    Ok(json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}))
}

/// Applies the object in a strict dry run. A warning is an error.
pub(super) fn accept(control_plane: &ControlPlane, object: &Value) -> Result<(), Failed> {
    let args = ["apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f", "-"];
    let output = kubectl(control_plane, &args, object)?;
    succeeded(&output).map_err(|failed| {
        format!("{} {}: {}", object["kind"], object["metadata"]["name"], failed.message().unwrap_or_default())
    })?;
    match output.stderr.is_empty() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

pub(super) fn kubectl(control_plane: &ControlPlane, args: &[&str], object: &Value) -> Result<Output, Failed> {
    let mut command = control_plane.kubectl();
    let mut child = command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    child.stdin.take().ok_or("stdin is piped")?.write_all(object.to_string().as_bytes())?;
    Ok(child.wait_with_output()?)
}

pub(super) fn succeeded(output: &Output) -> Result<(), Failed> {
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}
