//! The files of policies: one for each kind that has any, and a kustomization that lists them.

use std::collections::BTreeMap;

use kubewright_core::{
    meta::{ApiGroup, ApiKind},
    wire::Plain,
};
use kubewright_crd::policy::TypeChecker;
use serde_json::{Value, json};

use super::{
    check,
    objects::{PolicyObjects, objects},
};
use crate::{
    crd::{self, Definitions},
    diagnostic::{Diagnostic, Diagnostics, RustItem},
    layout::Layout,
    output::File,
};

/// Generated policies.
pub(crate) struct PolicyFiles {
    pub(crate) files: Vec<File>,
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Returns one file for the policies and bindings of each kind that declares any, named `<group>_<plural>.yaml`, and a
/// `kustomization.yaml` if the options enable it. There are no files without policies.
pub(crate) fn files(
    groups: &[ApiGroup],
    definitions: &Definitions,
    layout: &Layout,
) -> Result<PolicyFiles, Diagnostics> {
    let mut errors = Diagnostics::default();
    let mut documents: BTreeMap<String, (RustItem, String)> = BTreeMap::new();
    let mut warnings = Vec::new();
    for group in groups {
        for kind in group.kinds().filter(|kind| !kind.policies.is_empty()) {
            let item = RustItem::from_kind(group, kind);
            let types = types(group, kind, definitions, layout);
            let policies = objects(group, kind, &types);
            check::check(kind, &item, &policies, &types, &mut errors);
            warnings.extend(check::lint(kind, &item, &policies, &types));
            let path = path(group, kind, layout);
            if let Some((other, _)) = documents.get(&path) {
                let message = format!(
                    "`{}` has policies as well; declare them on one version, to which the API server converts the \
                     objects of the others",
                    other.path
                );
                errors.push(&item, message);
            } else if !policies.is_empty() {
                let text = write(&policies, &item, &mut errors);
                documents.insert(path, (item, text));
            }
        }
    }
    let mut files: Vec<File> =
        documents.iter().map(|(path, (_, text))| File::yaml(path.clone(), layout, text)).collect();
    if layout.crd.kustomization {
        files.extend(kustomization(documents.keys(), layout));
    }
    errors.or(PolicyFiles { files, warnings })
}

/// Returns the path of the file of the policies of a kind. The core group has no name.
fn path(group: &ApiGroup, kind: &ApiKind, layout: &Layout) -> String {
    let group = if group.group.is_empty() { "core" } else { group.group };
    format!("{}/{group}_{}.yaml", layout.policy_dir(), kind.plural)
}

/// Returns the types of the objects: from the schema, or only for the metadata if there is no definition.
fn types(group: &ApiGroup, kind: &ApiKind, definitions: &Definitions, layout: &Layout) -> TypeChecker {
    let definition = definitions.get(&crd::path(group, kind, layout));
    let versions = definition.and_then(|definition| definition.crd["spec"]["versions"].as_array());
    let version = versions.into_iter().flatten().find(|version| version["name"] == group.version);
    let schema = version.map(|version| &version["schema"]["openAPIV3Schema"]);
    match schema {
        Some(schema) => TypeChecker::new(schema, None),
        None => {
            let any = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
            TypeChecker::new(&any, None)
        }
    }
}

/// Returns the documents of policies, each followed by its binding.
fn write(policies: &[PolicyObjects], item: &RustItem, errors: &mut Diagnostics) -> String {
    let objects = policies.iter().flat_map(|policy| [&policy.policy, &policy.binding]);
    let mut document = |object: &Value| {
        serde_saphyr::to_string(&Plain(object))
            .inspect_err(|error| errors.push(item, format!("its policy cannot be written as YAML: {error}")))
            .ok()
    };
    objects.filter_map(&mut document).collect::<Vec<_>>().join("---\n")
}

/// Returns the kustomization of the files, if there are any.
fn kustomization<'a>(paths: impl Iterator<Item = &'a String>, layout: &Layout) -> Option<File> {
    let resources: String =
        paths.filter_map(|path| path.rsplit('/').next()).map(|name| format!("- {name}\n")).collect();
    let document = format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n{resources}");
    (!resources.is_empty()).then(|| File::yaml(kustomization_path(layout), layout, &document))
}

/// Returns the path of the kustomization.
pub(crate) fn kustomization_path(layout: &Layout) -> String {
    format!("{}/kustomization.yaml", layout.policy_dir())
}
