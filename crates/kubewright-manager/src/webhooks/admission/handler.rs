//! The handler of the admission reviews of one webhook.

use std::{panic::AssertUnwindSafe, sync::Arc};

use bytes::Bytes;
use futures::{FutureExt, future::BoxFuture};
use http::{Request, Response};
use kubewright_core::{GroupVersionKind, description::KindDescription};
use kubewright_runtime::{
    error::panic_message,
    metrics::{Counter, Metrics},
};

use super::{
    Denied,
    review::{self, Decision, Review},
    reviewer::Reviewer,
};
use crate::{
    serving::{ClientCertificate, Handler},
    webhooks::{
        metrics::{self, RequestMetrics},
        wire::{self, ReviewError},
    },
};

/// Responds to the admission reviews of one webhook.
pub(in crate::webhooks) struct AdmissionHandler {
    path: String,
    kind: KindDescription,
    expected: GroupVersionKind,
    reviewer: Arc<dyn Reviewer>,
    requires_certificate: bool,
    requests: RequestMetrics,
    panics: Counter,
}

impl AdmissionHandler {
    pub(in crate::webhooks) fn new(
        path: &str,
        kind: KindDescription,
        reviewer: Arc<dyn Reviewer>,
        requires_certificate: bool,
        metrics: &Metrics,
    ) -> Self {
        let KindDescription { group, version, kind: name, .. } = kind.clone();
        AdmissionHandler {
            path: path.to_owned(),
            kind,
            expected: GroupVersionKind { group: group.into(), version: version.into(), kind: name.into() },
            reviewer,
            requires_certificate,
            requests: RequestMetrics::new(metrics.clone(), path),
            panics: metrics::panics(metrics),
        }
    }

    /// Returns the review with the decision.
    async fn respond(&self, request: &Request<Bytes>) -> Result<Bytes, ReviewError> {
        if self.requires_certificate && request.extensions().get::<ClientCertificate>().is_none() {
            return Err(ReviewError::Unauthorized);
        }
        wire::check_content_type(request.headers())?;
        let review = Review::parse(request.body())?;
        let decision = match self.decide(&review).await {
            Ok(decision) => decision,
            Err(denied) => self.deny(&review, denied),
        };
        review::encode(&review.request.uid, decision, review.request.take_notes()).map_err(ReviewError::Encode)
    }

    async fn decide(&self, review: &Review) -> Result<Decision, Denied> {
        if review.kind != self.expected {
            let message = format!("the webhook is for `{}`: found `{}`", self.expected, review.kind);
            return Err(Denied::bad_request(message));
        }
        let reviewed = async { self.reviewer.review(&review.request, &review.objects).await };
        match AssertUnwindSafe(reviewed).catch_unwind().await {
            Ok(decision) => decision,
            Err(panic) => {
                let (message, uid) = (panic_message(panic.as_ref()), &review.request.uid);
                tracing::error!(webhook = self.path, uid, panic = message, "an admission webhook panicked");
                self.panics.inc();
                Err(Denied::internal("the webhook panicked; its log contains the message"))
            }
        }
    }

    fn deny(&self, review: &Review, denied: Denied) -> Decision {
        let request = &review.request;
        tracing::debug!(
            webhook = self.path,
            uid = request.uid,
            namespace = request.namespace,
            name = request.name,
            reason = %denied,
            "denied"
        );
        Decision::Denied(Box::new(denied.into_status(&self.kind, &request.name)))
    }
}

impl Handler for AdmissionHandler {
    fn handle(&self, request: Request<Bytes>) -> BoxFuture<'_, Response<Bytes>> {
        Box::pin(async move { self.requests.measure(self.respond(&request)).await })
    }
}
