//! A stream whose writes have a deadline: a client that does not read its responses loses its connection.

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// A stream that fails if written bytes are not sent within a time.
///
/// The time begins with the first write that has to wait, and ends when everything is sent: a client that reads slowly
/// does not restart it.
#[derive(Debug)]
pub(super) struct WriteDeadline<S> {
    stream: S,
    limit: Duration,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteDeadline<S> {
    /// Limits the time of writes.
    pub(super) fn new(stream: S, limit: Duration) -> Self {
        WriteDeadline { stream, limit, deadline: None }
    }

    /// Returns a pending write until its deadline.
    fn wait<T>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(self.limit)));
        match deadline.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteDeadline<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteDeadline<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(cx, bytes) {
            Poll::Pending => self.wait(cx),
            ready => ready,
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write_vectored(cx, slices) {
            Poll::Pending => self.wait(cx),
            ready => ready,
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// The caller flushes when it has written everything.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_flush(cx) {
            Poll::Pending => self.wait(cx),
            ready => {
                self.deadline = None;
                ready
            }
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        time::Instant,
    };

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_slowly_does_not_extend_the_deadline() {
        let (stream, mut client) = tokio::io::duplex(16);
        let (mut stream, started) = (WriteDeadline::new(stream, Duration::from_secs(30)), Instant::now());
        let read = async {
            let mut byte = [0];
            while client.read_exact(&mut byte).await.is_ok() {
                sleep(Duration::from_secs(1)).await;
            }
        };
        let write = async {
            let error = stream.write_all(&[0; 1000]).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            drop(stream);
        };
        tokio::select! {
            () = read => {}
            () = write => {}
        }
        assert_eq!(started.elapsed(), Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn a_flush_ends_the_deadline() {
        let (stream, mut client) = tokio::io::duplex(16);
        let mut stream = WriteDeadline::new(stream, Duration::from_secs(30));
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
    }
}
