//! Server-side apply: merges the fields that a manager applies with those of other managers.

use kubewright_crd::value::json_type;
use serde_json::{Map, Value};

use super::{
    New, Write,
    preconditions::{check_name, ensure_namespace},
};
use crate::{
    api::{
        endpoint::Endpoint,
        error::{ApiError, Result},
        go,
        object::{Object, Stored},
    },
    handlers::{decode, request::ResourceRequest},
    resource::managed_fields,
    wire::parse,
};

impl Write<'_> {
    /// Applies the body to the stored object. An object that does not exist is created by an apply to it, but not by
    /// one to a subresource.
    pub(super) async fn decode_applied(&self) -> Result<(New, Option<Stored>)> {
        let request = self.request;
        let is_main = request.endpoint == Endpoint::Main;
        let live = if is_main { request.find(self.state).await? } else { Some(self.existing().await?) };
        let fields = body(request)?;
        let (author, force) = (request.author(), self.options.force);
        let applied = request.resolve(|| managed_fields::apply(author, live.as_deref(), &fields, force)).await?;
        let mut object = match (applied.outcome, &live) {
            (None, Some(live)) => Object::clone(live),
            (outcome, _) => decode::merged(&request.kind, outcome.unwrap_or_default(), &fields)?,
        };
        object.metadata.managed_fields = applied.entries;
        if live.is_none() {
            check_new(request, &object)?;
        }
        ensure_namespace(&mut object, request)?;
        check_name(&object, request)?;
        // A new object has no version yet; a dry run returns the requested one.
        let version = live.is_none().then(|| object.metadata.resource_version.take()).flatten();
        Ok((New { object, version }, live))
    }
}

/// Decodes a YAML or JSON body. An empty body is an object without fields.
pub(super) fn body(request: &ResourceRequest) -> Result<Value> {
    match yaml(&request.body) {
        Ok(Value::Object(fields)) => Ok(Value::Object(fields)),
        Ok(Value::Null) => Ok(Value::Object(Map::new())),
        Ok(other) => {
            let found = json_type(&other);
            let into = "Go value of type map[string]interface {}";
            let detail =
                format!("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into {into}");
            Err(ApiError::bad_request(format!("error decoding YAML: {detail}")))
        }
        Err(detail) => {
            Err(ApiError::bad_request(format!("error decoding YAML: error converting YAML to JSON: {detail}")))
        }
    }
}

/// Decodes the first document as YAML 1.1, as Go does. JSON is decoded as such, which has no other values.
fn yaml(body: &[u8]) -> Result<Value, String> {
    let mut value = match parse::json(body) {
        Ok(value) => value,
        Err(_) => parse::yaml(body, true).map_err(|error| error.to_string())?,
    };
    go::normalize_numbers(&mut value);
    Ok(value)
}

/// Rejects a new object with a UID: the request is for an existing object.
fn check_new(request: &ResourceRequest, object: &Object) -> Result<()> {
    if object.uid().is_empty() {
        return Ok(());
    }
    let detail =
        format!("uid mismatch: the provided object specified uid {}, and no existing object was found", object.uid());
    Err(ApiError::conflict(&request.kind, request.name(), &detail))
}
