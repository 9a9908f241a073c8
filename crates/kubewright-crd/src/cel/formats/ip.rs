//! IP addresses and CIDR blocks, parsed and classified as Go's `net/netip` does.

use std::{fmt, net::IpAddr};

/// A CIDR block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cidr {
    pub(crate) address: IpAddr,
    pub(crate) prefix_length: u32,
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix_length)
    }
}

impl Cidr {
    /// Parses a block such as `10.0.0.0/8`. The error is the server's message.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let error = |reason: &str| {
            format!("network address parse error during conversion from string: netip.ParsePrefix({text:?}): {reason}")
        };
        let (address, length) = text.rsplit_once('/').ok_or_else(|| error("no '/'"))?;
        let address: IpAddr = address.parse().map_err(|_| error("unable to parse IP"))?;
        let is_plain = length == "0" || !length.starts_with('0') && length.bytes().all(|c| c.is_ascii_digit());
        let prefix_length = length.parse().ok().filter(|_| is_plain).ok_or_else(|| error("bad bits after slash"))?;
        if prefix_length > bit_length(address) {
            return Err(error("prefix length out of range"));
        }
        if is_ipv4_mapped(address) {
            return Err(ipv4_mapped(text));
        }
        Ok(Cidr { address, prefix_length })
    }

    /// The block with the bits after its prefix set to zero.
    pub(crate) fn masked(&self) -> Self {
        Cidr { address: mask(self.address, self.prefix_length), prefix_length: self.prefix_length }
    }

    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.address.is_ipv4()
            && mask(address, self.prefix_length) == mask(self.address, self.prefix_length)
    }

    pub(crate) fn contains_cidr(&self, other: &Cidr) -> bool {
        other.prefix_length >= self.prefix_length && self.contains(other.address)
    }
}

/// Parses an IP address. The error is the server's message.
pub(crate) fn parse_ip(text: &str) -> Result<IpAddr, String> {
    match text.parse::<IpAddr>() {
        Ok(address) if is_ipv4_mapped(address) => Err(ipv4_mapped(text)),
        Ok(address) => Ok(address),
        Err(_) if text.contains('%') => Err(format!("IP address {text:?} with zone value is not allowed")),
        Err(_) => Err(format!(
            "IP Address {text:?} parse error during conversion from string: ParseAddr({text:?}): unable to parse IP"
        )),
    }
}

fn is_ipv4_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some())
}

fn ipv4_mapped(text: &str) -> String {
    format!("IPv4-mapped IPv6 address {text:?} is not allowed")
}

fn bit_length(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn mask(address: IpAddr, bits: u32) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            IpAddr::V4((address.to_bits() & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            IpAddr::V6((address.to_bits() & mask).into())
        }
    }
}

pub(crate) fn is_link_local_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.segments()[0] & 0xffc0 == 0xfe80,
    }
}

pub(crate) fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
        IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
    }
}

pub(crate) fn is_global_unicast(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    !(address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || is_link_local_unicast(address)
        || is_broadcast)
}
