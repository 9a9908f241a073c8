//! A stream with the timeouts of an HTTP/1.1 connection, which depend on its phase.
//!
//! | phase | begins with | timeout |
//! |---|---|---|
//! | `Headers` | the connection, or the first byte of a request | the header timeout |
//! | `Request` | the complete headers | none: the request has its own |
//! | `Idle` | the response, which is written in this time as well | the idle timeout |
//!
//! hyper's timeout for headers includes the idle time before them, so that it cannot be shorter than the idle timeout.

use std::{
    future::pending,
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::Notify,
    time::{Instant, Sleep, sleep_until},
};

/// How long a closed connection is read if the request was not read completely. Closing it at once would reset the
/// connection, and the client could lose the response.
const LINGER_TIMEOUT: Duration = Duration::from_millis(500);

/// How long after its last write a response counts as written.
const WRITE_TIME: Duration = Duration::from_millis(500);

/// The maximum number of bytes that a closed connection reads.
const MAX_LINGER: usize = 16 << 20;

/// The phase of a connection, shared by its stream and the exchange of requests and responses.
#[derive(Clone, Debug)]
pub(super) struct Phases {
    state: Arc<Mutex<State>>,
    /// Notified when the deadline becomes earlier.
    changed: Arc<Notify>,
    header_timeout: Duration,
    idle_timeout: Duration,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// The begin of the phase, or the last write in the phase `Idle`.
    since: Instant,
    deadline: Option<Instant>,
    lingers: bool,
    /// Whether the server closes the connection to accept another one.
    is_evicted: bool,
}

impl State {
    fn is_exceeded(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= Instant::now())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Headers,
    Request,
    Idle,
}

impl Phases {
    pub(super) fn new(header_timeout: Duration, idle_timeout: Duration) -> Self {
        let state = State {
            phase: Phase::Headers,
            since: Instant::now(),
            deadline: deadline(header_timeout),
            lingers: false,
            is_evicted: false,
        };
        Phases { state: Arc::new(Mutex::new(state)), changed: Arc::default(), header_timeout, idle_timeout }
    }

    /// Waits until the phase exceeds its timeout.
    pub(super) async fn exceeded(&self) {
        loop {
            let changed = self.changed.notified();
            let deadline = self.state().deadline;
            let passed = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = changed => {}
                () = passed => if self.state().is_exceeded() { return },
            }
        }
    }

    /// The TLS handshake is complete.
    pub(super) fn begin_headers(&self) {
        self.enter(Phase::Headers, deadline(self.header_timeout));
    }

    /// The headers of a request are complete.
    pub(super) fn begin_request(&self) {
        self.enter(Phase::Request, None);
    }

    /// The response is ready to be written.
    pub(super) fn end_request(&self) {
        self.enter(Phase::Idle, deadline(self.idle_timeout));
    }

    /// The server stops: a request whose headers are incomplete is not in progress.
    pub(super) fn drain(&self) {
        if self.state().phase == Phase::Headers {
            self.enter(Phase::Headers, Some(Instant::now()));
        }
    }

    /// Returns since when the connection is idle; `None` while it has a request, or may not have written its response.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.state();
        let is_idle = match state.phase {
            Phase::Headers => true,
            Phase::Request => false,
            Phase::Idle => state.since.elapsed() >= WRITE_TIME,
        };
        is_idle.then_some(state.since)
    }

    pub(super) fn is_evicted(&self) -> bool {
        self.state().is_evicted
    }

    /// Closes the connection unless it has a request now.
    pub(super) fn evict(&self) {
        let mut state = self.state();
        if state.phase != Phase::Request {
            (state.deadline, state.is_evicted) = (Some(Instant::now()), true);
            drop(state);
            self.changed.notify_one();
        }
    }

    fn enter(&self, phase: Phase, deadline: Option<Instant>) {
        let mut state = self.state();
        if state.is_evicted {
            return;
        }
        (state.phase, state.since, state.deadline) = (phase, Instant::now(), deadline);
        drop(state);
        self.changed.notify_one();
    }

    /// The connection will be closed although the request was not read completely.
    pub(super) fn linger(&self) {
        self.state().lingers = true;
    }

    fn on_read(&self) {
        if self.state().phase == Phase::Idle {
            self.enter(Phase::Headers, deadline(self.header_timeout));
        }
    }

    /// The connection is not idle yet. Its deadline remains: a client that reads slowly does not extend it.
    fn on_write(&self) {
        let mut state = self.state();
        if state.phase == Phase::Idle && !state.is_evicted {
            state.since = Instant::now();
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

/// A stream whose reads and writes change the phase.
pub(super) struct TimedStream<S> {
    stream: S,
    phases: Phases,
    closing: Option<Closing>,
}

/// A stream whose write half is closed.
struct Closing {
    timer: Pin<Box<Sleep>>,
    remaining: usize,
}

impl<S> TimedStream<S> {
    pub(super) fn new(stream: S, phases: Phases) -> Self {
        TimedStream { stream, phases, closing: None }
    }

    /// Returns the result of a write, after it was noted.
    fn observe_write(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.phases.on_write();
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let filled = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > filled {
            self.phases.on_read();
        }
        result
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.observe_write(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.observe_write(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.closing.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            let timer = Box::pin(sleep_until(Instant::now() + LINGER_TIMEOUT));
            let remaining = if this.phases.state().lingers { MAX_LINGER } else { 0 };
            this.closing = Some(Closing { timer, remaining });
        }
        this.poll_linger(cx)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TimedStream<S> {
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
