//! The spec of a definition: what holds of versions together, and then of each part.

use serde_json::{Value, json};

use super::{
    columns, conversion, defaults,
    definition::{Definition, Fields, any_schema},
    field_path, internal, names, openapi,
    options::Options,
    path::Path,
    rules, structural, subresources,
};
use crate::{finding::Finding, go, schema::Schema};

const SCOPES: [&str; 2] = ["Cluster", "Namespaced"];

/// What a schema may have at its root beside a status subresource, by the names of Go's fields.
const BESIDE_STATUS: [&str; 22] = [
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

pub(super) fn check(definition: Definition<'_>, options: &Options) -> Vec<Finding> {
    let spec = definition.spec();
    let at = Path::root("spec");
    let mut findings = names::check_group(spec.text("group"), &at);
    findings.extend(check_scope(spec.text("scope"), at.child("scope")));
    findings.extend(check_schemas_are_there(definition, options, &at));
    findings.extend(check_defaults_are_pruned_by(definition, &at));
    findings.extend(check_versions_together(definition, &at));
    let names_at = at.child("names");
    findings.extend(names::check_required(definition.names(), &names_at));
    findings.extend(names::check(definition.names(), &names_at));
    for (index, version) in definition.versions().enumerate() {
        findings.extend(check_version(definition, version, index, options, &at.child("versions")));
    }
    findings.extend(check_shared(definition, options, &at));
    if let Some(conversion) = spec.child("conversion") {
        let at = at.child("conversion");
        let strategy = conversion.text("strategy");
        if spec.flag("preserveUnknownFields") && strategy != "None" {
            let why = "must be None if spec.preserveUnknownFields is true";
            findings.push(Finding::invalid(at.child("strategy"), strategy, why));
        }
        findings.extend(conversion::check(conversion, options, &at));
    }
    findings
}

pub(super) fn check_preserve_unknown_fields(definition: Definition<'_>) -> Option<Finding> {
    let why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
    definition.spec().flag("preserveUnknownFields").then(|| Finding::invalid("spec.preserveUnknownFields", true, why))
}

fn check_scope(scope: &str, at: Path<'_>) -> Option<Finding> {
    match scope {
        "" => Some(Finding::required(at, "")),
        _ if SCOPES.contains(&scope) => None,
        _ => Some(Finding::not_supported(at, scope, SCOPES)),
    }
}

fn check_schemas_are_there(definition: Definition<'_>, options: &Options, at: &Path<'_>) -> Vec<Finding> {
    let has_schema =
        |schema: Option<&Value>| schema.is_some_and(|schema| Schema(schema).child("openAPIV3Schema").is_some());
    let preserves = definition.spec().flag("preserveUnknownFields");
    if has_schema(definition.shared("schema")) || !options.require_schema && preserves {
        return Vec::new();
    }
    let why = if options.require_schema { "" } else { "because otherwise all fields are pruned" };
    let versions = at.child("versions");
    let absent = definition.versions().enumerate().filter(|(_, version)| {
        !has_schema(definition.own(*version, "schema")) && (options.require_schema || version.flag("served"))
    });
    let required = |(index, _)| Finding::required(format!("{versions}[{index}].schema.openAPIV3Schema"), why);
    absent.map(required).collect()
}

fn check_defaults_are_pruned_by(definition: Definition<'_>, at: &Path<'_>) -> Option<Finding> {
    let has_default = |schema: Schema<'_>| any_schema(schema, &mut |schema| schema.get("default").is_some());
    let is_wrong =
        definition.spec().flag("preserveUnknownFields") && definition.schemas().any(|(_, schema)| has_default(schema));
    let why = "must be false in order to use defaults in the schema";
    is_wrong.then(|| Finding::invalid(at.child("preserveUnknownFields"), true, why))
}

fn check_versions_together(definition: Definition<'_>, at: &Path<'_>) -> Vec<Finding> {
    let names: Vec<&str> = definition.versions().map(|version| version.text("name")).collect();
    let is_repeated = names.iter().enumerate().any(|(index, name)| names[..index].contains(name));
    let storing = definition.versions().filter(|version| version.flag("storage")).count();
    let rules = [
        (is_repeated, "must contain unique version names"),
        (storing != 1, "must have exactly one version marked as storage version"),
    ];
    let all = definition.versions().map(|version| version.0.clone()).collect::<Value>();
    let shown =
        if definition.spec().get("versions").is_some() { internal::versions(definition) } else { "null".to_owned() };
    let broken = rules.into_iter().filter(|(is_broken, _)| *is_broken);
    let finding = |(_, why)| Finding::invalid(at.child("versions"), all.clone(), why).showing(shown.clone());
    let mut findings: Vec<Finding> = broken.map(finding).collect();
    // The first version's name stands at the top, too.
    if let Some(name) = names.first().filter(|name| !name.is_empty()) {
        findings.extend(names::listed_label(name, at.child("version")));
    }
    findings
}

/// What a version has of its own.
fn check_version(
    definition: Definition<'_>,
    version: Fields<'_>,
    index: usize,
    options: &Options,
    versions: &Path<'_>,
) -> Vec<Finding> {
    let at = versions.index(index);
    let name = version.text("name");
    let mut findings: Vec<Finding> = names::listed_label(name, at.child("name")).into_iter().collect();
    findings.extend(check_deprecation(version, &at.child("deprecationWarning")));
    let own = |keyword| definition.own(version, keyword).map(Schema);
    let schema = own("schema").and_then(|schema| schema.child("openAPIV3Schema"));
    if let Some(schema) = schema {
        let at = at.child("schema");
        findings.extend(check_schema(
            schema,
            has_status(definition, name),
            options,
            &at.child("openAPIV3Schema").schema_of(index),
        ));
    }
    if let Some(subresources) = own("subresources") {
        findings.extend(subresources::check(subresources, &at.child("subresources")));
    }
    if let Some(columns) = own("additionalPrinterColumns") {
        findings.extend(check_columns(columns, &at.child("additionalPrinterColumns")));
    }
    if let Some(fields) =
        own("selectableFields").and_then(|fields| fields.0.as_array()).filter(|fields| !fields.is_empty())
    {
        let at = at.child("selectableFields");
        let why = "may only be set when `version.schema.openAPIV3Schema` is not included";
        match schema {
            None => findings.push(Finding::invalid(at, "", why)),
            Some(schema) => findings.extend(check_selectable(fields, schema, name, options, &at)),
        }
    }
    findings
}

/// What all versions have alike.
fn check_shared(definition: Definition<'_>, options: &Options, at: &Path<'_>) -> Vec<Finding> {
    let shared = |keyword| definition.shared(keyword).map(Schema);
    let mut findings = Vec::new();
    let schema = shared("schema");
    if let Some(schema) = schema.and_then(|schema| schema.child("openAPIV3Schema")) {
        let has_status = definition.versions().any(|version| subresource_status(version.child("subresources")));
        let at = at.child("validation");
        findings.extend(check_schema(schema, has_status, options, &at.child("openAPIV3Schema").schema_of(0)));
    }
    if let Some(subresources) = shared("subresources") {
        findings.extend(subresources::check(subresources, &at.child("subresources")));
    }
    if let Some(columns) = shared("additionalPrinterColumns") {
        findings.extend(check_columns(columns, &at.child("additionalPrinterColumns")));
    }
    if let Some(fields) =
        shared("selectableFields").and_then(|fields| fields.0.as_array()).filter(|fields| !fields.is_empty())
    {
        let at = at.child("selectableFields");
        match schema {
            None => findings.push(Finding::invalid(at, "", "may only be set when validations.schema is included")),
            Some(schema) => {
                let schema = schema.child("openAPIV3Schema");
                findings
                    .extend(schema.into_iter().flat_map(|schema| check_selectable(fields, schema, "", options, &at)));
            }
        }
    }
    findings
}

fn check_columns(columns: Schema<'_>, at: &Path<'_>) -> Vec<Finding> {
    let columns = columns.0.as_array().into_iter().flatten().enumerate();
    columns.flat_map(|(index, column)| columns::check_column(Schema(column), &at.index(index))).collect()
}

fn check_selectable(
    fields: &[Value],
    schema: Schema<'_>,
    version: &str,
    options: &Options,
    at: &Path<'_>,
) -> Vec<Finding> {
    let may_be_many = options.many_selectable.iter().any(|many| many == version);
    let fields = fields.iter().map(Schema);
    let Err(why) = structural::convert(schema) else {
        return columns::check_selectable(fields, schema, at, may_be_many);
    };
    // The server breaks off without an answer when it then follows a path; what it says of others is what there is.
    let schema_at = format!("{}.schema.openAPIV3Schema", at.parent());
    let mut findings = columns::check_selectable(fields, Schema(&Value::Null), at, may_be_many);
    findings.retain(|finding| !finding.detail.ends_with(field_path::NOWHERE));
    findings.push(Finding::invalid(schema_at, "", why));
    findings
}

fn subresource_status(subresources: Option<Fields<'_>>) -> bool {
    subresources.is_some_and(|subresources| subresources.get("status").is_some())
}

/// Whether the version of this name has a status subresource.
fn has_status(definition: Definition<'_>, name: &str) -> bool {
    if let Some(shared) = definition.shared("subresources") {
        return subresource_status(Some(Schema(shared)));
    }
    let version = definition.versions().find(|version| version.text("name") == name);
    subresource_status(version.and_then(|version| version.child("subresources")))
}

fn check_deprecation(version: Fields<'_>, at: &Path<'_>) -> Vec<Finding> {
    let Some(warning) = version.get("deprecationWarning").and_then(Value::as_str) else {
        return Vec::new();
    };
    let invalid = |why: String| Finding::invalid(at, warning, why).showing(go::json_text(warning));
    if !version.flag("deprecated") {
        return vec![invalid("can only be set for deprecated versions".to_owned())];
    }
    let mut findings = Vec::new();
    if warning.len() > 256 {
        findings.push(invalid("must be <= 256 characters long".to_owned()));
    }
    if warning.is_empty() {
        findings.push(invalid("must not be an empty string".to_owned()));
    }
    let hidden = warning.char_indices().find(|(_, c)| !go::is_print(*c));
    findings.extend(hidden.map(|(index, _)| {
        invalid(format!("must only contain printable UTF-8 characters; non-printable character found at index {index}"))
    }));
    findings
}

/// All rules of the schema of a version.
fn check_schema(schema: Schema<'_>, has_status: bool, options: &Options, at: &Path<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        if has_status { check_beside_status(schema, at) } else { None }.into_iter().collect();
    if schema.is_nullable() {
        findings.push(Finding::forbidden(at.child("nullable"), "nullable cannot be true at the root"));
    }
    let mut inconvertible = None;
    let mut is_sound = false;
    if options.require_structural {
        match structural::convert(schema) {
            Err(why) => inconvertible = Some(Finding::invalid(at, "", why)),
            Ok(()) => {
                let mut broken = structural::check(schema, at);
                if broken.is_empty() {
                    broken = defaults::check(schema, options.require_pruned_defaults, at);
                }
                is_sound = broken.is_empty();
                findings.extend(broken);
            }
        }
    }
    let broken = openapi::check(schema, options, at);
    if is_sound {
        findings.extend(rules::expressions(schema, &broken, at));
    }
    findings.extend(broken);
    if findings.is_empty() {
        findings.extend(inconvertible);
    }
    findings
}

/// Where the status is a subresource, its schema is taken out of the root, which may not have anything that would be lost.
fn check_beside_status(schema: Schema<'_>, at: &Path<'_>) -> Option<Finding> {
    for name in internal::set_fields(schema) {
        let type_ = schema.text("type");
        if name == "Type" && type_ != "object" {
            let why =
                "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
            return Some(Finding::invalid(at.child("type"), type_, why));
        }
        if !BESIDE_STATUS.contains(&name) {
            let allowed = BESIDE_STATUS.join(" ");
            let why = format!(
                "only [{allowed}] fields are allowed at the root of the schema if the status subresource is enabled"
            );
            return Some(Finding::invalid(at, json!(schema.0), why).showing(internal::schema(schema)));
        }
    }
    None
}
