//! The events of a server, for metrics.

use std::{net::IpAddr, time::Duration};

use http::StatusCode;

/// Receives the events of a [`Server`](crate::Server), such as for metrics. By default, they are ignored.
pub trait Observer: std::fmt::Debug + Send + Sync + 'static {
    /// A connection of a peer is served.
    fn opened(&self, _peer: IpAddr) {}

    /// A connection ended.
    fn closed(&self, _peer: IpAddr) {}

    /// A connection was closed, because the peer or the server has too many.
    fn rejected(&self, _peer: IpAddr) {}

    /// A response is ready to be written, after this time since the headers of its request.
    fn responded(&self, _status: StatusCode, _duration: Duration) {}
}

/// Ignores all events.
impl Observer for () {}
