//! A proxy of the API server that counts what one replica receives.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::Result;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// A running proxy. It ends on drop.
pub(super) struct Network {
    address: SocketAddr,
    received: Arc<AtomicU64>,
    _tasks: JoinSet<()>,
}

impl Network {
    /// Starts a proxy on a free port of the loopback interface.
    pub(super) async fn start(server: SocketAddr) -> Result<Network> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let (address, received, mut tasks) = (listener.local_addr()?, Arc::<AtomicU64>::default(), JoinSet::new());
        tasks.spawn(serve(listener, server, Arc::clone(&received)));
        Ok(Network { address, received, _tasks: tasks })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the number of bytes that the server has sent, encrypted.
    pub(super) fn received(&self) -> f64 {
        self.received.load(Ordering::Relaxed) as f64
    }
}

async fn serve(listener: TcpListener, server: SocketAddr, received: Arc<AtomicU64>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // Fails if the client has ended the connection already.
                let Ok((client, _)) = accepted else { continue };
                connections.spawn(forward(client, server, Arc::clone(&received)));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn forward(mut client: TcpStream, server: SocketAddr, received: Arc<AtomicU64>) -> io::Result<()> {
    let mut server = TcpStream::connect(server).await?;
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    tokio::try_join!(copy(from_client, to_server, None), copy(from_server, to_client, Some(&received))).map(drop)
}

/// Copies until the end of the stream, and counts the bytes.
async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    counter: Option<&AtomicU64>,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = from.read(&mut buffer).await?;
        if read == 0 {
            return to.shutdown().await;
        }
        if let Some(counter) = counter {
            counter.fetch_add(read as u64, Ordering::Relaxed);
        }
        to.write_all(&buffer[..read]).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_bytes_of_the_server_are_counted() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let network = Network::start(listener.local_addr().unwrap()).await.unwrap();
        let mut client = TcpStream::connect(network.address()).await.unwrap();
        client.write_all(b"request").await.unwrap();
        client.shutdown().await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        let mut request = String::new();
        server.read_to_string(&mut request).await.unwrap();
        server.write_all(b"a response").await.unwrap();
        drop(server);
        let mut response = String::new();
        client.read_to_string(&mut response).await.unwrap();
        assert_eq!((request.as_str(), response.as_str(), network.received()), ("request", "a response", 10.0));
    }
}
