//! What a cluster serves and permits.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    DeployError, Kubectl,
    kubectl::message,
    manifest::{items, name, namespace},
};

/// A cluster that responds.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) kubectl: Kubectl,
    /// The served resources, by `apiVersion` and `kind`.
    resources: BTreeMap<(String, String), String>,
}

/// A verb, a resource with its group, and the namespace if it is restricted to one.
type Permission<'a> = (&'a str, &'a str, Option<&'a str>);

impl Cluster {
    /// Reads what the cluster serves.
    pub(super) fn connect(kubectl: Kubectl) -> Result<Self, DeployError> {
        let version = kubectl.output(&["get", "--raw=/version", "--request-timeout=10s"])?;
        if !version.status.success() {
            return Err(DeployError::Unreachable { message: message(&version) });
        }
        // It fails if one of several API servers does not respond, and lists the resources of all others.
        let resources = kubectl.output(&["api-resources", "--no-headers"])?;
        let resources = String::from_utf8_lossy(&resources.stdout).lines().filter_map(resource).collect();
        Ok(Cluster { kubectl, resources })
    }

    pub(super) fn serves(&self, object: &Value) -> bool {
        self.resource(object).is_some()
    }

    /// Fails if an object is of a kind that is not served.
    pub(super) fn require_served(&self, objects: &[&Value]) -> Result<(), DeployError> {
        let unknown = objects.iter().filter(|object| !self.serves(object));
        let kinds: BTreeSet<_> = unknown
            .map(|object| {
                let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
                format!("{} of {}", text("kind"), text("apiVersion"))
            })
            .collect();
        match kinds.is_empty() {
            true => Ok(()),
            false => Err(DeployError::UnknownKinds { kinds: kinds.into_iter().collect() }),
        }
    }

    /// Fails if the user lacks one of the verbs on an object, or on all objects of a resource.
    pub(super) fn require_permissions(
        &self,
        verbs: &[&str],
        objects: &[&Value],
        resources: &[&str],
    ) -> Result<(), DeployError> {
        if self.may(("*", "*", None))? {
            return Ok(());
        }
        let of_objects = objects.iter().filter_map(|object| Some((self.resource(object)?, namespace(object))));
        let of_all = of_objects.chain(resources.iter().map(|resource| (*resource, None)));
        let permissions: BTreeSet<Permission<'_>> = of_all
            .flat_map(|(resource, namespace)| verbs.iter().map(move |verb| (*verb, resource, namespace)))
            .collect();
        let mut missing = Vec::new();
        for (verb, resource, namespace) in permissions {
            if !self.may((verb, resource, namespace))? {
                let scope = namespace.map_or_else(String::new, |namespace| format!(" in {namespace}"));
                missing.push(format!("{verb} {resource}{scope}"));
            }
        }
        if missing.is_empty() { Ok(()) } else { Err(DeployError::Forbidden { missing }) }
    }

    fn may(&self, (verb, resource, namespace): Permission<'_>) -> Result<bool, DeployError> {
        let scope = namespace.map_or_else(|| "--all-namespaces".to_owned(), |name| format!("--namespace={name}"));
        Ok(self.kubectl.output(&["auth", "can-i", verb, resource, &scope])?.status.success())
    }

    /// Returns those of these definitions that exist. One that belongs to another installation is an error.
    pub(super) fn definitions(&self, names: &[&str], operator: &str) -> Result<Vec<Value>, DeployError> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let options = ["--ignore-not-found", "--show-managed-fields", "--output=json"];
        let found = self.kubectl.json(&[&["get", "customresourcedefinitions"], names, &options].concat())?;
        let found = found.map_or_else(Vec::new, items);
        for definition in &found {
            if let Some(manager) = foreign_manager(definition, operator) {
                let name = name(definition).to_owned();
                return Err(DeployError::ForeignDefinition { name, manager, operator: operator.to_owned() });
            }
        }
        Ok(found)
    }

    fn resource(&self, object: &Value) -> Option<&str> {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        self.resources.get(&(text("apiVersion"), text("kind"))).map(String::as_str)
    }
}

/// Parses a line of `kubectl api-resources`: the `apiVersion` and the `kind`, and the name with the group. The columns
/// are the name, short names if there are any, the `apiVersion`, whether it is namespaced, and the `kind`.
fn resource(line: &str) -> Option<((String, String), String)> {
    let columns: Vec<_> = line.split_whitespace().collect();
    let [name, .., version, _, kind] = columns[..] else { return None };
    let full_name = match version.split_once('/') {
        Some((group, _)) => format!("{name}.{group}"),
        None => name.to_owned(),
    };
    Some(((version.to_owned(), kind.to_owned()), full_name))
}

/// Returns a field manager of the definition, if neither a label nor a field manager is that of the operator.
fn foreign_manager(definition: &Value, operator: &str) -> Option<String> {
    if definition["metadata"]["labels"]["app.kubernetes.io/name"] == operator {
        return None;
    }
    let entries = definition["metadata"]["managedFields"].as_array().into_iter().flatten();
    let owners = entries.filter(|entry| entry["subresource"].is_null() && !entry["fieldsV1"]["f:spec"].is_null());
    let managers: Vec<_> = owners.filter_map(|entry| entry["manager"].as_str()).collect();
    let operator_managers = own_managers(operator);
    match managers.iter().any(|manager| operator_managers.iter().any(|name| name == manager)) {
        true => None,
        false => managers.first().map(|manager| (*manager).to_owned()),
    }
}

/// Returns the field managers of an operator: of what is deployed, and of its command `crds apply`.
pub(super) fn own_managers(operator: &str) -> [String; 2] {
    [field_manager(operator), format!("{operator}-crds")]
}

/// Returns the field manager of what is deployed.
pub(super) fn field_manager(operator: &str) -> String {
    format!("{operator}-deploy")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(api_version: &str, kind: &str, name: &str) -> Option<((String, String), String)> {
        Some(((api_version.to_owned(), kind.to_owned()), name.to_owned()))
    }

    #[test]
    fn resources_are_parsed_with_and_without_short_names() {
        let line = "deployments                deploy       apps/v1                    true         Deployment";
        assert_eq!(resource(line), entry("apps/v1", "Deployment", "deployments.apps"));
        assert_eq!(resource("bindings   v1   true   Binding"), entry("v1", "Binding", "bindings"));
        assert_eq!(resource("error: no server"), None);
    }

    #[test]
    fn a_definition_without_label_belongs_to_its_field_manager() {
        let definition = |manager: &str, labels: Value| {
            let entry = json!({"manager": manager, "fieldsV1": {"f:spec": {}}});
            let status = json!({"manager": "apiserver", "subresource": "status", "fieldsV1": {"f:status": {}}});
            json!({"metadata": {"managedFields": [status, entry], "labels": labels}})
        };
        let foreign = |manager, labels| foreign_manager(&definition(manager, labels), "widgets");
        assert_eq!(foreign("helm", Value::Null), Some("helm".to_owned()));
        assert_eq!(foreign("helm", json!({"app.kubernetes.io/name": "widgets"})), None);
        assert_eq!(foreign("widgets-deploy", Value::Null), None);
        assert_eq!(foreign("widgets-crds", Value::Null), None);
    }
}
