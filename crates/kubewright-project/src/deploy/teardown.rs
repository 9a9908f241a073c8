//! The deletion of objects, and what prevents it.

use std::process::Stdio;

use serde_json::Value;

use super::{
    DeployError, Kubectl, Timeout,
    manifest::{describe, items, name},
};

/// Deletes all custom resources of these definitions, and waits until they are finalized.
pub(super) fn custom_resources(kubectl: &Kubectl, definitions: &[Value], timeout: &Timeout) -> Result<(), DeployError> {
    let timeout = format!("--timeout={timeout}");
    for definition in definitions {
        let mut args = vec!["delete", name(definition), "--all", "--wait=true", &timeout];
        args.extend(all_namespaces(definition));
        if let Err(error) = kubectl.show(&args) {
            let objects = remaining(kubectl, definition)?;
            return Err(if objects.is_empty() { error } else { DeployError::Finalizers { objects } });
        }
    }
    Ok(())
}

fn is_namespaced(definition: &Value) -> bool {
    definition["spec"]["scope"] == "Namespaced"
}

fn all_namespaces(definition: &Value) -> Option<&'static str> {
    is_namespaced(definition).then_some("--all-namespaces")
}

/// Returns the custom resources that still exist, with their finalizers.
fn remaining(kubectl: &Kubectl, definition: &Value) -> Result<Vec<String>, DeployError> {
    let mut args = vec!["get", name(definition), "--output=json"];
    args.extend(all_namespaces(definition));
    let objects = kubectl.json(&args)?.map_or_else(Vec::new, items);
    Ok(objects.iter().map(with_finalizers).collect())
}

fn with_finalizers(object: &Value) -> String {
    let finalizers = object["metadata"]["finalizers"].as_array().into_iter().flatten();
    let finalizers: Vec<_> = finalizers.filter_map(Value::as_str).collect();
    match finalizers[..] {
        [] => format!("{}: no finalizers", describe(object)),
        _ => format!("{}: {}", describe(object), finalizers.join(", ")),
    }
}

/// Whether a namespace contains custom resources of these definitions.
pub(super) fn contains_custom_resources(
    kubectl: &Kubectl,
    definitions: &[Value],
    namespace: &str,
) -> Result<bool, DeployError> {
    let namespace = format!("--namespace={namespace}");
    for definition in definitions.iter().filter(|definition| is_namespaced(definition)) {
        if !kubectl.run(&["get", name(definition), &namespace, "--output=name"])?.trim().is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Deletes objects that can be deleted already.
pub(super) fn objects(kubectl: &Kubectl, objects: &[&Value], timeout: &Timeout) -> Result<(), DeployError> {
    if objects.is_empty() {
        return Ok(());
    }
    let timeout = format!("--timeout={timeout}");
    let args = ["delete", "--ignore-not-found", "--wait=true", &timeout, "--filename=-"];
    kubectl.with_objects(&args, objects, Stdio::inherit())
}

/// Deletes definitions.
pub(super) fn definitions(kubectl: &Kubectl, definitions: &[Value], timeout: &Timeout) -> Result<(), DeployError> {
    if definitions.is_empty() {
        return Ok(());
    }
    let timeout = format!("--timeout={timeout}");
    let mut args = vec!["delete", "customresourcedefinitions", "--ignore-not-found", "--wait=true", &timeout];
    args.extend(definitions.iter().map(name));
    kubectl.show(&args)
}

/// Deletes a namespace with everything in it.
pub(super) fn namespace(kubectl: &Kubectl, namespace: &str, timeout: &Timeout) -> Result<(), DeployError> {
    let timeout = format!("--timeout={timeout}");
    let args = ["delete", "namespace", namespace, "--ignore-not-found", "--wait=true", &timeout];
    let Err(error) = kubectl.show(&args) else { return Ok(()) };
    let found = kubectl.json(&["get", "namespace", namespace, "--ignore-not-found", "--output=json"])?;
    match found {
        Some(found) => Err(DeployError::Namespace { name: namespace.to_owned(), reasons: reasons(&found) }),
        None => Err(error),
    }
}

/// Returns the messages of the conditions that are true.
fn reasons(namespace: &Value) -> Vec<String> {
    let conditions = namespace["status"]["conditions"].as_array().into_iter().flatten();
    let unmet = conditions.filter(|condition| condition["status"] == "True");
    unmet.filter_map(|condition| condition["message"].as_str()).map(str::to_owned).collect()
}
