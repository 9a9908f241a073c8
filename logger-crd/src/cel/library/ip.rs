//! Addresses and networks.

use std::{fmt, net::IpAddr};

use crate::cel::value::{Failure, Outcome, Value};

/// An address and how many of its first bits name the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cel) struct Cidr {
    address: IpAddr,
    bits: u32,
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<Outcome<Value<'a>>> {
    match args {
        [Value::String(text), ..] => of_text(function, text),
        [Value::Ip(address)] => of_address(function, *address),
        [Value::Cidr(cidr), rest @ ..] => of_network(function, cidr, rest),
        _ => None,
    }
}

fn of_text<'a>(function: &str, text: &str) -> Option<Outcome<Value<'a>>> {
    Some(match function {
        "ip" => address(text).map(Value::Ip),
        "isIP" => Ok(Value::Bool(address(text).is_ok())),
        "ip.isCanonical" => address(text).map(|address| Value::Bool(address.to_string() == *text)),
        "cidr" => network(text).map(Value::Cidr),
        "isCIDR" => Ok(Value::Bool(network(text).is_ok())),
        _ => return None,
    })
}

fn address(text: &str) -> Outcome<IpAddr> {
    match text.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => {
            Err(Failure::new(format!("IPv4-mapped IPv6 address {text:?} is not allowed")))
        }
        Ok(address) => Ok(address),
        Err(_) if text.contains('%') => {
            Err(Failure::new(format!("IP address {text:?} with zone value is not allowed")))
        }
        Err(_) => Err(Failure::new(format!(
            "IP Address {text:?} parse error during conversion from string: ParseAddr({text:?}): unable to parse IP"
        ))),
    }
}

fn network(text: &str) -> Outcome<Cidr> {
    let wrong = |why: &str| {
        Failure::new(format!(
            "network address parse error during conversion from string: netip.ParsePrefix({text:?}): {why}"
        ))
    };
    let (start, bits) = text.rsplit_once('/').ok_or_else(|| wrong("no '/'"))?;
    let start: IpAddr = start.parse().map_err(|_| wrong("unable to parse IP"))?;
    let is_plain = bits == "0" || !bits.starts_with('0') && bits.bytes().all(|c| c.is_ascii_digit());
    let parsed = bits.parse().ok().filter(|_| is_plain).ok_or_else(|| wrong("bad bits after slash"))?;
    if parsed > width(start) {
        return Err(wrong("prefix length out of range"));
    }
    if matches!(start, IpAddr::V6(address) if address.to_ipv4_mapped().is_some()) {
        return Err(Failure::new(format!("IPv4-mapped IPv6 address {text:?} is not allowed")));
    }
    Ok(Cidr { address: start, bits: parsed })
}

fn width(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn of_address<'a>(function: &str, address: IpAddr) -> Option<Outcome<Value<'a>>> {
    let flag = match (function, address) {
        ("family", address) => return Some(Ok(Value::Int(if address.is_ipv4() { 4 } else { 6 }))),
        ("isUnspecified", address) => address.is_unspecified(),
        ("isLoopback", address) => address.is_loopback(),
        ("isLinkLocalMulticast", address) => is_link_local_multicast(address),
        ("isLinkLocalUnicast", IpAddr::V4(address)) => address.is_link_local(),
        ("isLinkLocalUnicast", IpAddr::V6(address)) => address.segments()[0] & 0xffc0 == 0xfe80,
        ("isGlobalUnicast", address) => is_global_unicast(address),
        _ => return None,
    };
    Some(Ok(Value::Bool(flag)))
}

fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
        IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
    }
}

fn is_global_unicast(address: IpAddr) -> bool {
    let is_link_local = match address {
        IpAddr::V4(address) => address.is_link_local() || address.is_broadcast(),
        IpAddr::V6(address) => address.segments()[0] & 0xffc0 == 0xfe80,
    };
    !(address.is_unspecified() || address.is_loopback() || address.is_multicast() || is_link_local)
}

fn of_network<'a>(function: &str, cidr: &Cidr, rest: &[Value<'a>]) -> Option<Outcome<Value<'a>>> {
    Some(match (function, rest) {
        ("ip", []) => Ok(Value::Ip(cidr.address)),
        ("prefixLength", []) => Ok(Value::Int(i64::from(cidr.bits))),
        ("masked", []) => Ok(Value::Cidr(Cidr { address: masked(cidr.address, cidr.bits), bits: cidr.bits })),
        ("containsIP", [Value::Ip(other)]) => Ok(Value::Bool(contains(cidr, *other))),
        ("containsIP", [Value::String(other)]) => address(other).map(|other| Value::Bool(contains(cidr, other))),
        ("containsCIDR", [Value::Cidr(other)]) => Ok(Value::Bool(contains_network(cidr, other))),
        ("containsCIDR", [Value::String(other)]) => {
            network(other).map(|other| Value::Bool(contains_network(cidr, &other)))
        }
        _ => return None,
    })
}

fn masked(address: IpAddr, bits: u32) -> IpAddr {
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

fn contains(cidr: &Cidr, address: IpAddr) -> bool {
    address.is_ipv4() == cidr.address.is_ipv4() && masked(address, cidr.bits) == masked(cidr.address, cidr.bits)
}

fn contains_network(cidr: &Cidr, other: &Cidr) -> bool {
    other.bits >= cidr.bits && contains(cidr, other.address)
}
