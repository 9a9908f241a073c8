//! The peer of a request.

use std::{
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    net::IpAddr,
};

/// The peer of a request: an extension of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Peer {
    /// The address. An IPv4 address has one representation, also on a listener of IPv6.
    pub address: IpAddr,
    /// The client.
    pub client: Client,
    /// Whether the connection is encrypted.
    pub has_tls: bool,
    /// Whether the connection belongs to the [reserve](crate::Limits::reserved_connections).
    pub is_reserved: bool,
}

/// The identity of a client: a hash of its address and `User-Agent`. It is different in each process, so that no client
/// can choose that of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Client(pub(crate) u64);

impl Client {
    /// Returns the client of a name, for tests without a server.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        Client(BuildHasherDefault::<DefaultHasher>::default().hash_one(name))
    }
}
