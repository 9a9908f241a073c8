//! The layer: a chain of reactors as a service around a service.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{
    HeaderValue, Request, Response,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
};
use http_body_util::combinators::UnsyncBoxBody;
use kube::client::Body;
use tokio::sync::Mutex;
use tower::{BoxError, Layer, Service};

use super::{Reactors, feed, reaction::Handled};
use crate::testing::{
    actions::Action,
    faults::{self, Fault},
};

/// Puts [`Reactors`] around a service.
#[derive(Debug, Clone)]
pub struct ReactorLayer(pub(super) Reactors);

impl<S> Layer<S> for ReactorLayer {
    type Service = ReactorService<S>;

    fn layer(&self, inner: S) -> ReactorService<S> {
        ReactorService { reactors: self.0.clone(), inner: Arc::new(Mutex::new(inner)) }
    }
}

/// A service that asks its [`Reactors`] first.
#[derive(Debug)]
pub struct ReactorService<S> {
    reactors: Reactors,
    inner: Arc<Mutex<S>>,
}

impl<S> Clone for ReactorService<S> {
    fn clone(&self) -> Self {
        Self { reactors: self.reactors.clone(), inner: self.inner.clone() }
    }
}

impl<S, B> Service<Request<Body>> for ReactorService<S>
where
    S: Service<Request<Body>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<UnsyncBoxBody<Bytes, BoxError>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (reactors, inner) = (self.reactors.clone(), self.inner.clone());
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            let sent = body.collect_bytes().await?;
            let (fault, body) = match reactors.ask(Action::new(&parts, sent.clone())) {
                Ok(Handled::Watch(feed)) => return Ok(watch(feed)),
                Ok(Handled::Fault(fault)) => (*fault, sent),
                Err(body) => (Fault::none(), body),
            };
            parts.headers.remove(CONTENT_LENGTH);
            let request = Request::from_parts(parts, Body::from(body));
            Ok(faults::answer(&inner, request, fault).await?.map(faults::whole))
        })
    }
}

fn watch(feed: feed::Feed) -> Response<UnsyncBoxBody<Bytes, BoxError>> {
    let mut response = Response::new(faults::whole(feed::bodies(feed)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
