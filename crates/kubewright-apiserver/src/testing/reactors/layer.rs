//! The interceptor: runs the chain of reactors before the inner service.

use http::{Request, header::CONTENT_LENGTH};
use kube::client::Body;

use super::Reactors;
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
                Ok(fault) => (*fault, original),
                Err(body) => (Fault::none(), body),
            };
            parts.headers.remove(CONTENT_LENGTH);
            let request = Request::from_parts(parts, Body::from(body));
            Ok(faults::respond(next, request, fault).await?.map(body::from_data))
        })
    }
}
