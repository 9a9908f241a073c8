//! A stream with the timeouts of an HTTP/1.1 connection, which depend on its phase.
//!
//! | phase | begins with | timeout |
//! |---|---|---|
//! | `Handshake` | a connection with TLS | the handshake timeout |
//! | `Headers` | the connection, or the first byte of a request | the header timeout |
//! | `Request` | the complete headers | none: the request has its own |
//! | `Response` | the response | the write timeout |
//! | `Stream` | a response of unknown size | the write timeout of each part that the client does not read |
//! | `Idle` | the end of the response | the idle timeout |
//!
//! hyper's timeout for headers includes the idle time before them, so that it cannot be shorter than the idle timeout.

use std::{
    future::pending,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::Notify,
    time::{Instant, Sleep, sleep_until},
};

use crate::{admission::Slot, limits::Limits};

/// How long a closed connection is read if the request was not read completely. Closing it at once would reset the
/// connection, and the client could lose the response.
const LINGER_TIMEOUT: Duration = Duration::from_millis(500);

/// The maximum number of bytes that a closed connection reads.
const MAX_LINGER: usize = 16 << 20;

/// The phase of a connection, shared by its stream and the exchange of requests and responses.
#[derive(Clone, Debug)]
pub(crate) struct Phases {
    state: Arc<Mutex<State>>,
    /// Notified when the deadline changes.
    changed: Arc<Notify>,
    limits: Limits,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    deadline: Option<Instant>,
    /// The number of requests whose response is not written.
    requests: usize,
    lingers: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Handshake,
    Headers,
    Request,
    Response,
    Stream,
    Idle,
}

impl Phases {
    pub(crate) fn new(limits: Limits, has_tls: bool) -> Self {
        let (phase, timeout) = match has_tls {
            true => (Phase::Handshake, limits.handshake_timeout),
            false => (Phase::Headers, limits.header_timeout),
        };
        let state = State { phase, deadline: deadline(timeout), requests: 0, lingers: false };
        Phases { state: Arc::new(Mutex::new(state)), changed: Arc::default(), limits }
    }

    /// Waits until the phase exceeds its timeout.
    pub(crate) async fn exceeded(&self) {
        loop {
            let changed = self.changed.notified();
            let deadline = self.state.lock().deadline;
            let passed = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = changed => {}
                () = passed => if self.state.lock().is_exceeded() { return },
            }
        }
    }

    /// The TLS handshake is complete.
    #[cfg(feature = "tls")]
    pub(crate) fn begin_headers(&self) {
        self.update(|state| state.enter(Phase::Headers, deadline(self.limits.header_timeout)));
    }

    /// The headers of a request are complete.
    pub(crate) fn begin_request(&self) {
        self.update(|state| {
            state.requests += 1;
            state.enter(Phase::Request, None);
        });
    }

    /// The response is ready to be written.
    pub(crate) fn begin_response(&self) {
        self.update(|state| state.enter(Phase::Response, deadline(self.limits.write_timeout)));
    }

    /// The first part of a response of unknown size is ready to be written.
    pub(crate) fn begin_stream(&self) {
        self.update(|state| state.enter(Phase::Stream, None));
    }

    /// A response is written. The connection is idle unless it has a further request.
    pub(crate) fn end_request(&self) {
        self.update(|state| {
            state.requests = state.requests.saturating_sub(1);
            if state.requests == 0 {
                state.enter(Phase::Idle, deadline(self.limits.idle_timeout));
            }
        });
    }

    /// The server stops: a request whose headers are incomplete is not in progress.
    pub(crate) fn drain(&self) {
        self.update(|state| {
            if state.phase == Phase::Headers {
                state.deadline = Some(Instant::now());
            }
        });
    }

    /// The connection will be closed although the request was not read completely.
    pub(crate) fn linger(&self) {
        self.state.lock().lingers = true;
    }

    fn on_read(&self) {
        self.update(|state| {
            if state.phase == Phase::Idle {
                state.enter(Phase::Headers, deadline(self.limits.header_timeout));
            }
        });
    }

    /// A client that reads slowly does not extend the deadline.
    fn on_write_waits(&self) {
        self.update(|state| {
            if state.phase == Phase::Stream && state.deadline.is_none() {
                state.deadline = deadline(self.limits.write_timeout);
            }
        });
    }

    fn on_flushed(&self) {
        self.update(|state| {
            if state.phase == Phase::Stream {
                state.deadline = None;
            }
        });
    }

    /// Changes the state, and notifies if the deadline has changed.
    fn update(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        let before = state.deadline;
        change(&mut state);
        let is_changed = state.deadline != before;
        drop(state);
        if is_changed {
            self.changed.notify_one();
        }
    }
}

impl State {
    fn is_exceeded(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= Instant::now())
    }

    fn enter(&mut self, phase: Phase, deadline: Option<Instant>) {
        (self.phase, self.deadline) = (phase, deadline);
    }

    /// Whether the client may still send a part of a request, for example of headers that are too large.
    fn is_unread(&self) -> bool {
        self.lingers || self.phase == Phase::Headers
    }
}

/// Returns the end of a timeout; `None` for one that is too long to be represented.
fn deadline(timeout: Duration) -> Option<Instant> {
    Instant::now().checked_add(timeout)
}

/// A stream whose reads and writes change the phase. Its connection ends when it is dropped, also after an upgrade.
pub(crate) struct TimedStream<S> {
    stream: S,
    phases: Phases,
    closing: Option<Closing>,
    _slot: Arc<Slot>,
}

/// A stream whose write half is closed.
struct Closing {
    timer: Pin<Box<Sleep>>,
    remaining: usize,
}

impl<S> TimedStream<S> {
    pub(crate) fn new(stream: S, phases: Phases, slot: Arc<Slot>) -> Self {
        TimedStream { stream, phases, closing: None, _slot: slot }
    }

    /// Returns the result of a write, after it was noted.
    fn observe_write(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_pending() {
            self.phases.on_write_waits();
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
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        match flushed.is_ready() {
            true => self.phases.on_flushed(),
            false => self.phases.on_write_waits(),
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.closing.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            let timer = Box::pin(sleep_until(Instant::now() + LINGER_TIMEOUT));
            let remaining = if this.phases.state.lock().is_unread() { MAX_LINGER } else { 0 };
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

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
        time::sleep,
    };

    use super::*;
    use crate::admission::{Admission, Opened};

    /// Returns a stream whose client has not read anything, in the phase of a response of unknown size.
    fn stream() -> (TimedStream<DuplexStream>, Phases, DuplexStream) {
        let limits = Limits { write_timeout: Duration::from_secs(30), ..Limits::default() };
        let Opened::Admitted(slot, _) = Arc::new(Admission::new(limits)).open(Ipv4Addr::LOCALHOST.into()) else {
            unreachable!("the first connection is admitted")
        };
        let (phases, (stream, client)) = (Phases::new(limits, false), duplex(16));
        phases.begin_request();
        phases.begin_stream();
        (TimedStream::new(stream, phases.clone(), Arc::new(slot)), phases, client)
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_slowly_does_not_extend_the_deadline() {
        let ((mut stream, phases, mut client), started) = (stream(), Instant::now());
        let read = async {
            let mut byte = [0];
            while client.read_exact(&mut byte).await.is_ok() {
                sleep(Duration::from_secs(1)).await;
            }
        };
        tokio::select! {
            () = read => {}
            _ = stream.write_all(&[0; 1000]) => {}
            () = phases.exceeded() => {}
        }
        assert_eq!(started.elapsed(), Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_may_take_any_time_while_its_client_reads_it() {
        let (mut stream, phases, mut client) = stream();
        let exchanged = async {
            for _ in 0..3 {
                let read = async {
                    sleep(Duration::from_secs(20)).await;
                    client.read_exact(&mut [0; 20]).await.unwrap();
                };
                let write = async {
                    stream.write_all(&[0; 20]).await.unwrap();
                    stream.flush().await.unwrap();
                };
                tokio::join!(read, write);
            }
        };
        tokio::select! {
            () = exchanged => {}
            () = phases.exceeded() => unreachable!("each part is read in time"),
        }
    }
}
