//! The loopback addresses of the pods of one cluster.

use std::net::{Ipv4Addr, TcpListener};

/// The number of nodes with different addresses, and of pods of a node.
const NODES: u32 = 63;
const PODS: u32 = 1022;
/// The host part and the port of the socket that reserves a network. No pod has this address.
const RESERVED: (u8, u8, u16) = (255, 254, 10250);

/// A network of loopback addresses, `127.N.0.0/16`. It is reserved for as long as it exists, also from other processes,
/// by a socket that listens on one of its addresses.
#[derive(Debug)]
pub(super) struct Network {
    second: u8,
    _reservation: Option<TcpListener>,
}

impl Network {
    /// Reserves a free network. Without a free one, or on a system without these addresses, it can be that of another
    /// cluster.
    pub(super) fn reserve() -> Self {
        let (third, fourth, port) = RESERVED;
        let reserved = (1..=254).find_map(|second| {
            let listener = TcpListener::bind((Ipv4Addr::new(127, second, third, fourth), port)).ok()?;
            Some(Network { second, _reservation: Some(listener) })
        });
        reserved.unwrap_or(Network { second: 1, _reservation: None })
    }

    /// Returns the address of the n-th pod of a node.
    pub(super) fn address(&self, node: u32, number: u32) -> Ipv4Addr {
        let base = u32::from(Ipv4Addr::new(127, self.second, 0, 0));
        Ipv4Addr::from(base + node % NODES * 1024 + number % PODS + 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn networks_have_different_addresses() {
        let networks = [Network::reserve(), Network::reserve()];
        let addresses = networks.iter().flat_map(|network| {
            (0..NODES).flat_map(move |node| (0..PODS).map(move |number| network.address(node, number)))
        });
        let addresses: BTreeSet<_> = addresses.collect();
        assert_eq!(addresses.len(), 2 * (NODES * PODS) as usize);
        let (third, fourth, _) = RESERVED;
        assert!(networks.iter().all(|network| !addresses.contains(&Ipv4Addr::new(127, network.second, third, fourth))));
    }
}
