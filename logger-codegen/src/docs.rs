//! The API reference: a Markdown page for each version of each group, from the definitions.

mod field;
mod rules;
mod section;
mod text;

use std::collections::BTreeMap;

use logger_core::meta::ApiGroup;
use serde_json::Value;

use crate::Layout;
use crate::crd::{self, Rust};
use crate::diagnostic::Diagnostics;
use crate::file::File;
use section::Sections;
use text::{code, codes, first_sentence, paragraphs, table};

/// A kind in one version.
struct Kind<'a> {
    rust: &'a Rust,
    spec: &'a Value,
    version: &'a Value,
}

/// A page for each version of each group that has definitions, as `<group>_<version>.md`.
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

fn page(group: &str, version: &str, kinds: &BTreeMap<&str, Kind<'_>>) -> String {
    let mut sections = Sections::default();
    sections.reserve(&format!("{group}/{version}"));
    let kinds: Vec<_> = kinds
        .iter()
        .map(|(name, kind)| {
            let schema = &kind.version["schema"]["openAPIV3Schema"];
            (*name, kind, sections.of_kind(name, schema, &kind.rust.fields))
        })
        .collect();
    let contents = kinds.iter().map(|(name, kind, slug)| {
        let about = first_sentence(string(&kind.version["schema"]["openAPIV3Schema"]["description"]));
        let scope = if kind.spec["scope"] == "Namespaced" { "in a namespace" } else { "in the cluster" };
        [format!("[{name}](#{slug})"), code(string(&kind.spec["names"]["plural"])), scope.to_owned(), about]
    });
    let mut page = format!("# {group}/{version}\n\n");
    page += &table(["Kind", "Resource", "Lives", "What it is"], contents);
    for (name, kind, _) in &kinds {
        page += &format!("\n## {name}\n\n{}", about(kind));
        page += &sections.written(name, &format!("{group}/{version}"));
    }
    page
}

/// What is said of a kind as a whole.
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
    let mut called = format!("`kubectl get {}`", string(&names["plural"]));
    let others: Vec<_> = [string(&names["singular"])].into_iter().chain(strings(&names["shortNames"])).collect();
    let others = codes(others.into_iter().filter(|name| !name.is_empty()));
    if !others.is_empty() {
        called += &format!(", or {others}");
    }
    let categories = codes(strings(&names["categories"]));
    if !categories.is_empty() {
        called += &format!("; with others in {categories}");
    }
    lines.push(called);
    lines.push(format!("In Rust {}", code(&rust.item)));
    lines.extend(subresources(&version["subresources"]));
    let selectable = version["selectableFields"].as_array().into_iter().flatten();
    let selectable = codes(selectable.map(|field| string(&field["jsonPath"])));
    if !selectable.is_empty() {
        lines.push(format!("Field selectors may name {selectable}"));
    }
    lines.extend(rules::of(&version["schema"]["openAPIV3Schema"]));
    let lines = lines.iter().map(|line| format!("- {line}\n")).collect::<String>();
    let docs = paragraphs(string(&version["schema"]["openAPIV3Schema"]["description"]));
    format!("{docs}{lines}{}", columns(version))
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn subresources(of: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    if of["status"].is_object() {
        lines.push("The status is a subresource: it is written through `/status` only".to_owned());
    }
    if let Value::Object(scale) = &of["scale"] {
        let path = |name: &str| scale.get(name).map(string);
        let mut line = "`kubectl scale` and autoscalers can be used".to_owned();
        let (wanted, found) = (path("specReplicasPath"), path("statusReplicasPath"));
        if let (Some(wanted), Some(found)) = (wanted, found) {
            line += &format!(": {} is what is wanted, {} what is there", code(wanted), code(found));
        }
        if let Some(selector) = path("labelSelectorPath") {
            line += &format!(", {} selects the pods", code(selector));
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

#[cfg(test)]
mod tests;
