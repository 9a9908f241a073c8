//! Bodies as streams of data.

use bytes::Bytes;
use futures::{StreamExt, stream::BoxStream};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, StreamBody, combinators::UnsyncBoxBody};
use tower::BoxError;

/// The data of a body, chunk by chunk.
pub(crate) type DataStream = BoxStream<'static, Result<Bytes, BoxError>>;

/// Returns the data of a body. Trailers are dropped: Kubernetes does not use them.
pub(crate) fn data<B>(body: B) -> DataStream
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    body.into_data_stream().map(|data| data.map_err(Into::into)).boxed()
}

/// Returns the body with this data.
pub(crate) fn from_data(data: DataStream) -> UnsyncBoxBody<Bytes, BoxError> {
    StreamBody::new(data.map(|data| data.map(Frame::data))).boxed_unsync()
}
