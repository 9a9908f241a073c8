//! The page of one version of a group.

use std::collections::BTreeMap;

use kubewright_core::meta::ApiGroup;
use serde_json::Value;

use super::{
    objects::Objects,
    rules,
    section::sections,
    text::{self, code, codes, first_sentence, paragraphs, table},
};
use crate::{
    crd::{self, RustPaths},
    diagnostic::Diagnostics,
    layout::Layout,
    output::File,
};

/// A version of a kind.
pub(super) struct Kind<'a> {
    pub(super) rust: &'a RustPaths,
    pub(super) spec: &'a Value,
    pub(super) version: &'a Value,
}

/// Returns a page for each version of each group that has definitions, named `<group>_<version>.md`.
pub(crate) fn pages(groups: &[ApiGroup], layout: &Layout) -> Result<Vec<File>, Diagnostics> {
    let definitions = crd::definitions(groups, layout)?;
    let mut versions: BTreeMap<(&str, &str), BTreeMap<&str, Kind<'_>>> = BTreeMap::new();
    for definition in definitions.values() {
        let spec = &definition.crd["spec"];
        let versions_of = spec["versions"].as_array().into_iter().flatten();
        for (version, rust) in versions_of.zip(&definition.versions) {
            let kinds = versions.entry((string(&spec["group"]), string(&version["name"]))).or_default();
            kinds.insert(string(&spec["names"]["kind"]), Kind { rust, spec, version });
        }
    }
    let file = |((group, version), kinds): ((&str, &str), BTreeMap<&str, Kind<'_>>)| {
        let path = format!("{}/{group}_{version}.md", layout.docs_dir);
        File::markdown(path, layout, &page(group, version, &kinds))
    };
    Ok(versions.into_iter().map(file).collect())
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn page(group: &str, version: &str, kinds: &BTreeMap<&str, Kind<'_>>) -> String {
    let mut objects = Objects::default();
    objects.reserve_slug(&format!("{group}/{version}"));
    let kinds: Vec<_> = kinds
        .iter()
        .map(|(name, kind)| {
            let schema = &kind.version["schema"]["openAPIV3Schema"];
            (*name, kind, objects.add_kind(name, schema, &kind.rust.fields))
        })
        .collect();
    let contents = kinds.iter().map(|(name, kind, slug)| {
        let about = first_sentence(string(&kind.version["schema"]["openAPIV3Schema"]["description"]));
        let scope = if kind.spec["scope"] == "Namespaced" { "Namespaced" } else { "Cluster" };
        [format!("[{name}](#{slug})"), code(string(&kind.spec["names"]["plural"])), scope.to_owned(), about]
    });
    let mut page = format!("# {group}/{version}\n\n");
    page += &table(["Kind", "Resource", "Scope", "Description"], contents);
    for (name, kind, _) in &kinds {
        page += &format!("\n## {name}\n\n{}", about(kind));
        page += &sections(&objects, name, &format!("{group}/{version}"));
    }
    page
}

/// Returns the description of a kind, its names, subresources and columns.
fn about(kind: &Kind<'_>) -> String {
    let Kind { rust, spec, version } = kind;
    let names = &spec["names"];
    let mut lines = Vec::new();
    if version["deprecated"] == true {
        let warning = string(&version["deprecationWarning"]);
        lines.push(format!("**Deprecated.** {}", text::escaped(warning)).trim_end().to_owned());
    }
    if version["served"] == false {
        lines.push("**Not served.**".to_owned());
    }
    let mut names_line = format!("`kubectl get {}`", string(&names["plural"]));
    let aliases: Vec<_> = [string(&names["singular"])].into_iter().chain(strings(&names["shortNames"])).collect();
    let aliases = codes(aliases.into_iter().filter(|name| !name.is_empty()));
    if !aliases.is_empty() {
        names_line += &format!(", or {aliases}");
    }
    let categories = codes(strings(&names["categories"]));
    if !categories.is_empty() {
        names_line += &format!("; in categories {categories}");
    }
    lines.push(names_line);
    lines.push(format!("Rust type {}", code(&rust.item.path)));
    lines.extend(subresources(&version["subresources"]));
    let selectable = version["selectableFields"].as_array().into_iter().flatten();
    let selectable = codes(selectable.map(|field| string(&field["jsonPath"])));
    if !selectable.is_empty() {
        lines.push(format!("Selectable fields: {selectable}"));
    }
    lines.extend(rules::describe(&version["schema"]["openAPIV3Schema"]));
    let lines = lines.iter().map(|line| format!("- {line}\n")).collect::<String>();
    let docs = paragraphs(string(&version["schema"]["openAPIV3Schema"]["description"]));
    format!("{docs}{lines}{}", columns(version))
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn subresources(subresources: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    if subresources["status"].is_object() {
        lines.push("Status subresource: the status is only written through `/status`".to_owned());
    }
    if let Value::Object(scale) = &subresources["scale"] {
        let path = |name: &str| scale.get(name).map(string);
        let mut line = "Scale subresource for `kubectl scale` and autoscalers".to_owned();
        let (spec, status) = (path("specReplicasPath"), path("statusReplicasPath"));
        if let (Some(spec), Some(status)) = (spec, status) {
            line += &format!(": desired replicas {}, observed replicas {}", code(spec), code(status));
        }
        if let Some(selector) = path("labelSelectorPath") {
            line += &format!(", pod selector {}", code(selector));
        }
        lines.push(line);
    }
    lines
}

fn columns(version: &Value) -> String {
    let rows: Vec<_> = version["additionalPrinterColumns"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|column| {
            let wide = if column["priority"].as_i64().unwrap_or_default() > 0 { " (`-o wide`)" } else { "" };
            let heading = format!("{}{wide}", text::escaped(string(&column["name"])));
            let about = text::cell(string(&column["description"]));
            [heading, string(&column["type"]).to_owned(), code(string(&column["jsonPath"])), about]
        })
        .collect();
    if rows.is_empty() {
        String::new()
    } else {
        format!("\n{}", table(["Column", "Type", "Value", ""], rows.into_iter()))
    }
}
