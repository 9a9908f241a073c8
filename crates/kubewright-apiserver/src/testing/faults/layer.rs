//! The interceptor: applies faults to requests and to the responses of the inner service.

use std::io;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{
    HeaderValue, Request, Response,
    header::{CONTENT_TYPE, RETRY_AFTER},
};
use http_body_util::combinators::UnsyncBoxBody;
use tower::BoxError;

use super::{
    Fault, Faults,
    body::{self, reset, sleep},
    connections::Connection,
    fault::{Outcome, Shape, StaticResponse},
};
use crate::{
    testing::{
        body::DataStream,
        layer::{Intercept, InterceptLayer, InterceptService, Next, ResponseFuture},
    },
    wire::request_info::RequestInfo,
};

/// Wraps services with [`Faults`].
pub type FaultLayer = InterceptLayer<Faults>;

/// A service to which [`Faults`] apply. Requests that match no rule pass through unchanged.
pub type FaultService<S> = InterceptService<Faults, S>;

impl<R: Send + 'static> Intercept<R> for Faults {
    fn intercept(&self, request: Request<R>, next: Next<R>) -> ResponseFuture {
        let (mut connection, fault) = self.begin(RequestInfo::from_request(&request));
        Box::pin(async move {
            let response = tokio::select! {
                biased;
                _ = connection.ended() => Err(reset()),
                response = respond(next, request, fault.unwrap_or_else(Fault::none)) => response,
            }?;
            Ok(bind(connection, response))
        })
    }
}

/// Returns the response to a request to which this fault applies.
pub(crate) async fn respond<R>(
    next: Next<R>,
    request: Request<R>,
    fault: Fault,
) -> Result<Response<DataStream>, BoxError> {
    sleep(fault.delay).await;
    if let Some(mut open) = fault.gate {
        // An error means that the sender is dropped: the gate is open.
        let _ = open.wait_for(|open| *open).await;
    }
    match fault.outcome {
        Outcome::Respond(response) => Ok(static_response(response)),
        Outcome::Broken(kind) => Err(io::Error::from(kind).into()),
        Outcome::Hang => std::future::pending().await,
        Outcome::Serve(shape) => serve(next, request, shape).await,
    }
}

async fn serve<R>(next: Next<R>, request: Request<R>, shape: Shape) -> Result<Response<DataStream>, BoxError> {
    let response = next.run(request).await?;
    sleep(shape.response_delay).await;
    if shape.is_lost {
        return Err(reset());
    }
    Ok(response.map(|data| body::shaped(data, &shape)))
}

/// Binds the body of a response to its connection: it ends when the connection is ended.
fn bind(connection: Connection, response: Response<DataStream>) -> Response<UnsyncBoxBody<Bytes, BoxError>> {
    connection.mark_responded();
    response.map(|data| body::bind(connection, data))
}

fn static_response(response: StaticResponse) -> Response<DataStream> {
    let torn = response.is_torn.then(|| Err(reset()));
    let mut built = Response::new(stream::iter([Ok(response.body)].into_iter().chain(torn)).boxed());
    *built.status_mut() = response.code;
    let headers = built.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(response.content_type));
    if let Some(seconds) = response.retry_after {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    built
}
