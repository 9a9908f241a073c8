//! The layer: faults as a service around a service.

use std::{
    io,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt, future::BoxFuture, stream};
use http::{
    HeaderValue, Request, Response,
    header::{CONTENT_TYPE, RETRY_AFTER},
};
use http_body_util::combinators::UnsyncBoxBody;
use tokio::sync::Mutex;
use tower::{BoxError, Layer, Service, ServiceExt};

use super::{
    Fault, Faults,
    body::{self, Bodies},
    connections::Connection,
    fault::{ApiResponse, Outcome, Shape},
    skew,
};
use crate::testing::request_info::{RequestInfo, Verb};

/// Puts [`Faults`] around a service.
#[derive(Debug, Clone)]
pub struct FaultLayer(pub(super) Faults);

impl<S> Layer<S> for FaultLayer {
    type Service = FaultService<S>;

    fn layer(&self, inner: S) -> FaultService<S> {
        FaultService { faults: self.0.clone(), inner: Arc::new(Mutex::new(inner)) }
    }
}

/// A service that fails as its [`Faults`] say, and else does what the service in it does.
#[derive(Debug)]
pub struct FaultService<S> {
    faults: Faults,
    /// Requests that are held up go to it later, each in its turn; what it answers is awaited outside.
    inner: Arc<Mutex<S>>,
}

impl<S> Clone for FaultService<S> {
    fn clone(&self) -> Self {
        Self { faults: self.faults.clone(), inner: self.inner.clone() }
    }
}

impl<S, R, B> Service<Request<R>> for FaultService<S>
where
    S: Service<Request<R>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    R: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<UnsyncBoxBody<Bytes, BoxError>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<R>) -> Self::Future {
        let (mut connection, fault) = self.faults.arrive(RequestInfo::of(&request));
        let inner = self.inner.clone();
        Box::pin(async move {
            let answer = tokio::select! {
                biased;
                _ = connection.ended() => Err(reset()),
                answer = answer(&inner, request, fault.unwrap_or_else(Fault::none)) => answer,
            }?;
            Ok(going_on(connection, answer))
        })
    }
}

/// What a request is answered with that meets this fault.
pub(crate) async fn answer<S, R, B>(
    inner: &Mutex<S>,
    request: Request<R>,
    fault: Fault,
) -> Result<Response<Bodies>, BoxError>
where
    S: Service<Request<R>, Response = Response<B>>,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    wait(fault.delay).await;
    if let Some(mut open) = fault.gate {
        // An error means that the sender is dropped: the gate is open.
        let _ = open.wait_for(|open| *open).await;
    }
    match fault.outcome {
        Outcome::ApiResponse(answer) => Ok(response(answer)),
        Outcome::Broken(kind) => Err(io::Error::from(kind).into()),
        Outcome::Hang => std::future::pending().await,
        Outcome::Serve(shape) => serve(inner, request, shape).await,
    }
}

async fn serve<S, R, B>(inner: &Mutex<S>, request: Request<R>, shape: Shape) -> Result<Response<Bodies>, BoxError>
where
    S: Service<Request<R>, Response = Response<B>>,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let is_watch = RequestInfo::of(&request).verb == Verb::Watch;
    let mut ready = inner.lock().await;
    let answering = ready.ready().await.map_err(Into::into)?.call(request);
    drop(ready);
    let answer = answering.await.map_err(Into::into)?;
    wait(shape.late).await;
    if shape.is_lost {
        return Err(reset());
    }
    let (mut parts, body) = answer.into_parts();
    let mut bodies = body::data(body);
    if let Some(by) = shape.skew {
        bodies = skew::shift(&mut parts, bodies, by, is_watch);
    }
    Ok(Response::from_parts(parts, body::shaped(bodies, &shape)))
}

/// The answer, whose body ends when its connection is ended.
fn going_on(connection: Connection, answer: Response<Bodies>) -> Response<UnsyncBoxBody<Bytes, BoxError>> {
    connection.answered();
    answer.map(|bodies| body::on(connection, bodies))
}

fn response(answer: ApiResponse) -> Response<Bodies> {
    let torn = answer.is_torn.then(|| Err(reset()));
    let mut response = Response::new(stream::iter([Ok(answer.body)].into_iter().chain(torn)).boxed());
    *response.status_mut() = answer.code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    if let Some(seconds) = answer.retry_after {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    response
}

pub(super) fn reset() -> BoxError {
    io::Error::from(io::ErrorKind::ConnectionReset).into()
}

/// Not a turn of the runtime is lost where there is nothing to wait for.
pub(super) async fn wait(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}
