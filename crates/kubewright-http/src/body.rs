//! The body of a request, which is received within the limits of the server.

use std::{
    fmt, mem,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http::StatusCode;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use parking_lot::Mutex;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::{
    budget::{Budget, Share},
    limits::Limits,
    peer::Peer,
    service::BoxError,
};

/// Why a body cannot be received.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// It exceeds the maximum size.
    #[error("the body exceeds {0} bytes")]
    TooLarge(usize),
    /// The client has closed the connection, or its encoding is invalid.
    #[error("the body is incomplete")]
    Incomplete(#[source] BoxError),
    /// It was not received in time.
    #[error("the request was not received within {0:?}")]
    Timeout(Duration),
}

impl BodyError {
    /// Returns the code of the response.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            BodyError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            BodyError::Incomplete(_) => StatusCode::BAD_REQUEST,
            BodyError::Timeout(_) => StatusCode::REQUEST_TIMEOUT,
        }
    }
}

/// The body of a request.
///
/// Nothing is received until it is polled: a service can reject the request before. A declared length that exceeds the
/// limit is rejected before the client sends the body. Its memory is reserved until the request has a response.
///
/// A body from [`Bytes`] has no limits, and is for tests of a service without a server.
#[derive(Debug)]
pub struct Body {
    incoming: Either<Incoming, Full<Bytes>>,
    limits: Limits,
    received: usize,
    /// `None` without a timeout.
    timer: Option<Pin<Box<Sleep>>>,
    memory: Memory,
    receipt: Arc<Receipt>,
}

/// The memory of a body.
enum Memory {
    /// It is not polled yet, and reserves this many bytes.
    Unreserved(Share),
    Reserving(Pin<Box<dyn Future<Output = Option<Share>> + Send>>),
    Reserved,
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Memory::Unreserved(_) => "Unreserved",
            Memory::Reserving(_) => "Reserving",
            Memory::Reserved => "Reserved",
        })
    }
}

/// What was received of a body, and its memory.
#[derive(Debug, Default)]
pub(crate) struct Receipt {
    is_complete: AtomicBool,
    share: Mutex<Option<Share>>,
}

impl Receipt {
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete.load(Ordering::Relaxed)
    }
}

impl Body {
    /// Limits the body of a request whose headers are complete.
    pub(crate) fn new(incoming: Incoming, limits: Limits, budget: &Budget, peer: &Peer) -> (Self, Arc<Receipt>) {
        let is_complete = incoming.is_end_stream();
        let receipt = Arc::new(Receipt { is_complete: is_complete.into(), share: Mutex::default() });
        let deadline = Instant::now().checked_add(limits.body_timeout).filter(|_| !is_complete);
        let memory = match is_complete {
            true => Memory::Reserved,
            false => Memory::Unreserved(budget.share(peer.address)),
        };
        let timer = deadline.map(|deadline| Box::pin(sleep_until(deadline)));
        let incoming = Either::Left(incoming);
        (Body { incoming, limits, received: 0, timer, memory, receipt: Arc::clone(&receipt) }, receipt)
    }

    /// Sets the maximum size, for tests without a server.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_body_bytes = bytes;
        self
    }

    /// Reserves the declared length, or the maximum.
    fn poll_memory(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BodyError>> {
        let limit = self.limits.max_body_bytes;
        loop {
            match &mut self.memory {
                Memory::Reserved => return Poll::Ready(Ok(())),
                Memory::Reserving(reserving) => {
                    let share = ready!(reserving.as_mut().poll(cx)).ok_or(BodyError::TooLarge(limit))?;
                    *self.receipt.share.lock() = Some(share);
                    self.memory = Memory::Reserved;
                }
                Memory::Unreserved(_) => {
                    let size = self.incoming.size_hint();
                    let fits = |bytes: u64| usize::try_from(bytes).ok().filter(|bytes| *bytes <= limit);
                    fits(size.lower()).ok_or(BodyError::TooLarge(limit))?;
                    let bytes = size.upper().and_then(fits).unwrap_or(limit);
                    if let Memory::Unreserved(mut share) = mem::replace(&mut self.memory, Memory::Reserved) {
                        let reserving = async move { share.reserve(bytes).await.then_some(share) };
                        self.memory = Memory::Reserving(Box::pin(reserving));
                    }
                }
            }
        }
    }

    fn poll_received(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        ready!(self.poll_memory(cx))?;
        let frame = match ready!(Pin::new(&mut self.incoming).poll_frame(cx)) {
            Some(frame) => frame.map_err(BodyError::Incomplete)?,
            None => {
                self.receipt.is_complete.store(true, Ordering::Relaxed);
                return Poll::Ready(None);
            }
        };
        self.received = self.received.saturating_add(frame.data_ref().map_or(0, Bytes::len));
        if self.received > self.limits.max_body_bytes {
            return Poll::Ready(Some(Err(BodyError::TooLarge(self.limits.max_body_bytes))));
        }
        if self.incoming.is_end_stream() {
            self.receipt.is_complete.store(true, Ordering::Relaxed);
        }
        Poll::Ready(Some(Ok(frame)))
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        let limits = Limits { max_body_bytes: usize::MAX, ..Limits::default() };
        let incoming = Either::Right(Full::new(bytes));
        Body { incoming, limits, received: 0, timer: None, memory: Memory::Reserved, receipt: Arc::default() }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Poll::Ready(frame) = self.poll_received(cx) {
            return Poll::Ready(frame);
        }
        match &mut self.timer {
            Some(timer) => timer.as_mut().poll(cx).map(|()| Some(Err(BodyError::Timeout(self.limits.body_timeout)))),
            None => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}
