//! Validation of the spec of a crd.

use serde_json::{Value, json};

use super::{
    conversion,
    crd::{Crd, Fields, any_schema},
    defaults, field_path, go_struct, names, openapi,
    options::Options,
    printer_columns, rules, selectable_fields, structural, subresources,
};
use crate::{
    field::{FieldError, Path},
    go,
    schema::Schema,
};

const SCOPES: [&str; 2] = ["Cluster", "Namespaced"];

/// The Go fields that are allowed at the root of a schema if the status subresource is enabled.
const ALLOWED_WITH_STATUS: [&str; 22] = [
    "Description",
    "Type",
    "Format",
    "Title",
    "Maximum",
    "ExclusiveMaximum",
    "Minimum",
    "ExclusiveMinimum",
    "MaxLength",
    "MinLength",
    "Pattern",
    "MaxItems",
    "MinItems",
    "UniqueItems",
    "MultipleOf",
    "Required",
    "Items",
    "Properties",
    "ExternalDocs",
    "Example",
    "XPreserveUnknownFields",
    "XValidations",
];

pub(super) fn validate(crd: Crd<'_>, options: &Options) -> Vec<FieldError> {
    let spec = crd.spec();
    let at = Path::root("spec");
    let mut errors = names::validate_group(spec.string("group"), &at);
    errors.extend(validate_scope(spec.string("scope"), at.child("scope")));
    errors.extend(validate_required_schemas(crd, options, &at));
    errors.extend(validate_pruning_with_defaults(crd, &at));
    errors.extend(validate_versions(crd, &at));
    let names_at = at.child("names");
    errors.extend(names::validate_required(crd.names(), &names_at));
    errors.extend(names::validate(crd.names(), &names_at));
    for (index, version) in crd.versions().enumerate() {
        errors.extend(validate_version(crd, version, index, options, &at.child("versions")));
    }
    errors.extend(validate_top_level(crd, options, &at));
    if let Some(conversion) = spec.child("conversion") {
        let at = at.child("conversion");
        let strategy = conversion.string("strategy");
        if spec.flag("preserveUnknownFields") && strategy != "None" {
            let detail = "must be None if spec.preserveUnknownFields is true";
            errors.push(FieldError::invalid(at.child("strategy"), strategy, detail));
        }
        errors.extend(conversion::validate(conversion, options, &at));
    }
    errors
}

pub(super) fn validate_preserve_unknown_fields(crd: Crd<'_>) -> Option<FieldError> {
    let detail =
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
    crd.spec().flag("preserveUnknownFields").then(|| FieldError::invalid("spec.preserveUnknownFields", true, detail))
}

fn validate_scope(scope: &str, at: Path<'_>) -> Option<FieldError> {
    match scope {
        "" => Some(FieldError::required(at, "")),
        _ if SCOPES.contains(&scope) => None,
        _ => Some(FieldError::not_supported(at, scope, SCOPES)),
    }
}

fn validate_required_schemas(crd: Crd<'_>, options: &Options, at: &Path<'_>) -> Vec<FieldError> {
    let has_schema =
        |schema: Option<&Value>| schema.is_some_and(|schema| Schema(schema).child("openAPIV3Schema").is_some());
    let preserves = crd.spec().flag("preserveUnknownFields");
    if has_schema(crd.top_level("schema")) || !options.require_open_api_schema && preserves {
        return Vec::new();
    }
    let detail = if options.require_open_api_schema { "" } else { "because otherwise all fields are pruned" };
    let versions = at.child("versions");
    let missing = crd.versions().enumerate().filter(|(_, version)| {
        !has_schema(crd.per_version(*version, "schema")) && (options.require_open_api_schema || version.flag("served"))
    });
    let required = |(index, _)| FieldError::required(format!("{versions}[{index}].schema.openAPIV3Schema"), detail);
    missing.map(required).collect()
}

fn validate_pruning_with_defaults(crd: Crd<'_>, at: &Path<'_>) -> Option<FieldError> {
    let has_default = |schema: Schema<'_>| any_schema(schema, &mut |schema| schema.get("default").is_some());
    let is_invalid = crd.spec().flag("preserveUnknownFields") && crd.schemas().any(|(_, schema)| has_default(schema));
    let detail = "must be false in order to use defaults in the schema";
    is_invalid.then(|| FieldError::invalid(at.child("preserveUnknownFields"), true, detail))
}

fn validate_versions(crd: Crd<'_>, at: &Path<'_>) -> Vec<FieldError> {
    let names: Vec<&str> = crd.versions().map(|version| version.string("name")).collect();
    let is_duplicate = names.iter().enumerate().any(|(index, name)| names[..index].contains(name));
    let storage_versions = crd.versions().filter(|version| version.flag("storage")).count();
    let checks = [
        (is_duplicate, "must contain unique version names"),
        (storage_versions != 1, "must have exactly one version marked as storage version"),
    ];
    let all = crd.versions().map(|version| version.0.clone()).collect::<Value>();
    let displayed = if crd.spec().get("versions").is_some() { go_struct::versions(crd) } else { "null".to_owned() };
    let failed = checks.into_iter().filter(|(is_failed, _)| *is_failed);
    let error = |(_, detail)| {
        FieldError::invalid(at.child("versions"), all.clone(), detail).with_displayed_value(displayed.clone())
    };
    let mut errors: Vec<FieldError> = failed.map(error).collect();
    // The internal version has the name of the first version in `spec.version`, too.
    if let Some(name) = names.first().filter(|name| !name.is_empty()) {
        errors.extend(names::validate_label(name, at.child("version")));
    }
    errors
}

/// Validates a version, except for its top-level fields.
fn validate_version(
    crd: Crd<'_>,
    version: Fields<'_>,
    index: usize,
    options: &Options,
    versions: &Path<'_>,
) -> Vec<FieldError> {
    let at = versions.index(index);
    let name = version.string("name");
    let mut errors: Vec<FieldError> = names::validate_label(name, at.child("name")).into_iter().collect();
    errors.extend(validate_deprecation(version, &at.child("deprecationWarning")));
    let per_version = |keyword| crd.per_version(version, keyword).map(Schema);
    let schema = per_version("schema").and_then(|schema| schema.child("openAPIV3Schema"));
    if let Some(schema) = schema {
        let at = at.child("schema");
        errors.extend(validate_schema(
            schema,
            has_status(crd, name),
            options,
            &at.child("openAPIV3Schema").schema_of(index),
        ));
    }
    if let Some(subresources) = per_version("subresources") {
        errors.extend(subresources::validate(subresources, &at.child("subresources")));
    }
    if let Some(columns) = per_version("additionalPrinterColumns") {
        errors.extend(validate_printer_columns(columns, &at.child("additionalPrinterColumns")));
    }
    if let Some(fields) =
        per_version("selectableFields").and_then(|fields| fields.0.as_array()).filter(|fields| !fields.is_empty())
    {
        let at = at.child("selectableFields");
        let detail = "may only be set when `version.schema.openAPIV3Schema` is not included";
        match schema {
            None => errors.push(FieldError::invalid(at, "", detail)),
            Some(schema) => errors.extend(validate_selectable_fields(fields, schema, name, options, &at)),
        }
    }
    errors
}

/// Validates the top-level fields, which are equal in all versions.
fn validate_top_level(crd: Crd<'_>, options: &Options, at: &Path<'_>) -> Vec<FieldError> {
    let top_level = |keyword| crd.top_level(keyword).map(Schema);
    let mut errors = Vec::new();
    let schema = top_level("schema");
    if let Some(schema) = schema.and_then(|schema| schema.child("openAPIV3Schema")) {
        let has_status = crd.versions().any(|version| has_status_subresource(version.child("subresources")));
        let at = at.child("validation");
        errors.extend(validate_schema(schema, has_status, options, &at.child("openAPIV3Schema").schema_of(0)));
    }
    if let Some(subresources) = top_level("subresources") {
        errors.extend(subresources::validate(subresources, &at.child("subresources")));
    }
    if let Some(columns) = top_level("additionalPrinterColumns") {
        errors.extend(validate_printer_columns(columns, &at.child("additionalPrinterColumns")));
    }
    if let Some(fields) =
        top_level("selectableFields").and_then(|fields| fields.0.as_array()).filter(|fields| !fields.is_empty())
    {
        let at = at.child("selectableFields");
        match schema {
            None => errors.push(FieldError::invalid(at, "", "may only be set when validations.schema is included")),
            Some(schema) => {
                let schema = schema.child("openAPIV3Schema");
                errors.extend(
                    schema.into_iter().flat_map(|schema| validate_selectable_fields(fields, schema, "", options, &at)),
                );
            }
        }
    }
    errors
}

fn validate_printer_columns(columns: Schema<'_>, at: &Path<'_>) -> Vec<FieldError> {
    let columns = columns.0.as_array().into_iter().flatten().enumerate();
    columns.flat_map(|(index, column)| printer_columns::validate(Schema(column), &at.index(index))).collect()
}

fn validate_selectable_fields(
    fields: &[Value],
    schema: Schema<'_>,
    version: &str,
    options: &Options,
    at: &Path<'_>,
) -> Vec<FieldError> {
    let allow_too_many = options.allow_too_many_selectable_fields.iter().any(|allowed| allowed == version);
    let fields = fields.iter().map(Schema);
    let Err(detail) = structural::convert(schema) else {
        return selectable_fields::validate(fields, schema, at, allow_too_many);
    };
    // The server panics if it resolves a path in such a schema. The errors that need no schema are reported.
    let schema_at = format!("{}.schema.openAPIV3Schema", at.parent());
    let mut errors = selectable_fields::validate(fields, Schema(&Value::Null), at, allow_too_many);
    errors.retain(|error| !error.detail.ends_with(field_path::NOT_A_FIELD));
    errors.push(FieldError::invalid(schema_at, "", detail));
    errors
}

fn has_status_subresource(subresources: Option<Fields<'_>>) -> bool {
    subresources.is_some_and(|subresources| subresources.get("status").is_some())
}

/// Whether the version with this name has a status subresource.
fn has_status(crd: Crd<'_>, name: &str) -> bool {
    if let Some(top_level) = crd.top_level("subresources") {
        return has_status_subresource(Some(Schema(top_level)));
    }
    let version = crd.versions().find(|version| version.string("name") == name);
    has_status_subresource(version.and_then(|version| version.child("subresources")))
}

fn validate_deprecation(version: Fields<'_>, at: &Path<'_>) -> Vec<FieldError> {
    let Some(warning) = version.get("deprecationWarning").and_then(Value::as_str) else {
        return Vec::new();
    };
    let invalid =
        |detail: String| FieldError::invalid(at, warning, detail).with_displayed_value(go::json_string(warning));
    if !version.flag("deprecated") {
        return vec![invalid("can only be set for deprecated versions".to_owned())];
    }
    let mut errors = Vec::new();
    if warning.len() > 256 {
        errors.push(invalid("must be <= 256 characters long".to_owned()));
    }
    if warning.is_empty() {
        errors.push(invalid("must not be an empty string".to_owned()));
    }
    let unprintable = warning.char_indices().find(|(_, c)| !go::is_print(*c));
    errors.extend(unprintable.map(|(index, _)| {
        invalid(format!("must only contain printable UTF-8 characters; non-printable character found at index {index}"))
    }));
    errors
}

/// Validates the schema of a version.
fn validate_schema(schema: Schema<'_>, has_status: bool, options: &Options, at: &Path<'_>) -> Vec<FieldError> {
    let mut errors: Vec<FieldError> =
        if has_status { validate_root_with_status(schema, at) } else { None }.into_iter().collect();
    if schema.is_nullable() {
        errors.push(FieldError::forbidden(at.child("nullable"), "nullable cannot be true at the root"));
    }
    let mut conversion_error = None;
    let mut is_structural = false;
    if options.require_structural_schema {
        match structural::convert(schema) {
            Err(detail) => conversion_error = Some(FieldError::invalid(at, "", detail)),
            Ok(()) => {
                let mut invalid = structural::validate(schema, at);
                if invalid.is_empty() {
                    invalid = defaults::validate(schema, options.require_pruned_defaults, at);
                }
                is_structural = invalid.is_empty();
                errors.extend(invalid);
            }
        }
    }
    let invalid = openapi::validate(schema, options, at);
    if is_structural {
        errors.extend(rules::validate_expressions(schema, &invalid, at));
    }
    errors.extend(invalid);
    if errors.is_empty() {
        errors.extend(conversion_error);
    }
    errors
}

/// Validates the root of a schema if the status is a subresource: the server extracts the schema of the status, so that
/// validations at the root would be lost.
fn validate_root_with_status(schema: Schema<'_>, at: &Path<'_>) -> Option<FieldError> {
    for name in go_struct::set_fields(schema) {
        let type_ = schema.string("type");
        if name == "Type" && type_ != "object" {
            let detail =
                "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
            return Some(FieldError::invalid(at.child("type"), type_, detail));
        }
        if !ALLOWED_WITH_STATUS.contains(&name) {
            let allowed = ALLOWED_WITH_STATUS.join(" ");
            let detail = format!(
                "only [{allowed}] fields are allowed at the root of the schema if the status subresource is enabled"
            );
            return Some(
                FieldError::invalid(at, json!(schema.0), detail).with_displayed_value(go_struct::schema(schema)),
            );
        }
    }
    None
}
