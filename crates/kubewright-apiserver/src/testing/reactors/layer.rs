//! The interceptor: runs the chain of reactors before the inner service.

use bytes::Bytes;
use http::{
    HeaderValue, Request, Response,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
};
use http_body_util::combinators::UnsyncBoxBody;
use kube::client::Body;
use tower::BoxError;

use super::{Reactors, feed, reaction::Handled};
use crate::testing::{
    actions::Action,
    body,
    faults::{self, Fault},
    layer::{Intercept, InterceptLayer, InterceptService, Next, ResponseFuture},
};

/// Wraps services with [`Reactors`].
pub type ReactorLayer = InterceptLayer<Reactors>;

/// A service whose requests go through [`Reactors`] first.
pub type ReactorService<S> = InterceptService<Reactors, S>;

impl Intercept<Body> for Reactors {
    fn intercept(&self, request: Request<Body>, next: Next<Body>) -> ResponseFuture {
        let reactors = self.clone();
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            let original = body.collect_bytes().await?;
            let (fault, body) = match reactors.react(Action::new(&parts, original.clone())) {
                Ok(Handled::Watch(subscription)) => return Ok(watch(subscription)),
                Ok(Handled::Fault(fault)) => (*fault, original),
                Err(body) => (Fault::none(), body),
            };
            parts.headers.remove(CONTENT_LENGTH);
            let request = Request::from_parts(parts, Body::from(body));
            Ok(faults::respond(next, request, fault).await?.map(body::from_data))
        })
    }
}

fn watch(subscription: feed::Subscription) -> Response<UnsyncBoxBody<Bytes, BoxError>> {
    let mut response = Response::new(body::from_data(feed::data(subscription)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
