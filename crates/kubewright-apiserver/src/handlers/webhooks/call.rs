//! The calls of the webhooks of a phase.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::join_all;
use http::Response as HttpResponse;
use serde_json::Value;

use super::{
    Phase,
    attributes::Attributes,
    hook::{Hook, Match},
    review::{self, Response},
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

/// The webhooks of a phase that are to be called for an object.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) hooks: Vec<Match>,
    pub(super) attributes: Attributes,
    /// The new object; none for a deletion.
    pub(super) object: Option<&'a Object>,
}

/// The outcome of the webhooks of a phase.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The object after mutating webhooks, or the validated one.
    pub(super) result: Result<Option<Object>>,
    pub(super) warnings: Vec<String>,
}

impl Call<'_> {
    /// Calls the webhooks.
    pub(super) async fn run(self, phase: Phase, call: &CallFn) -> Outcome {
        match phase {
            Phase::Mutating => self.mutate(call).await,
            Phase::Validating => self.validate(call).await,
        }
    }

    /// Calls the webhooks one after the other. Those that are reinvoked are called once more if a later one has changed
    /// the object.
    async fn mutate(self, call: &CallFn) -> Outcome {
        let (mut object, mut warnings) = (self.object.cloned(), Vec::new());
        let mut changes = 0;
        // For each webhook that was called, the number of changes after the call.
        let mut called: Vec<Option<usize>> = vec![None; self.hooks.len()];
        for round in 0..2 {
            let last = changes;
            for (index, matched) in self.hooks.iter().enumerate() {
                let is_due = round == 0 || matched.hook.is_reinvoked && called[index].is_some_and(|seen| seen < last);
                if !is_due {
                    continue;
                }
                match self.call_mutating(call, matched, &mut object, &mut warnings).await {
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
        matched: &Match,
        object: &mut Option<Object>,
        warnings: &mut Vec<String>,
    ) -> Result<Option<bool>> {
        let Some(response) = self.call(call, Phase::Mutating, matched, object.as_ref(), warnings).await? else {
            return Ok(None);
        };
        let Some(operations) = response.patch() else { return Ok(Some(false)) };
        let name = &matched.hook.name;
        let Some(object) = object else {
            let detail = "attempted to modify the object, which is not supported for this operation";
            return Err(ApiError::internal_error(&format!("admission webhook {name:?} {detail}")));
        };
        let mut sent = encode(Some(&*object), &self.attributes.kind, &matched.kind).await?;
        let before = sent.clone();
        patch::apply("application/json-patch+json", operations, None, &mut sent)
            .map_err(|error| ApiError::internal_error(&error.message()))?;
        if sent == before {
            return Ok(Some(false));
        }
        let mut mutated = convert(&decode::mutated(&matched.kind, sent)?, &matched.kind, &self.attributes.kind).await?;
        mutated.written = object.written.clone();
        let is_changed = *object != mutated;
        *object = mutated;
        Ok(Some(is_changed))
    }

    /// Calls all webhooks. The error is that of the first one that denies the request.
    async fn validate(self, call: &CallFn) -> Outcome {
        let this = &self;
        let calls = self.hooks.iter().map(|matched| async move {
            let mut warnings = Vec::new();
            (this.call(call, Phase::Validating, matched, this.object, &mut warnings).await, warnings)
        });
        let (mut result, mut all_warnings) = (Ok(self.object.cloned()), Vec::new());
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
        phase: Phase,
        Match { hook, kind }: &Match,
        object: Option<&Object>,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Response>> {
        if !hook.selects_object(&self.attributes, object) {
            return Ok(None);
        }
        let written = &self.attributes.kind;
        let new = encode(object, written, kind).await?;
        let old = encode(self.attributes.old.as_deref(), written, kind).await?;
        let request = review::Request::new(&self.attributes, kind, &new, &old);
        let sent = send(call, hook, request.body).await;
        let response =
            sent.and_then(|response| Response::parse(response.status(), response.body(), phase, &request.uid));
        match response {
            Ok(mut response) => {
                warnings.extend(response.take_warnings());
                if response.allowed { Ok(Some(response)) } else { Err(review::denial(&hook.name, response.status)) }
            }
            Err(_) if hook.ignores_failures => Ok(None),
            Err(reason) => Err(ApiError::internal_error(&format!("failed calling webhook {:?}: {reason}", hook.name))),
        }
    }
}

/// Sends a review. The error is the reason why there is no response.
async fn send(call: &CallFn, hook: &Hook, body: Vec<u8>) -> Result<HttpResponse<Bytes>, String> {
    let sent = hook.client.post(call, hook.timeout, body).await;
    sent.map_err(|reason| format!("failed to call webhook: {reason}"))
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
