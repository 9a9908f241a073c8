//! Faults in response bodies: resets, throttling, and bodies that end with their connection.

use std::{io, time::Duration};

use bytes::Bytes;
use futures::{StreamExt, stream};
use http_body_util::combinators::UnsyncBoxBody;
use tower::BoxError;

use super::{
    connections::{Connection, End},
    fault::{self, Shape},
};
use crate::testing::body::{self, DataStream};

/// Applies the faults of a shape to the data of a body.
pub(super) fn shaped(mut data: DataStream, shape: &Shape) -> DataStream {
    if let Some((bytes, delay)) = shape.throttle {
        data = throttle(data, bytes, delay);
    }
    if let Some(bytes) = shape.break_after {
        data = break_after(data, bytes);
    }
    data
}

fn throttle(data: DataStream, bytes: usize, delay: Duration) -> DataStream {
    let throttled = stream::unfold((data, Bytes::new()), move |(mut data, mut rest)| async move {
        while rest.is_empty() {
            match data.next().await? {
                Ok(chunk) => rest = chunk,
                Err(error) => return Some((Err(error), (data, rest))),
            }
        }
        sleep(delay).await;
        let chunk = rest.split_to(bytes.min(rest.len()));
        Some((Ok(chunk), (data, rest)))
    });
    throttled.boxed()
}

fn break_after(data: DataStream, bytes: usize) -> DataStream {
    let broken = stream::unfold((data, Some(bytes)), |(mut data, left)| async move {
        let left = left?;
        if left == 0 {
            return Some((Err(reset()), (data, None)));
        }
        let chunk = data.next().await?.map(|mut chunk| chunk.split_to(left.min(chunk.len())));
        let left = left - chunk.as_ref().map_or(0, Bytes::len);
        Some((chunk, (data, Some(left))))
    });
    broken.boxed()
}

/// Returns a body that ends when its connection is ended, and that ends the connection when it is dropped.
pub(super) fn bind(connection: Connection, data: DataStream) -> UnsyncBoxBody<Bytes, BoxError> {
    let bound = stream::unfold(Some((connection, data)), |state| async move {
        let (mut connection, mut data) = state?;
        tokio::select! {
            biased;
            end = connection.ended() => last_chunk(end).map(|chunk| (chunk, None)),
            next = data.next() => next.map(|chunk| (chunk, Some((connection, data)))),
        }
    });
    body::from_data(bound.boxed())
}

/// Returns the last item of a body that is ended.
fn last_chunk(end: End) -> Option<Result<Bytes, BoxError>> {
    match end {
        End::Reset => Some(Err(reset())),
        End::Clean => None,
        End::Expired => Some(Ok(fault::expired_line())),
    }
}

pub(super) fn reset() -> BoxError {
    io::Error::from(io::ErrorKind::ConnectionReset).into()
}

/// Sleeps, but does not yield to the runtime where the duration is zero.
pub(super) async fn sleep(duration: Duration) {
    if !duration.is_zero() {
        tokio::time::sleep(duration).await;
    }
}
