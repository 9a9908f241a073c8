//! One version of a CustomResourceDefinition: its schema, columns, selectable fields and subresources.

use kubewright_core::meta::{ApiGroup, ApiKind, PrintColumn, Scale};
use kubewright_crd::{
    definition::{MAX_SELECTABLE_FIELDS, check_json_path, printer_column_type},
    structural::{self, Structural},
};
use kubewright_names::extension::Extension;
use serde_json::{Map, Value, json};

use super::{conventions, overrides, rust_paths::RustPaths};
use crate::{
    api::deprecation,
    diagnostic::{Diagnostic, Diagnostics, RustItem},
    layout::{CrdOptions, EmbeddedMetadata, Floats},
    names::schema_key,
    schema_path::{at_pointer, json_path_of_pointer, pointer_of_path},
};

/// The path of the age in columns.
const CREATION_TIMESTAMP: &str = ".metadata.creationTimestamp";

/// A version of a kind.
pub(super) struct Version {
    rust: RustPaths,
    schema: Structural,
    json: Map<String, Value>,
    /// The override of the definition, as a JSON merge patch.
    pub(super) definition_patch: Option<Value>,
    pub(super) warnings: Vec<Diagnostic>,
}

impl Version {
    /// Creates the version. Returns `None` and adds the errors if its schema is invalid.
    pub(super) fn new(
        group: &ApiGroup,
        kind: &ApiKind,
        options: &CrdOptions,
        errors: &mut Diagnostics,
    ) -> Option<Self> {
        let item = RustItem::from_kind(group, kind);
        let mut schema = schema(kind, &item, options, errors)?;
        let patches = overrides::apply(&mut schema.schema, &schema.extensions, &item, errors);
        let mut json = Map::from_iter([
            ("name".to_owned(), json!(group.version)),
            ("served".to_owned(), json!(kind.definition.served)),
            ("schema".to_owned(), json!({"openAPIV3Schema": schema.schema})),
        ]);
        if let Some(warning) = deprecation::warning(group, kind) {
            json.insert("deprecated".to_owned(), json!(true));
            if !warning.is_empty() {
                check_deprecation_warning(&warning, &item, errors);
                json.insert("deprecationWarning".to_owned(), json!(warning));
            }
        }
        let rust = RustPaths::new(item, &schema);
        let mut warnings = conventions::snake_case_fields(&rust, &schema.extensions);
        warnings.extend(conventions::status(kind, &rust, &schema.schema));
        let mut version = Version { rust, schema, json, definition_patch: patches.definition, warnings };
        version.check_paths(kind, errors);
        let columns = version.columns(kind, errors);
        let selectable = version.selectable_fields(kind, errors);
        for (name, values) in [("additionalPrinterColumns", columns), ("selectableFields", selectable)] {
            if !values.is_empty() {
                version.json.insert(name.to_owned(), json!(values));
            }
        }
        version.json.extend(subresources(kind).map(|value| ("subresources".to_owned(), value)));
        if let Some(patch) = patches.version {
            let mut json = Value::Object(version.json);
            overrides::merge(&mut json, &patch);
            version.json = json.as_object().cloned().unwrap_or_default();
        }
        Some(version)
    }

    /// Returns its JSON. `storage` is whether it is the storage version.
    pub(super) fn json(&self, storage: bool) -> Value {
        let mut json = self.json.clone();
        json.insert("storage".to_owned(), json!(storage));
        Value::Object(json)
    }

    /// Returns its schema.
    pub(super) fn schema(&self) -> &Value {
        &self.schema.schema
    }

    pub(super) fn rust(&self) -> &RustPaths {
        &self.rust
    }

    /// Whether its override of the definition has a conversion.
    pub(super) fn overrides_conversion(&self) -> bool {
        self.definition_patch.as_ref().is_some_and(|patch| patch.pointer("/spec/conversion").is_some())
    }

    pub(super) fn rust_paths(self) -> RustPaths {
        self.rust
    }

    /// Returns the columns of the kind, then those of its fields sorted by path. If the age is the last column of the
    /// kind, it follows those of the fields, as in `kubectl get` of built-in kinds.
    fn columns(&self, kind: &ApiKind, errors: &mut Diagnostics) -> Vec<Value> {
        let mut columns: Vec<Value> = kind.columns.iter().map(column).collect();
        let age = columns.pop_if(|column| column["jsonPath"] == CREATION_TIMESTAMP);
        for (path, settings) in self.marked(Extension::Column) {
            let pointer = pointer_of_path(&self.schema.schema, path);
            let Some(json_path) = self.single_value("column", path, &pointer, errors) else { continue };
            let node = at_pointer(&self.schema.schema, &pointer);
            let Some(column_type) = node.and_then(printer_column_type) else {
                let item = self.rust.item_at(path).about("column");
                errors.push(item, "a column needs a scalar; set `column` on a scalar field");
                continue;
            };
            let mut column = settings.clone();
            column["jsonPath"] = json!(json_path);
            column["type"] = json!(column_type);
            columns.push(column);
        }
        columns.extend(age);
        columns
    }

    fn selectable_fields(&self, kind: &ApiKind, errors: &mut Diagnostics) -> Vec<Value> {
        let mut paths: Vec<String> = kind.definition.selectable_fields.iter().map(|path| (*path).to_owned()).collect();
        for (path, _) in self.marked(Extension::Selectable) {
            let pointer = pointer_of_path(&self.schema.schema, path);
            let Some(json_path) = self.single_value("selectable", path, &pointer, errors) else { continue };
            if json_path.contains('\\') {
                let message = "the API server does not support selectable fields whose path has a name with a dot or a \
                               bracket; rename the field";
                errors.push(self.rust.item_at(path).about("selectable"), message);
            } else if !paths.contains(&json_path) {
                paths.push(json_path);
            }
        }
        if paths.len() > MAX_SELECTABLE_FIELDS {
            let message = format!(
                "{} of its fields are selectable, but the API server accepts at most {MAX_SELECTABLE_FIELDS}",
                paths.len()
            );
            errors.push(&self.rust.item, message);
        }
        paths.iter().map(|path| json!({"jsonPath": path})).collect()
    }

    /// Checks the paths of columns, selectable fields and the scale subresource. The API server accepts any path, but a
    /// wrong one has no value.
    fn check_paths(&self, kind: &ApiKind, errors: &mut Diagnostics) {
        let mut check = |attribute: String, token: &str, path: &str, expected: &str| {
            if let Err(message) = check_json_path(&self.schema.schema, path, expected) {
                errors.push(self.rust.item.about(token), format!("{attribute}: {message}"));
            }
        };
        for column in kind.columns {
            let path = column.json_path;
            check(format!("column `{}`", column.name), path, path, column.column_type);
        }
        for path in kind.definition.selectable_fields {
            check("`selectable_fields`".to_owned(), path, path, "string");
        }
        if let Some(Scale { spec_path, status_path, selector_path }) = kind.scale {
            let paths = [("spec_path", Some(spec_path), "integer"), ("status_path", Some(status_path), "integer")];
            for (key, path, expected) in paths.into_iter().chain([("selector_path", selector_path, "selector")]) {
                if let Some(path) = path {
                    check(format!("`{key}` of `scale`"), key, path, expected);
                }
            }
        }
    }

    /// Returns the paths of the fields with an extension, and its value.
    fn marked(&self, extension: Extension) -> impl Iterator<Item = (&str, &Value)> {
        self.schema.extensions.get(&extension).into_iter().flatten().map(|(path, value)| (path.as_str(), value))
    }

    /// Returns the JSON path if it has a single value: it is not below a list or map.
    fn single_value(
        &self,
        attribute: &str,
        path: &str,
        pointer: &[String],
        errors: &mut Diagnostics,
    ) -> Option<String> {
        let json_path = json_path_of_pointer(pointer);
        if json_path.is_none() {
            let message = format!("`{attribute}` does not apply to a field below a list or map: it has several values");
            errors.push(self.rust.item_at(path).about(attribute), message);
        }
        json_path
    }
}

fn schema(kind: &ApiKind, item: &RustItem, options: &CrdOptions, errors: &mut Diagnostics) -> Option<Structural> {
    let root = structural::Root { description: kind.docs.replace("\r\n", "\n"), status: kind.status };
    let options = structural::Options { root: Some(root), ..structural_options(options) };
    match structural::generate(kind.schema?, &options) {
        Ok(structural) => Some(structural),
        Err(schema_errors) => {
            for error in schema_errors {
                // A type without its module path is less specific than the path below the kind.
                let rust = error.rust_field.filter(|rust| rust.matches("::").count() > 1);
                let item = rust.map_or_else(|| item.at(&error.path), |rust| item.with_path(rust));
                let item = item.with_location(error.location);
                let item = error.keyword.map_or_else(|| item.clone(), |keyword| item.about(schema_key(&keyword)));
                errors.push(item, error.message);
            }
            None
        }
    }
}

fn structural_options(options: &CrdOptions) -> structural::Options {
    structural::Options {
        metadata: match options.embedded_metadata {
            EmbeddedMetadata::Subset => structural::EmbeddedMetadata::Subset,
            EmbeddedMetadata::Full => structural::EmbeddedMetadata::Full,
            EmbeddedMetadata::None => structural::EmbeddedMetadata::None,
        },
        allow_floats: options.floats == Floats::Allow,
        ..structural::Options::default()
    }
}

/// Checks the limits of a deprecation warning, which the server sends in a header of every response.
fn check_deprecation_warning(warning: &str, item: &RustItem, errors: &mut Diagnostics) {
    if warning.len() > 256 {
        let message =
            format!("its deprecation warning has {} bytes, but the API server accepts at most 256", warning.len());
        errors.push(item.about("deprecated"), format!("{message}; shorten the note of `#[deprecated]`: `{warning}`"));
    }
    if warning.contains(char::is_control) {
        let message = "its deprecation warning has a control character; remove it from the note of `#[deprecated]`";
        errors.push(item.about("deprecated"), message);
    }
}

fn column(column: &PrintColumn) -> Value {
    let PrintColumn { name, column_type, json_path, description, format, priority } = column;
    let mut value = json!({"name": name, "type": column_type, "jsonPath": json_path});
    if let Some(description) = description {
        value["description"] = json!(description);
    }
    if let Some(format) = format {
        value["format"] = json!(format);
    }
    if *priority != 0 {
        value["priority"] = json!(priority);
    }
    value
}

fn subresources(kind: &ApiKind) -> Option<Value> {
    let mut subresources = Map::new();
    if kind.status {
        subresources.insert("status".to_owned(), json!({}));
    }
    if let Some(Scale { spec_path, status_path, selector_path }) = kind.scale {
        let mut scale = json!({"specReplicasPath": spec_path, "statusReplicasPath": status_path});
        if let Some(path) = selector_path {
            scale["labelSelectorPath"] = json!(path);
        }
        subresources.insert("scale".to_owned(), scale);
    }
    (!subresources.is_empty()).then_some(Value::Object(subresources))
}
