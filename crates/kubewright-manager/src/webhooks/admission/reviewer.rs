//! Defaulters and validators without their types: from the objects of a review to a decision.

use std::marker::PhantomData;

use futures::future::BoxFuture;
use kubewright_core::{description::Operation, wire::OmitNone};
use kubewright_runtime::ApiObject;
use serde::de::DeserializeOwned;
use serde_json::{Value, value::RawValue};

use super::{
    Defaulter, Denied, Validator, patch,
    request::AdmissionRequest,
    review::{Decision, Objects},
};

/// Decides about requests.
pub(in crate::webhooks) trait Reviewer: Send + Sync + 'static {
    /// Reviews a request.
    fn review<'a>(
        &'a self,
        request: &'a AdmissionRequest,
        objects: &'a Objects,
    ) -> BoxFuture<'a, Result<Decision, Denied>>;
}

/// Reviews by a defaulter.
pub(in crate::webhooks) struct Defaulting<K, D> {
    defaulter: D,
    kind: PhantomData<fn() -> K>,
}

/// Reviews by a validator.
pub(in crate::webhooks) struct Validating<K, V> {
    validator: V,
    kind: PhantomData<fn() -> K>,
}

impl<K, D> Defaulting<K, D> {
    pub(in crate::webhooks) fn new(defaulter: D) -> Self {
        Defaulting { defaulter, kind: PhantomData }
    }
}

impl<K, V> Validating<K, V> {
    pub(in crate::webhooks) fn new(validator: V) -> Self {
        Validating { validator, kind: PhantomData }
    }
}

impl<K: ApiObject, D: Defaulter<K>> Reviewer for Defaulting<K, D> {
    fn review<'a>(
        &'a self,
        request: &'a AdmissionRequest,
        objects: &'a Objects,
    ) -> BoxFuture<'a, Result<Decision, Denied>> {
        Box::pin(async move {
            if !matches!(request.operation, Operation::Create | Operation::Update) {
                return Ok(Decision::Allowed);
            }
            let sent: Value = decode(objects.new.as_deref(), "object")?;
            let mut object = K::deserialize(&sent).map_err(|error| undecodable("object", &error))?;
            let before = encode(&object)?;
            self.defaulter.default(&mut object, request).await?;
            let after = encode(&object)?;
            Ok(Decision::Patched(patch::of_changes(&sent, &before, &after)))
        })
    }
}

impl<K: ApiObject, V: Validator<K>> Reviewer for Validating<K, V> {
    fn review<'a>(
        &'a self,
        request: &'a AdmissionRequest,
        objects: &'a Objects,
    ) -> BoxFuture<'a, Result<Decision, Denied>> {
        Box::pin(async move {
            let new = || decode::<K>(objects.new.as_deref(), "object");
            let old = || decode::<K>(objects.old.as_deref(), "oldObject");
            match request.operation {
                Operation::Create => self.validator.validate_create(&new()?, request).await?,
                Operation::Update => self.validator.validate_update(&new()?, &old()?, request).await?,
                Operation::Delete => self.validator.validate_delete(&old()?, request).await?,
                Operation::Connect => {}
            }
            Ok(Decision::Allowed)
        })
    }
}

fn decode<T: DeserializeOwned>(object: Option<&RawValue>, field: &str) -> Result<T, Denied> {
    let object = object.ok_or_else(|| Denied::bad_request(format!("the request has no `{field}`")))?;
    serde_json::from_str(object.get()).map_err(|error| undecodable(field, &error))
}

fn undecodable(field: &str, error: &serde_json::Error) -> Denied {
    Denied::bad_request(format!("cannot decode `{field}`: {error}"))
}

fn encode<K: ApiObject>(object: &K) -> Result<Value, Denied> {
    let encoded = serde_json::to_value(OmitNone(object));
    encoded.map_err(|error| Denied::internal(format!("cannot encode the object: {error}")))
}
