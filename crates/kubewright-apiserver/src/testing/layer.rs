//! The tower layer that fault injection and reactors share: it intercepts requests before they reach the inner service.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use tokio::sync::Mutex;
use tower::{BoxError, Layer, Service, ServiceExt};

use crate::testing::body::{self, DataStream};

/// The future of an intercepted request.
pub(crate) type ResponseFuture = BoxFuture<'static, Result<Response<UnsyncBoxBody<Bytes, BoxError>>, BoxError>>;

/// Decides what happens to requests with bodies of type `R`.
pub(crate) trait Intercept<R> {
    /// Handles one request: forwards it to the inner service, changed or unchanged, or responds in its place.
    fn intercept(&self, request: Request<R>, next: Next<R>) -> ResponseFuture;
}

/// Forwards one request to the inner service.
pub(crate) struct Next<R>(Box<dyn FnOnce(Request<R>) -> NextFuture + Send>);

type NextFuture = BoxFuture<'static, Result<Response<DataStream>, BoxError>>;

impl<R> Next<R> {
    /// Sends the request and returns the response of the inner service.
    pub(crate) async fn run(self, request: Request<R>) -> Result<Response<DataStream>, BoxError> {
        (self.0)(request).await
    }
}

/// Wraps services with an interceptor.
#[derive(Debug, Clone)]
pub struct InterceptLayer<I>(I);

impl<I> InterceptLayer<I> {
    pub(crate) fn new(interceptor: I) -> Self {
        Self(interceptor)
    }
}

impl<I: Clone, S> Layer<S> for InterceptLayer<I> {
    type Service = InterceptService<I, S>;

    fn layer(&self, inner: S) -> InterceptService<I, S> {
        InterceptService { interceptor: self.0.clone(), inner: Arc::new(Mutex::new(inner)) }
    }
}

/// A service whose requests go through an interceptor before they reach the inner service.
#[derive(Debug)]
pub struct InterceptService<I, S> {
    interceptor: I,
    /// Delayed requests call it later. It is locked until it is ready, but not while it processes a request.
    inner: Arc<Mutex<S>>,
}

impl<I: Clone, S> Clone for InterceptService<I, S> {
    fn clone(&self) -> Self {
        Self { interceptor: self.interceptor.clone(), inner: self.inner.clone() }
    }
}

impl<I, S, R, B> Service<Request<R>> for InterceptService<I, S>
where
    I: Intercept<R>,
    S: Service<Request<R>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    R: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<UnsyncBoxBody<Bytes, BoxError>>;
    type Error = BoxError;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<R>) -> Self::Future {
        let inner = self.inner.clone();
        let next = move |request: Request<R>| -> NextFuture {
            Box::pin(async move {
                let mut service = inner.lock().await;
                let response = service.ready().await.map_err(Into::into)?.call(request);
                drop(service);
                Ok(response.await.map_err(Into::into)?.map(body::data))
            })
        };
        self.interceptor.intercept(request, Next(Box::new(next)))
    }
}
