//! A proxy in place of a Service: it selects the endpoint of each connection.

use std::net::SocketAddr;

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// Forwards each connection to the address that the function selects, until dropped.
pub(super) async fn forward<F>(listener: TcpListener, select: impl Fn() -> F)
where
    F: Future<Output = Option<SocketAddr>> + Send + 'static,
{
    let mut connections = JoinSet::new();
    while let Ok((mut client, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        let selected = select();
        connections.spawn(async move {
            let Some(address) = selected.await else { return };
            if let Ok(mut server) = TcpStream::connect(address).await {
                // A connection that is closed ends.
                drop(copy_bidirectional(&mut client, &mut server).await);
            }
        });
    }
}
