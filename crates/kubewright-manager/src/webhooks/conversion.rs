//! The conversion webhook of one kind: `ConversionReview` of `apiextensions.k8s.io/v1`.

mod object;

use std::{fmt, sync::Arc};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use kubewright_core::{conversion::TextObject, description::ConversionWebhookDescription};
use kubewright_runtime::metrics::Metrics;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use tokio::task::yield_now;

use super::{
    metrics::{ConversionMetrics, RequestMetrics},
    wire::{self, ReviewError, ReviewType},
};
use crate::serving::Handler;
use object::{Converted, Converter};

const REVIEW: ReviewType = ReviewType { api_version: "apiextensions.k8s.io/v1", kind: "ConversionReview" };

/// The number of objects after which other tasks can run.
const OBJECTS_PER_SLICE: usize = 64;

/// Converts the JSON of an object to an `apiVersion` of the same group.
pub(super) type ConvertFn = dyn Fn(&mut Value, &str) -> Result<(), String> + Send + Sync;

/// Converts the text of an object, if that is possible without decoding it completely.
type ConvertTextFn = dyn for<'a> Fn(&'a RawValue, &str) -> Option<TextObject<'a>> + Send + Sync;

/// A conversion webhook: its functions and its description.
#[derive(Clone)]
pub(super) struct Conversion {
    pub(super) description: ConversionWebhookDescription,
    convert: Arc<ConvertFn>,
    convert_text: Arc<ConvertTextFn>,
}

impl Conversion {
    pub(super) fn new<E: fmt::Display>(
        description: ConversionWebhookDescription,
        convert: impl Fn(&mut Value, &str) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        let convert =
            move |object: &mut Value, target: &str| convert(object, target).map_err(|error| error.to_string());
        Conversion { description, convert: Arc::new(convert), convert_text: Arc::new(|_, _| None) }
    }

    /// Creates the webhook of a converter, at the default path.
    pub(super) fn from_converter(converter: kubewright_core::Converter) -> Self {
        let description = ConversionWebhookDescription::new(converter.group(), converter.kind(), converter.plural());
        let converter = Arc::new(converter);
        let of_text = Arc::clone(&converter);
        let convert = move |object: &mut Value, target: &str| {
            converter.convert(object.take(), target).map(|converted| *object = converted)
        };
        let convert_text: Arc<ConvertTextFn> = Arc::new(move |object, target| of_text.convert_text(object, target));
        Conversion { convert_text, ..Conversion::new(description, convert) }
    }

    pub(super) fn handler(&self, metrics: &Metrics) -> ConversionHandler {
        let ConversionWebhookDescription { group, kind, path, .. } = &self.description;
        ConversionHandler {
            path: path.clone(),
            converter: Converter {
                group: group.clone(),
                kind: kind.clone(),
                convert: Arc::clone(&self.convert),
                convert_text: Arc::clone(&self.convert_text),
                metrics: ConversionMetrics::new(metrics, group, kind),
            },
            requests: RequestMetrics::new(metrics.clone(), path),
        }
    }
}

/// Responds to the conversion reviews of one kind.
///
/// Guarantees:
/// - the response has the uid of the request, and either all objects in their order, or the reasons why one of them
///   cannot be converted;
/// - each object has the desired version, and its kind, name, namespace and uid are unchanged;
/// - a failure or a panic concerns one object, and the response names it.
pub(super) struct ConversionHandler {
    path: String,
    converter: Converter,
    requests: RequestMetrics,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConversionRequest<'a> {
    uid: String,
    #[serde(rename = "desiredAPIVersion")]
    desired_api_version: String,
    #[serde(borrow, default)]
    objects: Vec<&'a RawValue>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConversionResponse<'a> {
    uid: &'a str,
    converted_objects: Vec<Converted<'a>>,
    result: Outcome,
}

#[derive(Serialize)]
struct Outcome {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl ConversionHandler {
    async fn respond(&self, request: &Request<Bytes>) -> Result<Bytes, ReviewError> {
        wire::check_content_type(request.headers())?;
        let body = request.body();
        let request: ConversionRequest<'_> = wire::parse(REVIEW, body)?;
        if request.uid.is_empty() {
            return Err(ReviewError::MissingUid);
        }
        let (converted_objects, result) = match self.convert(&request).await {
            Ok(objects) => (objects, Outcome { status: "Success", message: None }),
            Err(message) => (Vec::new(), Outcome { status: "Failure", message: Some(message) }),
        };
        let response = ConversionResponse { uid: &request.uid, converted_objects, result };
        wire::encode(REVIEW, &response, body.len()).map_err(ReviewError::Encode)
    }

    /// Converts all objects. The error is that of the first object that cannot be converted, with the number of others.
    async fn convert<'a>(&self, request: &ConversionRequest<'a>) -> Result<Vec<Converted<'a>>, String> {
        let target = &request.desired_api_version;
        self.converter.check_target(target)?;
        let (mut objects, mut failure, mut failed) = (Vec::with_capacity(request.objects.len()), None, 0_usize);
        for (index, object) in request.objects.iter().enumerate() {
            if index % OBJECTS_PER_SLICE == OBJECTS_PER_SLICE - 1 {
                yield_now().await;
            }
            match self.converter.convert(object, target) {
                Ok(object) => objects.push(object),
                Err(error) => {
                    failed += 1;
                    failure.get_or_insert(error);
                }
            }
        }
        let Some(failure) = failure else { return Ok(objects) };
        tracing::warn!(webhook = self.path, uid = request.uid, failed, error = failure, "objects are not converted");
        Err(if failed == 1 { failure } else { format!("{failure}; {failed} objects failed") })
    }
}

impl Handler for ConversionHandler {
    fn handle(&self, request: Request<Bytes>) -> BoxFuture<'_, Response<Bytes>> {
        Box::pin(async move { self.requests.measure(self.respond(&request)).await })
    }
}
