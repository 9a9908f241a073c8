//! A proxy on the loopback interface whose connections can be cut, stalled and refused.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// A proxy before a server. It and its connections end when this is dropped.
pub struct Proxy {
    address: SocketAddr,
    line: watch::Sender<Line>,
    /// Whether it listens, as its task tells.
    listening: watch::Receiver<bool>,
    _task: JoinSet<()>,
}

/// How the line is.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    traffic: Traffic,
    cuts: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Traffic {
    #[default]
    Flows,
    Stalls,
    Refused,
}

impl Proxy {
    /// A proxy on a free port.
    pub async fn start(server: SocketAddr) -> io::Result<Proxy> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let line = watch::Sender::new(Line::default());
        let (tell, listening) = watch::channel(true);
        let mut task = JoinSet::new();
        task.spawn(serve(listener, address, server, line.subscribe(), tell));
        Ok(Proxy { address, line, listening, _task: task })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Resets every connection. New ones are served.
    pub fn cut(&self) {
        self.line.send_modify(|line| line.cuts += 1);
    }

    /// From now on connections stand, and nothing comes through: as when a firewall forgot them.
    pub fn stall(&self) {
        self.line.send_modify(|line| line.traffic = Traffic::Stalls);
    }

    /// Resets every connection, and refuses new ones when this returns.
    pub async fn refuse(&self) {
        self.line.send_modify(|line| *line = Line { traffic: Traffic::Refused, cuts: line.cuts + 1 });
        drop(self.listening.clone().wait_for(|listening| !listening).await);
    }

    /// All flows again, also what was stalled.
    pub async fn heal(&self) {
        self.line.send_modify(|line| line.traffic = Traffic::Flows);
        drop(self.listening.clone().wait_for(|listening| *listening).await);
    }
}

async fn serve(
    mut listener: TcpListener,
    address: SocketAddr,
    server: SocketAddr,
    mut line: watch::Receiver<Line>,
    listening: watch::Sender<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        let mut refused = line.clone();
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((client, _)) = accepted else { continue };
                connections.spawn(carry(client, server, line.clone()));
            }
            () = async { drop(refused.wait_for(|line| line.traffic == Traffic::Refused).await) } => {
                drop(listener);
                listening.send_replace(false);
                if line.wait_for(|line| line.traffic != Traffic::Refused).await.map(drop).is_err() {
                    return;
                }
                listener = TcpListener::bind(address).await.expect("the port is still free");
                listening.send_replace(true);
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Carries one connection until both sides have ended it, or it is cut.
async fn carry(mut client: TcpStream, server: SocketAddr, mut line: watch::Receiver<Line>) {
    let begun = line.borrow().cuts;
    let Ok(mut server) = TcpStream::connect(server).await else { return };
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let there = pump(from_client, to_server, line.clone());
    let back = pump(from_server, to_client, line.clone());
    tokio::select! {
        () = async { drop(line.wait_for(|line| line.cuts != begun).await) } => {}
        _ = async { tokio::try_join!(there, back) } => return,
    }
    // Without a linger, to close is to reset.
    drop(client.set_zero_linger());
    drop(server.set_zero_linger());
}

async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut line: watch::Receiver<Line>,
) -> io::Result<()> {
    let mut buffer = vec![0; 16 << 10];
    loop {
        let read = from.read(&mut buffer).await?;
        // What was read is held back while the line stalls; so is the end.
        if line.wait_for(|line| line.traffic == Traffic::Flows).await.map(drop).is_err() || read == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer[..read]).await?;
    }
}
