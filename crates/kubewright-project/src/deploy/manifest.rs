//! The objects of an operator.

use serde_json::Value;

use super::DeployError;

/// The container of the operator in its Deployment.
const CONTAINER: &str = "manager";

/// The objects of an operator, as `kubectl kustomize` prints them.
#[derive(Clone, Debug)]
pub struct Manifest(Vec<Value>);

impl Manifest {
    /// Parses a stream of YAML documents.
    ///
    /// # Errors
    /// Fails if the text is not YAML.
    pub fn parse(text: &str) -> Result<Self, DeployError> {
        let options = serde_saphyr::options! { with_snippet: false, legacy_octal_numbers: true };
        let objects: Result<Vec<Value>, _> = serde_saphyr::from_multiple_with_options(text, options);
        Ok(Manifest(objects.map_err(|error| DeployError::Syntax(Box::new(error)))?))
    }

    /// Replaces the image of the operator.
    ///
    /// # Errors
    /// Fails if there is no Deployment with the container of the operator.
    pub fn set_image(&mut self, image: &str) -> Result<(), DeployError> {
        let deployments = self.0.iter_mut().filter(|object| object["kind"] == "Deployment");
        let containers =
            deployments.filter_map(|object| object.pointer_mut("/spec/template/spec/containers")?.as_array_mut());
        let mut is_set = false;
        for container in containers.flatten().filter(|container| container["name"] == CONTAINER) {
            container["image"] = Value::from(image);
            is_set = true;
        }
        if is_set { Ok(()) } else { Err(DeployError::NoContainer) }
    }

    /// Returns the objects as a stream of YAML documents.
    ///
    /// # Errors
    /// Fails if an object cannot be encoded.
    pub fn to_yaml(&self) -> Result<String, DeployError> {
        let documents: Vec<_> = self.0.iter().map(serde_saphyr::to_string).collect::<Result<_, _>>()?;
        let documents: Vec<_> = documents.iter().map(|document| document.trim_end()).collect();
        Ok(documents.join("\n---\n") + "\n")
    }

    /// Returns all objects.
    #[must_use]
    pub fn objects(&self) -> Vec<&Value> {
        self.0.iter().collect()
    }

    /// Returns all objects, to change them.
    pub(super) fn objects_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.0.iter_mut()
    }

    /// Returns the objects that must exist before the others: the namespace and the definitions.
    pub(super) fn first(&self) -> Vec<&Value> {
        self.0.iter().filter(|object| is_first(object)).collect()
    }

    /// Returns all other objects.
    pub(super) fn operator(&self) -> Vec<&Value> {
        self.0.iter().filter(|object| !is_first(object)).collect()
    }

    pub(super) fn definitions(&self) -> Vec<&Value> {
        self.of_kind("CustomResourceDefinition")
    }

    pub(super) fn deployments(&self) -> Vec<&Value> {
        self.of_kind("Deployment")
    }

    /// Returns the names of the namespaces.
    pub(super) fn namespaces(&self) -> Vec<&str> {
        self.of_kind("Namespace").into_iter().map(name).collect()
    }

    fn of_kind(&self, kind: &str) -> Vec<&Value> {
        self.0.iter().filter(|object| object["kind"] == kind).collect()
    }
}

fn is_first(object: &Value) -> bool {
    object["kind"] == "Namespace" || object["kind"] == "CustomResourceDefinition"
}

/// Returns the name of an object.
pub(super) fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

/// Returns the namespace of an object.
pub(super) fn namespace(object: &Value) -> Option<&str> {
    object["metadata"]["namespace"].as_str()
}

/// Returns the kind, the namespace and the name of an object, such as `Deployment system/manager`.
pub(super) fn describe(object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap_or_default();
    match namespace(object) {
        Some(namespace) => format!("{kind} {namespace}/{}", name(object)),
        None => format!("{kind} {}", name(object)),
    }
}

/// Returns the items of a list, or the object itself.
pub(super) fn items(list: Value) -> Vec<Value> {
    match list {
        Value::Object(mut fields) => match fields.remove("items") {
            Some(Value::Array(items)) => items,
            _ => vec![Value::Object(fields)],
        },
        _ => Vec::new(),
    }
}
