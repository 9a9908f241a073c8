//! Listeners: an address with a backlog, and all addresses of both families.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener},
};

use socket2::{Domain, Socket, Type};

/// The maximum number of connections that wait to be accepted, as in tokio.
const BACKLOG: i32 = 1024;
/// The error of Linux for a socket of an unknown address family. `std` has no kind for it.
const EAFNOSUPPORT: i32 = 97;

/// Listens on an address; on `[::]`, to both IPv4 and IPv6. The listener can be used by
/// a runtime, and does not need one before.
///
/// # Errors
/// Fails if the address is in use, or not available.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = bind_or_fall_back(address, bind)?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// Binds an address; in place of `[::]`, all IPv4 addresses if the host has no IPv6.
fn bind_or_fall_back<S>(address: SocketAddr, bind: impl Fn(SocketAddr) -> io::Result<S>) -> io::Result<S> {
    let bound = bind(address);
    let is_unspecified = address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED);
    match &bound {
        Err(error) if is_unspecified && has_no_ipv6(error) => {
            tracing::info!(%address, %error, "IPv6 is not available; listening on IPv4 only");
            bind(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), address.port()))
        }
        _ => bound,
    }
}

/// Returns whether the error is that of a system without IPv6: without the address family, or with IPv6 disabled for
/// all interfaces.
fn has_no_ipv6(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AddrNotAvailable | io::ErrorKind::Unsupported)
        || error.raw_os_error() == Some(EAFNOSUPPORT)
}

fn bind(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    if address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED) {
        // The default of the system can be IPv6 only.
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_addresses_fall_back_to_ipv4_on_a_host_without_ipv6() {
        let all: SocketAddr = "[::]:8081".parse().unwrap();
        let without_ipv6 = |error: fn() -> io::Error| {
            move |address: SocketAddr| if address.is_ipv6() { Err(error()) } else { Ok(address.to_string()) }
        };
        let unsupported = || io::Error::from_raw_os_error(EAFNOSUPPORT);
        let disabled = || io::Error::from(io::ErrorKind::AddrNotAvailable);
        for error in [unsupported as fn() -> io::Error, disabled] {
            assert_eq!(bind_or_fall_back(all, without_ipv6(error)).unwrap(), "0.0.0.0:8081");
            let single = bind_or_fall_back("[::1]:8081".parse().unwrap(), without_ipv6(error));
            assert!(single.is_err(), "a single address has no other");
        }
        let in_use = || io::Error::from(io::ErrorKind::AddrInUse);
        assert_eq!(bind_or_fall_back(all, without_ipv6(in_use)).unwrap_err().kind(), io::ErrorKind::AddrInUse);
    }

    #[test]
    fn all_addresses_are_those_of_both_families() {
        let address =
            listen("[::]:0".parse().unwrap()).and_then(|listener| listener.local_addr().map(|at| (listener, at)));
        let (_listener, address) = address.unwrap();
        assert!(std::net::TcpStream::connect(("127.0.0.1", address.port())).is_ok());
        // A host without IPv6 has no such address.
        if address.is_ipv6() && TcpListener::bind("[::1]:0").is_ok() {
            assert!(std::net::TcpStream::connect(("::1", address.port())).is_ok());
        }
    }
}
