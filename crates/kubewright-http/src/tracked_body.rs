//! The body of a response, which knows when it is written.

use std::{
    io::IoSlice,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};

use crate::{
    admission::Permit,
    service::{BoxError, ResponseBody},
    timed_stream::Phases,
};

/// A request in progress. On drop, its response is written, or its connection is closed.
#[derive(Debug)]
pub(crate) struct InFlight {
    /// `None` while it is dropped.
    permit: Option<Permit>,
    phases: Phases,
}

impl InFlight {
    pub(crate) fn new(permit: Permit, phases: Phases) -> Self {
        InFlight { permit: Some(permit), phases }
    }

    pub(crate) fn permit_mut(&mut self) -> Option<&mut Permit> {
        self.permit.as_mut()
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        // Before the connection can be replaced.
        self.phases.end_request();
        self.permit = None;
    }
}

/// The body of a response. It and its parts are dropped when they are written to the socket.
pub(crate) struct TrackedBody {
    body: ResponseBody,
    in_flight: Arc<InFlight>,
}

/// A part of a response.
pub(crate) struct TrackedBytes {
    bytes: Bytes,
    _in_flight: Arc<InFlight>,
}

impl TrackedBody {
    pub(crate) fn new(body: ResponseBody, in_flight: InFlight) -> Self {
        TrackedBody { body, in_flight: Arc::new(in_flight) }
    }
}

impl Body for TrackedBody {
    type Data = TrackedBytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<TrackedBytes>, BoxError>>> {
        let TrackedBody { body, in_flight } = &mut *self;
        let track = |bytes| TrackedBytes { bytes, _in_flight: Arc::clone(in_flight) };
        Pin::new(body).poll_frame(cx).map_ok(|frame| frame.map_data(track))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Buf for TrackedBytes {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        self.bytes.chunks_vectored(slices)
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
    }
}
