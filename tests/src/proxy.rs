//! A proxy on the loopback interface that can reset, stall and reject connections.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

/// A proxy in front of a server. It and its connections are closed on drop.
pub struct Proxy {
    address: SocketAddr,
    state: watch::Sender<State>,
    /// Whether the task of the proxy listens.
    listening: watch::Receiver<bool>,
    _task: JoinSet<()>,
}

/// The state of a proxy.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    traffic: Traffic,
    /// How often the connections were reset.
    resets: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Traffic {
    #[default]
    Flowing,
    Stalled,
    Refused,
}

impl Proxy {
    /// Starts a proxy on a free port.
    ///
    /// # Errors
    /// Fails if no port is free.
    pub async fn start(server: SocketAddr) -> io::Result<Proxy> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let state = watch::Sender::new(State::default());
        let (listening_sender, listening) = watch::channel(true);
        let mut task = JoinSet::new();
        task.spawn(serve(listener, address, server, state.subscribe(), listening_sender));
        Ok(Proxy { address, state, listening, _task: task })
    }

    /// Returns the address that the proxy listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Resets every connection. New connections are served.
    pub fn reset(&self) {
        self.state.send_modify(|state| state.resets += 1);
    }

    /// Keeps connections open without forwarding data, as a firewall that dropped its state.
    pub fn stall(&self) {
        self.state.send_modify(|state| state.traffic = Traffic::Stalled);
    }

    /// Resets every connection. By the time this returns, new connections are refused.
    pub async fn refuse(&self) {
        self.state.send_modify(|state| *state = State { traffic: Traffic::Refused, resets: state.resets + 1 });
        drop(self.listening.clone().wait_for(|listening| !listening).await);
    }

    /// Forwards all data again, including stalled data.
    pub async fn heal(&self) {
        self.state.send_modify(|state| state.traffic = Traffic::Flowing);
        drop(self.listening.clone().wait_for(|listening| *listening).await);
    }
}

async fn serve(
    mut listener: TcpListener,
    address: SocketAddr,
    server: SocketAddr,
    mut state: watch::Receiver<State>,
    listening: watch::Sender<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        let mut refused = state.clone();
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((client, _)) = accepted else { continue };
                connections.spawn(forward(client, server, state.clone()));
            }
            () = async { drop(refused.wait_for(|state| state.traffic == Traffic::Refused).await) } => {
                drop(listener);
                listening.send_replace(false);
                if state.wait_for(|state| state.traffic != Traffic::Refused).await.map(drop).is_err() {
                    return;
                }
                listener = TcpListener::bind(address).await.expect("the port is still free");
                listening.send_replace(true);
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Forwards one connection until both sides have closed it, or until it is reset.
async fn forward(mut client: TcpStream, server: SocketAddr, mut state: watch::Receiver<State>) {
    let resets = state.borrow().resets;
    let Ok(mut server) = TcpStream::connect(server).await else { return };
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let upstream = pump(from_client, to_server, state.clone());
    let downstream = pump(from_server, to_client, state.clone());
    tokio::select! {
        () = async { drop(state.wait_for(|state| state.resets != resets).await) } => {}
        _ = async { tokio::try_join!(upstream, downstream) } => return,
    }
    // With a linger of zero, closing sends a reset.
    drop(client.set_zero_linger());
    drop(server.set_zero_linger());
}

/// Copies data in one direction while traffic flows.
async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut state: watch::Receiver<State>,
) -> io::Result<()> {
    let mut buffer = vec![0; 16 << 10];
    loop {
        let read = from.read(&mut buffer).await?;
        // Data and the end of the stream are held back while traffic is stalled.
        if state.wait_for(|state| state.traffic == Traffic::Flowing).await.map(drop).is_err() || read == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer[..read]).await?;
    }
}
