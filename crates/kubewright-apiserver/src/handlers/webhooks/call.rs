//! The calls of the webhooks of a phase.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::join_all;
use http::Response as HttpResponse;
use serde_json::Value;

use super::{
    Phase,
    hook::{Hook, Match},
    review::{self, Response},
    session::{Call, Outcome},
};
use crate::{
    api::{
        error::{ApiError, Result},
        object::{Object, Written},
        webhook::CallFn,
    },
    handlers::decode,
    resource::{patch, registry::Resource},
};

impl Call {
    /// Calls the webhooks.
    pub(super) async fn run(self, call: &CallFn) -> Outcome {
        match self.phase {
            Phase::Mutating => self.mutate(call).await,
            Phase::Validating => self.validate(call).await,
        }
    }

    /// Calls the webhooks one after the other. Those that are reinvoked are called once more if a later one has changed
    /// the object.
    async fn mutate(self, call: &CallFn) -> Outcome {
        let (mut object, mut warnings) = (self.object.clone(), Vec::new());
        let mut changes = 0;
        // For each webhook that was called, the number of changes after the call.
        let mut called: Vec<Option<usize>> = vec![None; self.hooks.len()];
        for round in 0..2 {
            let last = changes;
            for (index, one) in self.hooks.iter().enumerate() {
                let is_due = round == 0 || one.hook.is_reinvoked && called[index].is_some_and(|seen| seen < last);
                if !is_due {
                    continue;
                }
                match self.call_mutating(call, one, &mut object, &mut warnings).await {
                    Ok(Some(is_changed)) => {
                        changes += usize::from(is_changed);
                        called[index] = Some(changes);
                    }
                    Ok(None) => {}
                    Err(error) => return Outcome { result: Err(error), warnings },
                }
            }
        }
        Outcome { result: Ok(object), warnings }
    }

    /// Returns whether the object was changed; `None` if the webhook was not called, or its failure is ignored.
    async fn call_mutating(
        &self,
        call: &CallFn,
        one: &Match,
        object: &mut Option<Object>,
        warnings: &mut Vec<String>,
    ) -> Result<Option<bool>> {
        let Some(response) = self.call(call, one, object.as_ref(), warnings).await? else { return Ok(None) };
        let Some(operations) = response.patch() else { return Ok(Some(false)) };
        let name = &one.hook.name;
        let Some(object) = object else {
            let why = "attempted to modify the object, which is not supported for this operation";
            return Err(ApiError::internal_error(&format!("admission webhook {name:?} {why}")));
        };
        let mut sent = encode(Some(&*object), &self.attributes.kind, &one.kind).await?;
        let before = sent.clone();
        patch::apply("application/json-patch+json", operations, None, &mut sent)
            .map_err(|error| ApiError::internal_error(&error.message()))?;
        if sent == before {
            return Ok(Some(false));
        }
        let mut mutated = convert(&decode::mutated(&one.kind, sent)?, &one.kind, &self.attributes.kind).await?;
        mutated.written = object.written.clone();
        let is_changed = *object != mutated;
        *object = mutated;
        Ok(Some(is_changed))
    }

    /// Calls all webhooks. The error is that of the first one that denies the request.
    async fn validate(self, call: &CallFn) -> Outcome {
        let this = &self;
        let calls = self.hooks.iter().map(|one| async move {
            let mut warnings = Vec::new();
            (this.call(call, one, this.object.as_ref(), &mut warnings).await, warnings)
        });
        let (mut result, mut all_warnings) = (Ok(self.object.clone()), Vec::new());
        for (response, warnings) in join_all(calls).await {
            all_warnings.extend(warnings);
            if let (Err(error), true) = (response, result.is_ok()) {
                result = Err(error);
            }
        }
        Outcome { result, warnings: all_warnings }
    }

    /// Returns the response of a webhook that allows the request; `None` if it does not select the object, or if its
    /// failure is ignored.
    async fn call(
        &self,
        call: &CallFn,
        Match { hook, kind }: &Match,
        object: Option<&Object>,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Response>> {
        if !hook.selects_object(&self.attributes, object) {
            return Ok(None);
        }
        let own = &self.attributes.kind;
        let (new, old) = (encode(object, own, kind).await?, encode(self.attributes.old.as_deref(), own, kind).await?);
        let request = review::Request::new(&self.attributes, kind, &new, &old);
        let sent = send(call, hook, request.body).await;
        let response =
            sent.and_then(|response| Response::parse(response.status(), response.body(), self.phase, &request.uid));
        match response {
            Ok(mut response) => {
                warnings.extend(response.take_warnings());
                if response.allowed { Ok(Some(response)) } else { Err(review::denial(&hook.name, response.status)) }
            }
            Err(_) if hook.ignores_failures => Ok(None),
            Err(why) => Err(ApiError::internal_error(&format!("failed calling webhook {:?}: {why}", hook.name))),
        }
    }
}

/// Sends a review. The error is the reason why there is no response.
async fn send(call: &CallFn, hook: &Hook, body: Vec<u8>) -> Result<HttpResponse<Bytes>, String> {
    let sent = hook.client.post(call, hook.timeout, body).await;
    sent.map_err(|why| format!("failed to call webhook: {why}"))
}

/// Returns the JSON of an object of the kind `from` as the kind `to`; null without an object.
async fn encode(object: Option<&Object>, from: &Arc<Resource>, to: &Arc<Resource>) -> Result<Value> {
    let Some(object) = object else { return Ok(Value::Null) };
    Ok(convert(object, from, to).await?.to_json(&to.api_version(), &to.kind))
}

/// Converts an object to another version of its kind.
async fn convert(object: &Object, from: &Arc<Resource>, to: &Arc<Resource>) -> Result<Object> {
    let mut object = object.clone();
    if from.is_same(to) {
        return Ok(object);
    }
    object.written = Written { version: Some(from.version.as_str().into()), completed_by: None };
    Ok(Object::clone(&*to.read_now(&Arc::new(object)).await?))
}
