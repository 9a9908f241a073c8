//! Printer columns and selectable fields.

use std::collections::BTreeSet;

use super::{definition::Fields, field_path, json_path, path::Path};
use crate::{finding::Finding, schema::Schema};

const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/// How many fields may be selected by.
pub(super) const MOST_SELECTABLE: usize = 8;

pub(super) fn check_column(column: Fields<'_>, at: &Path<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if column.text("name").is_empty() {
        findings.push(Finding::required(at.child("name"), ""));
    }
    let one_of = |words: &[&str]| format!("must be one of {}", words.join(","));
    match column.text("type") {
        "" => findings.push(Finding::required(at.child("type"), one_of(&TYPES))),
        type_ if TYPES.contains(&type_) => {}
        type_ => findings.push(Finding::invalid(at.child("type"), type_, one_of(&TYPES))),
    }
    let format = column.text("format");
    if !format.is_empty() && !FORMATS.contains(&format) {
        findings.push(Finding::invalid(at.child("format"), format, one_of(&FORMATS)));
    }
    let path = at.child("JSONPath");
    match column.text("jsonPath") {
        "" => findings.push(Finding::required(path, "")),
        text => findings.extend(json_path::check(text, path)),
    }
    findings
}

/// Selectable fields are scalars that the schema names. `may_be_many` if there were too many before, and are the same.
pub(super) fn check_selectable<'a>(
    fields: impl Iterator<Item = Fields<'a>>,
    schema: Schema<'_>,
    at: &Path<'_>,
    may_be_many: bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut known = BTreeSet::new();
    for (index, field) in fields.enumerate() {
        let item = at.index(index);
        let json_path = field.text("jsonPath");
        let at = item.child("jsonPath");
        if json_path.is_empty() {
            findings.push(Finding::required(at, ""));
            continue;
        }
        let found = match field_path::resolve(json_path, schema, false) {
            Ok(found) => found,
            Err(why) => {
                findings.push(Finding::invalid(at, json_path, format!("is an invalid path: {why}")));
                continue;
            }
        };
        if found.root == "metadata" {
            findings.push(Finding::invalid(at, json_path, "must not point to fields in metadata"));
        }
        let type_ = found.schema.map_or("", |schema| schema.text("type"));
        if !["string", "boolean", "integer"].contains(&type_) {
            let why = "must point to a field of type string, boolean or integer. Enum string fields and strings with \
                       formats are allowed.";
            findings.push(Finding::invalid(at, json_path, why));
        }
        if !known.insert(found.path) {
            findings.push(Finding::duplicate(at, json_path));
        }
    }
    if known.len() > MOST_SELECTABLE && !may_be_many {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        findings.push(Finding::too_many(at, count(known.len()), count(MOST_SELECTABLE)));
    }
    findings
}
