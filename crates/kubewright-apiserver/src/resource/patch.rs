//! Patches: JSON patch, merge patch and strategic merge patch.

use json_patch::{AddOperation, CopyOperation, PatchOperation, ReplaceOperation};
use kubewright_crd::value::json_type;
use serde_json::Value;

use crate::{
    api::{
        depth,
        error::{ApiError, Result},
        go,
    },
    resource::{registry::Resource, strategic_merge},
    wire::{body::go_syntax_error, parse},
};

const ACCEPTED: &str = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
pub(crate) const STRATEGIC: &str = "application/strategic-merge-patch+json";

/// The maximum number of strict decoding errors, as in Go's decoder.
const MAX_ERRORS: usize = 100;
/// The maximum number of operations of a JSON patch (`maxJSONPatchOperations`).
const MAX_OPERATIONS: usize = 10_000;
/// The maximum size of the JSON that all `copy` operations of a JSON patch add (`JSONPatchMaxCopyBytes`).
const MAX_COPIED_BYTES: usize = 3 << 20;
/// How often the depth of an object is measured while a JSON patch makes it deeper.
const MAX_MEASUREMENTS: usize = 64;

/// Applies a patch of a media type to the JSON of an object. The resource determines how a strategic merge patch is
/// merged; without one, lists are replaced. Returns the errors of strict decoding.
pub(crate) fn apply(
    content_type: &str,
    patch: &[u8],
    kind: Option<&Resource>,
    object: &mut Value,
) -> Result<Vec<String>> {
    match content_type {
        STRATEGIC => strategic_patch(patch, kind, object).map(|()| Vec::new()),
        "application/json-patch+json" => json_patch(patch, object),
        "application/merge-patch+json" => merge_patch(patch, object).map(|()| Vec::new()),
        _ => Err(ApiError::unsupported_media_type(ACCEPTED)),
    }
}

/// Rejects a patch of an unknown type, before anything else is checked.
pub(crate) fn check_media_type(content_type: &str, is_custom: bool) -> Result<()> {
    match content_type {
        "application/json-patch+json" | "application/merge-patch+json" => Ok(()),
        STRATEGIC if !is_custom => Ok(()),
        _ if is_custom => Err(ApiError::unsupported_media_type(ACCEPTED)),
        _ => Err(ApiError::unsupported_patch_type()),
    }
}

fn json_patch(patch: &[u8], object: &mut Value) -> Result<Vec<String>> {
    let operations = decode(patch)?;
    let Some(count) = operations.as_array().map(Vec::len) else {
        let found = json_type(&operations);
        return Err(undecodable(format!(
            "json: cannot unmarshal {found} into Go value of type []handlers.jsonPatchOp"
        )));
    };
    if count > MAX_OPERATIONS {
        let detail = format!("The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {count}");
        return Err(ApiError::entity_too_large(&detail));
    }
    let strict_errors = unknown_fields(&operations);
    let operations: json_patch::Patch = serde_json::from_value(operations).map_err(|_| ApiError::unprocessable())?;
    let mut budget = Budget::new(object);
    operations.0.into_iter().try_for_each(|operation| execute(operation, object, &mut budget))?;
    Ok(strict_errors)
}

/// Applies the operations of a JSON patch. Returns false if a test fails: the object is then not to be used.
///
/// # Errors
/// An operation is invalid, or cannot be executed.
pub(crate) fn apply_operations(operations: Vec<Value>, object: &mut Value) -> Result<bool> {
    if operations.len() > MAX_OPERATIONS {
        let count = operations.len();
        let detail = format!("The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {count}");
        return Err(ApiError::entity_too_large(&detail));
    }
    let mut budget = Budget::new(object);
    for operation in operations {
        let describe = operation.to_string();
        let decoded: PatchOperation = serde_json::from_value(operation)
            .map_err(|error| ApiError::bad_request(format!("invalid operation {describe}: {error}")))?;
        let is_test = matches!(decoded, PatchOperation::Test(_));
        match execute(decoded, object, &mut budget) {
            Err(_) if is_test => return Ok(false),
            Err(_) => return Err(ApiError::bad_request(format!("cannot execute the operation {describe}"))),
            Ok(()) => {}
        }
    }
    Ok(true)
}

/// What the operations of a JSON patch may create.
struct Budget {
    /// The size of all values that were copied, in bytes.
    copied_bytes: usize,
    /// An upper bound of the depth of the object.
    depth: usize,
    /// How often the depth can still be measured, because its bound exceeded the maximum.
    measurements: usize,
}

impl Budget {
    fn new(object: &Value) -> Self {
        Self { copied_bytes: 0, depth: depth::of_object(object), measurements: MAX_MEASUREMENTS }
    }

    /// Takes the size of a copied value from the budget. The real server adds nothing for null.
    fn copy(&mut self, copied: Option<&Value>) -> Result<()> {
        let copied = copied.filter(|value| !value.is_null());
        self.copied_bytes = self.copied_bytes.saturating_add(copied.map_or(0, go::json_size));
        if self.copied_bytes > MAX_COPIED_BYTES { Err(ApiError::unprocessable()) } else { Ok(()) }
    }

    /// Updates the bound of the depth for an operation that is executed next.
    fn extend_depth(&mut self, operation: &PatchOperation, object: &Value) {
        let length = |path: &str| path.matches('/').count();
        let depth = match operation {
            PatchOperation::Add(add) => length(add.path.as_str()) + depth::of_value(&add.value),
            PatchOperation::Replace(replace) => length(replace.path.as_str()) + depth::of_value(&replace.value),
            PatchOperation::Copy(copy) => {
                length(copy.path.as_str()) + object.pointer(copy.from.as_str()).map_or(0, depth::of_value)
            }
            PatchOperation::Move(moved) => {
                length(moved.path.as_str()) + self.depth.saturating_sub(length(moved.from.as_str()))
            }
            PatchOperation::Remove(_) | PatchOperation::Test(_) => 0,
        };
        self.depth = self.depth.max(depth);
    }

    /// Rejects an object that is too deep.
    fn check_depth(&mut self, object: &Value) -> Result<()> {
        if self.depth <= depth::MAX_DEPTH {
            return Ok(());
        }
        self.depth = depth::of_object(object);
        self.measurements = self.measurements.saturating_sub(1);
        let is_exhausted = self.measurements == 0;
        if self.depth > depth::MAX_DEPTH || is_exhausted { Err(ApiError::unprocessable()) } else { Ok(()) }
    }
}

/// Executes an operation within the budget.
fn execute(operation: PatchOperation, object: &mut Value, budget: &mut Budget) -> Result<()> {
    if is_test_of_absence(&operation, object) {
        return Ok(());
    }
    let operation = rewrite_for_absent_fields(operation, object);
    if let PatchOperation::Copy(copy) = &operation {
        budget.copy(object.pointer(copy.from.as_str()))?;
    }
    budget.extend_depth(&operation, object);
    json_patch::patch(object, &[operation]).map_err(|_| ApiError::unprocessable())?;
    budget.check_depth(object)
}

/// Returns the first unknown fields of operations.
fn unknown_fields(operations: &Value) -> Vec<String> {
    const KNOWN: [&str; 4] = ["op", "path", "from", "value"];
    let operations = operations.as_array().into_iter().flatten().enumerate();
    let unknown = operations.flat_map(|(index, operation)| {
        let names = operation.as_object().into_iter().flatten().map(|(name, _)| name);
        let unknown = names.filter(|name| !KNOWN.contains(&name.as_str()));
        unknown.map(move |name| format!("json patch unknown field {:?}", format!("[{index}].{name}")))
    });
    unknown.take(MAX_ERRORS).collect()
}

/// Returns whether an operation tests that a field is absent: the real server treats absent fields of existing objects
/// as null.
fn is_test_of_absence(operation: &PatchOperation, object: &Value) -> bool {
    let PatchOperation::Test(test) = operation else { return false };
    test.value.is_null() && in_map(object, test.path.as_str()) && object.pointer(test.path.as_str()).is_none()
}

/// Rewrites operations on absent fields as the real server executes them: `replace` adds the field, and `copy` copies
/// null.
fn rewrite_for_absent_fields(operation: PatchOperation, object: &Value) -> PatchOperation {
    match operation {
        PatchOperation::Replace(ReplaceOperation { path, value }) if in_map(object, path.as_str()) => {
            PatchOperation::Add(AddOperation { path, value })
        }
        PatchOperation::Copy(CopyOperation { from, path })
            if in_map(object, from.as_str()) && object.pointer(from.as_str()).is_none() =>
        {
            PatchOperation::Add(AddOperation { path, value: Value::Null })
        }
        other => other,
    }
}

fn in_map(object: &Value, path: &str) -> bool {
    let parent = path.rsplit_once('/').and_then(|(parent, _)| object.pointer(parent));
    parent.is_some_and(Value::is_object)
}

fn merge_patch(patch: &[u8], object: &mut Value) -> Result<()> {
    let changes = decode(patch)?;
    if !changes.is_object() {
        let found = json_type(&changes);
        return Err(undecodable(format!(
            "json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
        )));
    }
    json_patch::merge(object, &changes);
    Ok(())
}

fn strategic_patch(patch: &[u8], kind: Option<&Resource>, object: &mut Value) -> Result<()> {
    let changes = parse::json(patch).map_err(|error| ApiError::bad_request(go_syntax_error(&error)))?;
    let Value::Object(changes) = changes else {
        let found = json_type(&changes);
        let into = "Go value of type map[string]interface {}";
        return Err(ApiError::bad_request(format!("json: cannot unmarshal {found} into {into}")));
    };
    if let Value::Object(fields) = object {
        *fields = strategic_merge::apply(kind, changes, std::mem::take(fields))?;
    }
    Ok(())
}

fn decode(patch: &[u8]) -> Result<Value> {
    parse::json(patch).map_err(undecodable)
}

fn undecodable(error: impl std::fmt::Display) -> ApiError {
    ApiError::bad_request(format!("error decoding patch: {error}"))
}
