//! Lints: paths of printer columns and of the scale subresource that do not match the schema.
//!
//! The server accepts such a definition. The column is then always empty, and requests to the scale subresource fail
//! (`apiextensions-apiserver/pkg/registry/customresource` of 1.36).

use super::{
    crd::{Crd, Fields},
    json_path::{self, Segment},
    suggestion::suggestion,
};
use crate::{
    field::{ErrorType, FieldError, Location, Path},
    schema::{Additional, Schema},
    value::is_object_meta_field,
};

/// Returns a warning for each path that does not match the schema of its version.
pub(super) fn warnings(crd: Crd<'_>) -> Vec<FieldError> {
    let spec = Path::root("spec");
    let versions = spec.child("versions");
    let mut warnings = Vec::new();
    for (index, version) in crd.versions().enumerate() {
        let Some(schema) = version.child("schema").and_then(|schema| schema.child("openAPIV3Schema")) else { continue };
        let linter = Linter { schema, version: index };
        let at = versions.index(index);
        warnings.extend(linter.printer_columns(version, &at.child("additionalPrinterColumns")));
        if let Some(scale) = version.child("subresources").and_then(|subresources| subresources.child("scale")) {
            warnings.extend(linter.scale(scale, &at.child("subresources").child("scale")));
        }
    }
    warnings
}

/// Returns an error if a path does not match the schema: the field is unknown, or does not have the expected type.
/// `expected` is the type of a printer column, or `selector`.
pub(super) fn check(schema: Schema<'_>, path: &str, expected: &str) -> Result<(), String> {
    let Some(segments) = json_path::segments(path) else { return Ok(()) };
    resolve(schema, &segments).error(path, expected).map_or(Ok(()), Err)
}

struct Linter<'a> {
    schema: Schema<'a>,
    version: usize,
}

impl Linter<'_> {
    fn printer_columns(&self, version: Fields<'_>, at: &Path<'_>) -> Vec<FieldError> {
        let lint = |(index, column): (usize, Fields<'_>)| {
            let path = column.string("jsonPath");
            let segments = json_path::segments(path)?;
            self.warning(&at.index(index).child("jsonPath"), path, &segments, column.string("type"))
        };
        version.schemas("additionalPrinterColumns").enumerate().filter_map(lint).collect()
    }

    fn scale(&self, scale: Fields<'_>, at: &Path<'_>) -> Vec<FieldError> {
        let paths =
            [("specReplicasPath", "integer"), ("statusReplicasPath", "integer"), ("labelSelectorPath", "selector")];
        let lint = |(name, expected): (&'static str, _)| {
            let path = scale.string(name);
            // The server splits these paths at dots, without support of brackets.
            let names = path.strip_prefix('.')?.split('.');
            let segments: Vec<Segment> = names.map(|name| Segment::Field(name.to_owned())).collect();
            self.warning(&at.child(name), path, &segments, expected)
        };
        paths.into_iter().filter_map(lint).collect()
    }

    fn warning(&self, at: &Path<'_>, path: &str, segments: &[Segment], expected: &str) -> Option<FieldError> {
        let resolved = resolve(self.schema, segments);
        let message = resolved.error(path, expected)?;
        let location = Location { field: at.to_string(), schema_path: Some((self.version, resolved.schema_path)) };
        Some(FieldError::new(location, ErrorType::Warning, Some(path.into()), format!("{at}: {message}")))
    }
}

/// Resolves a path in a schema.
fn resolve<'a>(schema: Schema<'a>, segments: &[Segment]) -> Resolved<'a> {
    let mut resolved = Resolved { schema: Some(schema), schema_path: Vec::new(), problem: None };
    // The path before the current segment, for messages.
    let mut parent = String::new();
    for (index, segment) in segments.iter().enumerate() {
        let Some(schema) = resolved.schema else { break };
        let is_object = index == 0 || schema.is_embedded_resource();
        match segment {
            Segment::Field(name) if is_object && name == "metadata" => resolved.metadata(segments.get(index + 1)),
            Segment::Field(name) if is_object && ["apiVersion", "kind"].contains(&name.as_str()) => {
                resolved.schema = None;
            }
            Segment::Field(name) => resolved.field(schema, name, &parent),
            Segment::Element => resolved.element(schema, &parent),
        }
        match segment {
            Segment::Field(name) => parent = format!("{parent}.{name}"),
            Segment::Element => parent.push_str("[]"),
        }
    }
    resolved
}

/// The schema of a path, as far as it is resolved.
struct Resolved<'a> {
    /// `None` if the schema does not specify the field, but allows it, or if there is a problem.
    schema: Option<Schema<'a>>,
    /// The path of the last resolved schema.
    schema_path: Vec<String>,
    problem: Option<String>,
}

impl<'a> Resolved<'a> {
    /// Returns the error of an unknown field or of a wrong type.
    fn error(&self, path: &str, expected: &str) -> Option<String> {
        let types: &[&str] = match expected {
            "integer" | "number" => &["integer", "number"],
            "boolean" => &["boolean"],
            "date" | "selector" => &["string"],
            // A column of type string shows any value.
            _ => return self.problem.as_ref().map(|problem| format!("`{path}`: {problem}")),
        };
        match (&self.problem, self.schema) {
            (Some(problem), _) => Some(format!("`{path}`: {problem}")),
            (None, Some(schema)) => {
                // A schema without a type accepts any value, and so does an int-or-string.
                let actual =
                    Some(schema.string("type")).filter(|actual| !actual.is_empty() && !types.contains(actual))?;
                let expected = if expected == "selector" || expected == "date" { "string" } else { expected };
                (!schema.is_int_or_string()).then(|| format!("`{path}` has the type `{actual}`, expected `{expected}`"))
            }
            (None, None) => None,
        }
    }

    /// The server specifies the fields of the metadata.
    fn metadata(&mut self, next: Option<&Segment>) {
        self.schema = None;
        if let Some(Segment::Field(name)) = next
            && !is_object_meta_field(name)
        {
            self.problem = Some(format!("`.metadata` has no field `{name}`"));
        }
    }

    fn field(&mut self, schema: Schema<'a>, name: &str, parent: &str) {
        self.schema = None;
        match (schema.property(name), schema.additional()) {
            (Some(property), _) => {
                self.schema_path.extend(["properties".to_owned(), name.to_owned()]);
                self.schema = Some(property);
            }
            (None, Some(Additional::Schema(values))) => {
                self.schema_path.push("additionalProperties".to_owned());
                self.schema = Some(values);
            }
            (None, Some(Additional::Allowed(true))) => {}
            _ if schema.preserves_unknown_fields() => {}
            _ => self.problem = Some(unknown_field(schema, name, parent)),
        }
    }

    fn element(&mut self, schema: Schema<'a>, parent: &str) {
        self.schema = schema.items();
        match (self.schema, schema.string("type")) {
            (Some(_), _) => self.schema_path.push("items".to_owned()),
            (None, "" | "array") => {}
            (None, _) => self.problem = Some(format!("`{parent}` is not a list")),
        }
    }
}

fn unknown_field(schema: Schema<'_>, name: &str, parent: &str) -> String {
    match schema.string("type") {
        "array" => format!("`{parent}` is a list; select an item, as in `{parent}[0].{name}`"),
        "" | "object" => {
            let parent = if parent.is_empty() { "the object".to_owned() } else { format!("`{parent}`") };
            let fields: Vec<&str> = schema.schema_map("properties").map(|(name, _)| name).collect();
            let help = match suggestion(name, &fields) {
                Some(similar) => format!("; did you mean `{similar}`?"),
                None => String::new(),
            };
            format!("{parent} has no field `{name}`{help}")
        }
        actual => format!("`{parent}` is of type {actual}, and has no field `{name}`"),
    }
}
