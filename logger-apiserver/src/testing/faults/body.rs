//! Bodies on a bad line: they break, crawl, and end with their connection.

use std::time::Duration;

use bytes::Bytes;
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, StreamBody, combinators::UnsyncBoxBody};
use tower::BoxError;

use super::{
    connections::{Connection, End},
    fault::{self, Shape},
    layer::{reset, wait},
};

/// The data of a body, piece by piece.
pub(crate) type Bodies = BoxStream<'static, Result<Bytes, BoxError>>;

/// The data of a body. Trailers are left out: Kubernetes has none.
pub(super) fn data<B>(body: B) -> Bodies
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    body.into_data_stream().map(|data| data.map_err(Into::into)).boxed()
}

/// The data as a fault lets it through.
pub(super) fn shaped(mut bodies: Bodies, shape: &Shape) -> Bodies {
    if let Some((bytes, each)) = shape.slow {
        bodies = slow(bodies, bytes, each);
    }
    if let Some(bytes) = shape.break_after {
        bodies = broken_after(bodies, bytes);
    }
    bodies
}

fn slow(bodies: Bodies, bytes: usize, each: Duration) -> Bodies {
    let crawling = stream::unfold((bodies, Bytes::new()), move |(mut bodies, mut rest)| async move {
        while rest.is_empty() {
            match bodies.next().await? {
                Ok(data) => rest = data,
                Err(error) => return Some((Err(error), (bodies, rest))),
            }
        }
        wait(each).await;
        let piece = rest.split_to(bytes.min(rest.len()));
        Some((Ok(piece), (bodies, rest)))
    });
    crawling.boxed()
}

fn broken_after(bodies: Bodies, bytes: usize) -> Bodies {
    let breaking = stream::unfold((bodies, Some(bytes)), |(mut bodies, left)| async move {
        let left = left?;
        if left == 0 {
            return Some((Err(reset()), (bodies, None)));
        }
        let data = bodies.next().await?.map(|mut data| data.split_to(left.min(data.len())));
        let left = left - data.as_ref().map_or(0, Bytes::len);
        Some((data, (bodies, Some(left))))
    });
    breaking.boxed()
}

/// A body that lasts no longer than its connection, and the other way round.
pub(super) fn on(connection: Connection, bodies: Bodies) -> UnsyncBoxBody<Bytes, BoxError> {
    let frames = stream::unfold(Some((connection, bodies)), |state| async move {
        let (mut connection, mut bodies) = state?;
        tokio::select! {
            biased;
            end = connection.ended() => last(end).map(|last| (last, None)),
            next = bodies.next() => next.map(|data| (data, Some((connection, bodies)))),
        }
    });
    whole(frames.boxed())
}

/// The body with this data.
pub(crate) fn whole(bodies: Bodies) -> UnsyncBoxBody<Bytes, BoxError> {
    StreamBody::new(bodies.map(|data| data.map(Frame::data))).boxed_unsync()
}

/// What the reader of a body gets last.
fn last(end: End) -> Option<Result<Bytes, BoxError>> {
    match end {
        End::Reset => Some(Err(reset())),
        End::Clean => None,
        End::Expired => Some(Ok(fault::expired_line())),
    }
}
