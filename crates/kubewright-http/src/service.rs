//! A service of any type, with one type of responses and of errors.

use std::{
    error::Error,
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};
use tower_service::Service;

use crate::body::Body;

/// An error of a service or of the body of a response.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// The body of the response of a [`BoxService`].
pub type ResponseBody = UnsyncBoxBody<Bytes, BoxError>;

type ResponseFuture = Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, BoxError>> + Send>>;

/// A service of any type.
#[derive(Clone)]
pub struct BoxService(Arc<dyn Fn(Request<Body>) -> ResponseFuture + Send + Sync>);

impl BoxService {
    /// Boxes a service.
    pub fn new<S, B>(service: S) -> Self
    where
        S: Service<Request<Body>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        BoxService(Arc::new(move |request| {
            let mut service = service.clone();
            Box::pin(async move {
                poll_fn(|cx| service.poll_ready(cx)).await.map_err(Into::into)?;
                Ok(boxed(service.call(request).await.map_err(Into::into)?))
            })
        }))
    }

    /// Creates a service from an asynchronous function.
    pub fn from_fn<F, R, B>(respond: F) -> Self
    where
        F: Fn(Request<Body>) -> R + Send + Sync + 'static,
        R: Future<Output = Response<B>> + Send + 'static,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        BoxService(Arc::new(move |request| {
            let response = respond(request);
            Box::pin(async { Ok(boxed(response.await)) })
        }))
    }
}

fn boxed<B>(response: Response<B>) -> Response<ResponseBody>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    response.map(|body| body.map_err(Into::into).boxed_unsync())
}

impl Service<Request<Body>> for BoxService {
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> ResponseFuture {
        (self.0)(request)
    }
}

impl fmt::Debug for BoxService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxService").finish_non_exhaustive()
    }
}
