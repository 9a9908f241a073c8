//! Schemas put into definitions that people keep: all else in their files stays as it is, comments and order included.

use std::collections::BTreeMap;
use std::ops::Range;

use anyhow::{Context, Result, bail};
use logger_core::meta::ApiGroup;
use logger_core::wire::Plain;
use serde_json::Value;

use super::{definitions, yaml};
use crate::Layout;
use crate::diagnostic::Diagnostics;

const KEY: &str = "openAPIV3Schema:";

/// The schemas of definitions, by the definition's name and the version's.
pub(crate) type Schemas = BTreeMap<String, BTreeMap<String, Value>>;

/// The schemas of all kinds, as the options have them written.
pub(crate) fn schemas(groups: &[ApiGroup], layout: &Layout) -> Result<Schemas, Diagnostics> {
    let mut found = Diagnostics::default();
    let mut schemas = Schemas::new();
    for definition in definitions(groups, layout)?.values() {
        let Some(fitting) = yaml::fit(definition, layout, &mut found) else { continue };
        let name = fitting.crd["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let versions = versions(&fitting.crd).map(|(name, schema)| (name.to_owned(), schema.clone())).collect();
        schemas.insert(name, versions);
    }
    found.or(schemas)
}

fn versions(crd: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
    versions.map(|version| (version["name"].as_str().unwrap_or_default(), &version["schema"]["openAPIV3Schema"]))
}

/// What a file says after the schemas of its definitions are put in; `None` if it has no definition of these.
///
/// # Errors
/// It is no YAML, it lacks a version or has one that the types lack, or is written in a way that cannot be edited line by
/// line.
pub(crate) fn patched(text: &str, schemas: &Schemas) -> Result<Option<String>> {
    let mut patched = String::with_capacity(text.len());
    let mut is_ours = false;
    for document in documents(text) {
        match one(&text[document.clone()], schemas)? {
            Some(with_schemas) => {
                is_ours = true;
                patched += &with_schemas;
            }
            None => patched += &text[document],
        }
    }
    Ok(is_ours.then_some(patched))
}

/// The documents of a text, each with the `---` before it.
fn documents(text: &str) -> Vec<Range<usize>> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if at > 0
            && line.strip_prefix("---").is_some_and(|rest| rest.trim_end().is_empty() || rest.starts_with([' ', '\t']))
        {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]).collect::<Vec<_>>();
    starts.into_iter().zip(ends).map(|(start, end)| start..end).collect()
}

fn one(document: &str, schemas: &Schemas) -> Result<Option<String>> {
    let before = read(document)?;
    let name = before["metadata"]["name"].as_str().unwrap_or_default();
    let Some(schemas) = schemas.get(name).filter(|_| before["kind"] == "CustomResourceDefinition") else {
        return Ok(None);
    };
    let mut wanted = before.clone();
    let new = in_order(name, &mut wanted, schemas)?;
    let after = edited(document, &new)?;
    if read(&after).ok().as_ref() != Some(&wanted) {
        bail!(
            "{name} is not written in a way that can be edited: put each `{KEY}` and its value on lines of their own"
        );
    }
    Ok(Some(after))
}

fn read(document: &str) -> Result<Value> {
    let options = serde_saphyr::options! { with_snippet: false, legacy_octal_numbers: true };
    serde_saphyr::from_str_with_options(document, options).context("it is no YAML")
}

/// Puts the schemas into the versions of a definition; gives them in its order.
fn in_order(name: &str, wanted: &mut Value, schemas: &BTreeMap<String, Value>) -> Result<Vec<Value>> {
    let mut new = Vec::new();
    let versions = wanted["spec"]["versions"].as_array_mut().context("it has no versions")?;
    for version in &mut *versions {
        let version_name = version["name"].as_str().unwrap_or_default();
        let Some(schema) = schemas.get(version_name) else {
            bail!("{name} has version {version_name}, which no type has: take it out, or keep the type");
        };
        if version.pointer("/schema/openAPIV3Schema").is_none() {
            bail!(
                "{name}: version {version_name} has no `schema`; add `schema: {{openAPIV3Schema: {{type: object}}}}`"
            );
        }
        version["schema"]["openAPIV3Schema"] = schema.clone();
        new.push(schema.clone());
    }
    let is_there = |wanted: &str| versions.iter().any(|version| version["name"] == wanted);
    if let Some(missing) = schemas.keys().find(|wanted| !is_there(wanted)) {
        bail!("{name} lacks version {missing}: add it to `spec.versions`, with `schema: {{openAPIV3Schema: {{}}}}`");
    }
    Ok(new)
}

/// The document with the value of each such key replaced, from the first to the last.
fn edited(document: &str, schemas: &[Value]) -> Result<String> {
    let mut text = String::with_capacity(document.len());
    let mut schemas = schemas.iter();
    let mut lines = document.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let Some(column) = column(line) else {
            text += line;
            continue;
        };
        let Some(schema) = schemas.next() else {
            text += line;
            continue;
        };
        text += &line[..column + KEY.len()];
        text += "\n";
        let schema = serde_saphyr::to_string(&Plain(schema)).context("a schema cannot be written as YAML")?;
        for line in schema.lines() {
            text += format!("{:indent$}{line}", "", indent = column + 2).trim_end();
            text += "\n";
        }
        // What is indented further was the value. Blank lines and comments after it stay.
        let mut kept = String::new();
        while let Some(next) = lines.peek() {
            let content = next.trim_start_matches(' ');
            let indent = next.len() - content.len();
            match content.trim().is_empty() || content.starts_with('#') && indent <= column {
                true => kept += next,
                false if indent > column => kept.clear(),
                false => break,
            }
            lines.next();
        }
        text += &kept;
    }
    Ok(text)
}

/// Where the key stands in a line that begins with it, dashes of lists aside.
fn column(line: &str) -> Option<usize> {
    let key = line.trim_start_matches([' ', '-']);
    let rest = key.strip_prefix(KEY)?;
    rest.is_empty().then_some(()).or_else(|| rest.starts_with(char::is_whitespace).then_some(()))?;
    Some(line.len() - key.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FILE: &str = "\
# Kept by hand.
apiVersion: v1
kind: Namespace
---
# The definition.
spec: # order is ours
  versions:
  - name: v2
    schema:
      openAPIV3Schema: {type: object} # to be filled in
    served: true

    # Stored.
    storage: true
  - schema:
      openAPIV3Schema:
        # Dropped with what it is about.
        type: object
        properties:
          a: {type: string}

    # The old one.
    name: v1
    served: false
    storage: false
kind: CustomResourceDefinition
metadata: {name: widgets.example.com, annotations: {a: \"openAPIV3Schema:\"}}
apiVersion: apiextensions.k8s.io/v1
";

    const PATCHED: &str = "\
# Kept by hand.
apiVersion: v1
kind: Namespace
---
# The definition.
spec: # order is ours
  versions:
  - name: v2
    schema:
      openAPIV3Schema:
        description: |-
          Two

          lines.
        type: object
    served: true

    # Stored.
    storage: true
  - schema:
      openAPIV3Schema:
        properties:
          b:
            type: integer
        type: object

    # The old one.
    name: v1
    served: false
    storage: false
kind: CustomResourceDefinition
metadata: {name: widgets.example.com, annotations: {a: \"openAPIV3Schema:\"}}
apiVersion: apiextensions.k8s.io/v1
";

    fn schemas() -> Schemas {
        let v1 = json!({"type": "object", "properties": {"b": {"type": "integer"}}});
        let v2 = json!({"type": "object", "description": "Two\n\nlines."});
        let versions = BTreeMap::from([("v1".to_owned(), v1), ("v2".to_owned(), v2)]);
        Schemas::from([("widgets.example.com".to_owned(), versions)])
    }

    #[test]
    fn only_schemas_change() {
        let patched = patched(FILE, &schemas()).unwrap().unwrap();
        assert_eq!(patched, PATCHED);
        assert_eq!(super::patched(&patched, &schemas()).unwrap().unwrap(), PATCHED, "twice is once");
    }

    #[test]
    fn a_file_without_definitions_of_ours_is_left_alone() {
        assert_eq!(patched("resources: [a.yaml]\n", &schemas()).unwrap(), None);
        assert_eq!(patched("", &schemas()).unwrap(), None);
        assert_eq!(patched(&FILE.replace("widgets", "things"), &schemas()).unwrap(), None);
    }

    #[test]
    fn what_cannot_be_patched_is_refused_with_the_way_out() {
        let refused = |text: &str| format!("{:#}", patched(text, &schemas()).unwrap_err());
        let lacking = refused(&FILE.replace("name: v1", "name: v3"));
        assert!(lacking.contains("has version v3, which no type has"), "{lacking}");
        let one = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: \
                   widgets.example.com}, spec: {versions: [{name: v1, schema: {openAPIV3Schema: {type: object}}}]}}";
        assert!(refused(one).contains("lacks version v2: add it to `spec.versions`"), "{}", refused(one));
        let both = one.replace("[{name: v1", "[{name: v2, schema: {openAPIV3Schema: {}}}, {name: v1");
        assert!(refused(&both).contains("on lines of their own"), "{}", refused(&both));
        assert!(refused("a: [b").contains("no YAML"), "{}", refused("a: [b"));
    }
}
