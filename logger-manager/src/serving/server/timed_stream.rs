//! A stream with the timeouts of an HTTP/1.1 connection, which depend on its phase.
//!
//! | phase | begins with | timeout |
//! |---|---|---|
//! | `Headers` | the connection, or the first byte of a request | the header timeout |
//! | `Request` | the complete headers | none: the request has its own |
//! | `Idle` | the response; each byte of the response that is written restarts it | the idle timeout |
//!
//! hyper's timeout for headers includes the idle time before them, so that it cannot be shorter than the idle timeout.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep_until},
};

/// How long a closed connection is read if the request was not read completely. Closing it at once would reset the
/// connection, and the client could lose the response.
const LINGER_TIMEOUT: Duration = Duration::from_millis(500);

/// The maximum number of bytes that a closed connection reads.
const MAX_LINGER: usize = 16 << 20;

/// The phase of a connection, shared by its stream and the exchange of requests and responses.
#[derive(Clone, Debug)]
pub(super) struct Phases {
    state: Arc<Mutex<State>>,
    header_timeout: Duration,
    idle_timeout: Duration,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    deadline: Option<Instant>,
    lingers: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Headers,
    Request,
    Idle,
}

impl Phases {
    pub(super) fn new(header_timeout: Duration, idle_timeout: Duration) -> Self {
        let state = State { phase: Phase::Headers, deadline: deadline(header_timeout), lingers: false };
        Phases { state: Arc::new(Mutex::new(state)), header_timeout, idle_timeout }
    }

    /// The headers of a request are complete.
    pub(super) fn begin_request(&self) {
        let mut state = self.state();
        (state.phase, state.deadline) = (Phase::Request, None);
    }

    /// The response is ready to be written.
    pub(super) fn end_request(&self) {
        let mut state = self.state();
        (state.phase, state.deadline) = (Phase::Idle, deadline(self.idle_timeout));
    }

    /// The server stops: a request whose headers are incomplete is not in progress.
    pub(super) fn drain(&self) {
        let mut state = self.state();
        if state.phase == Phase::Headers {
            state.deadline = Some(Instant::now());
        }
    }

    /// The connection will be closed although the request was not read completely.
    pub(super) fn linger(&self) {
        self.state().lingers = true;
    }

    fn on_read(&self) {
        let mut state = self.state();
        if state.phase == Phase::Idle {
            (state.phase, state.deadline) = (Phase::Headers, deadline(self.header_timeout));
        }
    }

    fn on_write(&self) {
        let mut state = self.state();
        if state.phase == Phase::Idle {
            state.deadline = deadline(self.idle_timeout);
        }
    }

    /// Ignores poisoning: the state is consistent between any two statements.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the end of a timeout; `None` for one that is too long to be represented.
fn deadline(timeout: Duration) -> Option<Instant> {
    Instant::now().checked_add(timeout)
}

/// A stream whose reads and writes fail when the phase exceeds its timeout.
pub(super) struct TimedStream<S> {
    stream: S,
    phases: Phases,
    timer: Pin<Box<Sleep>>,
    closing: Option<Closing>,
}

/// A stream whose write half is closed.
struct Closing {
    timer: Pin<Box<Sleep>>,
    remaining: usize,
}

impl<S> TimedStream<S> {
    pub(super) fn new(stream: S, phases: Phases) -> Self {
        TimedStream { stream, phases, timer: Box::pin(sleep_until(Instant::now())), closing: None }
    }

    /// Fails after the deadline of the phase; before, wakes the task at the deadline.
    fn poll_deadline(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        let Some(deadline) = self.phases.state().deadline else { return Poll::Pending };
        if self.timer.deadline() != deadline {
            self.timer.as_mut().reset(deadline);
        }
        ready!(self.timer.as_mut().poll(context));
        Poll::Ready(io::ErrorKind::TimedOut.into())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let filled = buffer.filled().len();
        match Pin::new(&mut self.stream).poll_read(cx, buffer) {
            Poll::Ready(result) => {
                if buffer.filled().len() > filled {
                    self.phases.on_read();
                }
                Poll::Ready(result)
            }
            Poll::Pending => self.poll_deadline(cx).map(Err),
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.observe_write(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.observe_write(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_flush(cx) {
            Poll::Ready(result) => Poll::Ready(result),
            Poll::Pending => self.poll_deadline(cx).map(Err),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.closing.is_none() {
            match Pin::new(&mut this.stream).poll_shutdown(cx) {
                Poll::Ready(result) => result?,
                Poll::Pending => return this.poll_deadline(cx).map(Err),
            }
            let timer = Box::pin(sleep_until(Instant::now() + LINGER_TIMEOUT));
            let remaining = if this.phases.state().lingers { MAX_LINGER } else { 0 };
            this.closing = Some(Closing { timer, remaining });
        }
        this.poll_linger(cx)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TimedStream<S> {
    fn observe_write(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_pending() {
            return self.poll_deadline(cx).map(Err);
        }
        self.phases.on_write();
        written
    }

    /// Reads and discards until the client closes the connection, or a limit is reached.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(closing) = &mut self.closing else { return Poll::Ready(Ok(())) };
        let mut discarded = [0; 8 << 10];
        while closing.remaining > 0 && closing.timer.as_mut().poll(cx).is_pending() {
            let mut buffer = ReadBuf::new(&mut discarded);
            let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                break;
            }
            closing.remaining = closing.remaining.saturating_sub(buffer.filled().len());
        }
        Poll::Ready(Ok(()))
    }
}
