//! The objects of `config/` as a bundle contains them: with the prefix of `config/default`, and without a namespace.

use k8s_openapi::api::apps::v1::Deployment;
use kubewright_codegen::File;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{super::SUPPORTED_KINDS, BundleError, text};
use crate::workspace::Resource;

/// The kinds that OLM creates itself, from the ClusterServiceVersion, and files that are not objects.
const CREATED_BY_OLM: [&str; 6] =
    ["ClusterRoleBinding", "Kustomization", "Namespace", "Role", "RoleBinding", "ServiceAccount"];

/// The objects of a bundle.
pub(super) struct Objects {
    /// Those of the ClusterServiceVersion.
    pub(super) deployments: Vec<Deployment>,
    /// Those with a file.
    pub(super) others: Vec<Value>,
}

impl Objects {
    /// Selects the objects of the rendered files, and adds those of the user.
    pub(super) fn new(rendered: &[File], name: &str, resources: &[Resource]) -> Result<Self, BundleError> {
        let mut objects = Objects { deployments: Vec::new(), others: Vec::new() };
        for file in rendered {
            let object: Value = decode(file)?;
            match text(&object, "/kind") {
                "Deployment" => {
                    let mut deployment: Deployment = decode(file)?;
                    let of_config = deployment.metadata.name.take().unwrap_or_default();
                    deployment.metadata.name = Some(format!("{name}-{of_config}"));
                    objects.deployments.push(deployment);
                }
                kind if CREATED_BY_OLM.contains(&kind) => {}
                "ClusterRole" if is_bound(file, rendered) => {}
                _ => objects.add(object, name, &file.path)?,
            }
        }
        for Resource { path, object } in resources {
            objects.add(object.clone(), name, path)?;
        }
        Ok(objects)
    }

    fn add(&mut self, mut object: Value, name: &str, path: &str) -> Result<(), BundleError> {
        let kind = text(&object, "/kind");
        if !SUPPORTED_KINDS.contains(&kind) {
            return Err(BundleError::UnsupportedKind { path: path.to_owned(), kind: kind.to_owned() });
        }
        let prefixed = format!("{name}-{}", text(&object, "/metadata/name"));
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("namespace");
            metadata.insert("name".to_owned(), Value::String(prefixed));
        }
        self.others.push(object);
        Ok(())
    }
}

fn decode<T: DeserializeOwned>(file: &File) -> Result<T, BundleError> {
    serde_saphyr::from_str(&file.contents)
        .map_err(|source| BundleError::Decode { path: file.path.clone(), source: Box::new(source) })
}

/// Whether the role is bound to the operator: its permissions are in the ClusterServiceVersion. Roles of users are not
/// bound.
fn is_bound(role: &File, rendered: &[File]) -> bool {
    let binding = role.path.replace(".yaml", "_binding.yaml");
    rendered.iter().any(|file| file.path == binding)
}

/// Returns the name of the file of an object, as the Operator SDK names it.
pub(super) fn file_name(object: &Value) -> String {
    let (name, kind) = (text(object, "/metadata/name"), text(object, "/kind").to_lowercase());
    format!("{name}_{}_{kind}.yaml", text(object, "/apiVersion").replace('/', "_"))
}
