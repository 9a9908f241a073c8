//! Replaces the schemas in definitions that are maintained by hand. Everything else in their files is preserved,
//! including comments and order.

use std::{collections::BTreeMap, ops::Range};

use anyhow::{Context, Result, anyhow, bail};
use kubewright_core::{meta::ApiGroup, wire::Plain};
use serde_json::Value;

use super::{definitions::definitions, yaml};
use crate::{
    diagnostic::{Diagnostic, Diagnostics},
    layout::Layout,
};

const KEY: &str = "openAPIV3Schema:";

/// The schemas of definitions, by the names of the definition and the version.
pub(crate) type Schemas = BTreeMap<String, BTreeMap<String, Value>>;

/// Returns the schemas of all kinds with the options applied, and warnings.
pub(crate) fn schemas(groups: &[ApiGroup], layout: &Layout) -> Result<(Schemas, Vec<Diagnostic>), Diagnostics> {
    let mut errors = Diagnostics::default();
    let (mut schemas, mut warnings) = (Schemas::new(), Vec::new());
    for definition in definitions(groups, layout)?.values() {
        let Some(fitted) = yaml::fit(definition, layout, &mut errors) else { continue };
        warnings.extend(definition.warnings.iter().cloned().chain(fitted.warning(&definition.item)));
        let name = fitted.crd["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let versions = versions(&fitted.crd).map(|(name, schema)| (name.to_owned(), schema.clone())).collect();
        schemas.insert(name, versions);
    }
    errors.or((schemas, warnings))
}

fn versions(crd: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
    versions.map(|version| (version["name"].as_str().unwrap_or_default(), &version["schema"]["openAPIV3Schema"]))
}

/// Returns a file with the schemas of its definitions replaced; `None` if it has none of these definitions.
///
/// # Errors
/// It is not YAML, its versions are not those of the types, or its syntax cannot be edited line by line.
pub(crate) fn patched(text: &str, schemas: &Schemas) -> Result<Option<String>> {
    let mut patched = String::with_capacity(text.len());
    let mut has_definition = false;
    for document in documents(text) {
        let lines_before = text[..document.start].lines().count();
        match patch_document(&text[document.clone()], lines_before, schemas)? {
            Some(with_schemas) => {
                has_definition = true;
                patched += &with_schemas;
            }
            None => patched += &text[document],
        }
    }
    Ok(has_definition.then_some(patched))
}

/// Returns the ranges of the documents of a text, each with the `---` before it.
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

fn patch_document(document: &str, lines_before: usize, schemas: &Schemas) -> Result<Option<String>> {
    // With the lines before it, the locations in errors are those in the file.
    let before = read(&("\n".repeat(lines_before) + document))?;
    let name = before["metadata"]["name"].as_str().unwrap_or_default();
    let Some(schemas) = schemas.get(name).filter(|_| before["kind"] == "CustomResourceDefinition") else {
        return Ok(None);
    };
    let mut wanted = before.clone();
    let new = replace_schemas(name, &mut wanted, schemas)?;
    let after = edit(document, &new)?;
    if read(&after).ok().as_ref() != Some(&wanted) {
        bail!("{name} cannot be edited line by line: write each `{KEY}` and its value on separate lines");
    }
    Ok(Some(after))
}

fn read(document: &str) -> Result<Value> {
    let options = serde_saphyr::options! { with_snippet: false, legacy_octal_numbers: true };
    serde_saphyr::from_str_with_options(document, options).map_err(yaml_error).context("it is not YAML")
}

/// Converts an error of the YAML parser, whose message for a duplicate key names an option of the parser.
pub(crate) fn yaml_error(error: serde_saphyr::Error) -> anyhow::Error {
    match error {
        serde_saphyr::Error::DuplicateMappingKey { key: Some(key), location } => {
            anyhow!("duplicate key `{key}` at line {}", location.line())
        }
        serde_saphyr::Error::DuplicateMappingKey { key: None, location } => {
            anyhow!("duplicate key at line {}", location.line())
        }
        error => error.into(),
    }
}

/// Replaces the schemas in the versions of a definition; returns them in the order of its versions.
fn replace_schemas(name: &str, wanted: &mut Value, schemas: &BTreeMap<String, Value>) -> Result<Vec<Value>> {
    let mut new = Vec::new();
    let versions = wanted["spec"]["versions"].as_array_mut().context("it has no versions")?;
    for version in &mut *versions {
        let version_name = version["name"].as_str().unwrap_or_default();
        let Some(schema) = schemas.get(version_name) else {
            bail!("{name} has version {version_name}, but no type has it: remove the version, or restore the type");
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
        bail!("{name} has no version {missing}: add it to `spec.versions`, with `schema: {{openAPIV3Schema: {{}}}}`");
    }
    Ok(new)
}

/// Returns the document with the value of each `openAPIV3Schema` replaced, in order.
fn edit(document: &str, schemas: &[Value]) -> Result<String> {
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
        // Lines with a deeper indent are the old value. Blank lines and comments after it are preserved.
        let mut preserved = String::new();
        while let Some(next) = lines.peek() {
            let content = next.trim_start_matches(' ');
            let indent = next.len() - content.len();
            match content.trim().is_empty() || content.starts_with('#') && indent <= column {
                true => preserved += next,
                false if indent > column => preserved.clear(),
                false => break,
            }
            lines.next();
        }
        text += &preserved;
    }
    Ok(text)
}

/// Returns the column of the key in a line that starts with it, after any list dashes.
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
# Maintained by hand.
apiVersion: v1
kind: Namespace
---
# The definition.
spec: # order is ours
  versions:
  - name: v2
    schema:
      openAPIV3Schema: {type: object} # a placeholder
    served: true

    # Stored.
    storage: true
  - schema:
      openAPIV3Schema:
        # Removed with the value.
        type: object
        properties:
          a: {type: string}

    # The old version.
    name: v1
    served: false
    storage: false
kind: CustomResourceDefinition
metadata: {name: widgets.example.com, annotations: {a: \"openAPIV3Schema:\"}}
apiVersion: apiextensions.k8s.io/v1
";

    const PATCHED: &str = "\
# Maintained by hand.
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

    # The old version.
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
    fn only_schemas_are_replaced() {
        let patched = patched(FILE, &schemas()).unwrap().unwrap();
        assert_eq!(patched, PATCHED);
        assert_eq!(super::patched(&patched, &schemas()).unwrap().unwrap(), PATCHED, "patching is idempotent");
    }

    #[test]
    fn files_without_these_definitions_are_not_patched() {
        assert_eq!(patched("resources: [a.yaml]\n", &schemas()).unwrap(), None);
        assert_eq!(patched("", &schemas()).unwrap(), None);
        assert_eq!(patched(&FILE.replace("widgets", "things"), &schemas()).unwrap(), None);
    }

    #[test]
    fn files_that_cannot_be_patched_are_errors_with_a_suggestion() {
        let error = |text: &str| format!("{:#}", patched(text, &schemas()).unwrap_err());
        let unknown = error(&FILE.replace("name: v1", "name: v3"));
        assert!(unknown.contains("has version v3, but no type has it"), "{unknown}");
        let single_version = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: \
                   widgets.example.com}, spec: {versions: [{name: v1, schema: {openAPIV3Schema: {type: object}}}]}}";
        assert!(
            error(single_version).contains("has no version v2: add it to `spec.versions`"),
            "{}",
            error(single_version)
        );
        let both = single_version.replace("[{name: v1", "[{name: v2, schema: {openAPIV3Schema: {}}}, {name: v1");
        assert!(error(&both).contains("on separate lines"), "{}", error(&both));
        assert!(error("a: [b").contains("not YAML"), "{}", error("a: [b"));
        assert_eq!(error("a: 1\n---\nb: 1\nb: 2\n"), "it is not YAML: duplicate key `b` at line 4");
    }
}
