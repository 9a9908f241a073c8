//! Functions of IP addresses and CIDR blocks.

use std::net::IpAddr;

use crate::cel::{
    formats::ip::{Cidr, is_global_unicast, is_link_local_multicast, is_link_local_unicast, parse_ip},
    interpreter::value::{EvalError, EvalResult, Value},
};

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<EvalResult<Value<'a>>> {
    match args {
        [Value::String(text), ..] => call_on_string(function, text),
        [Value::Ip(address)] => call_on_ip(function, *address),
        [Value::Cidr(cidr), rest @ ..] => call_on_cidr(function, cidr, rest),
        _ => None,
    }
}

fn ip(text: &str) -> EvalResult<IpAddr> {
    parse_ip(text).map_err(EvalError)
}

fn cidr(text: &str) -> EvalResult<Cidr> {
    Cidr::parse(text).map_err(EvalError)
}

fn call_on_string<'a>(function: &str, text: &str) -> Option<EvalResult<Value<'a>>> {
    Some(match function {
        "ip" => ip(text).map(Value::Ip),
        "isIP" => Ok(Value::Bool(parse_ip(text).is_ok())),
        "ip.isCanonical" => ip(text).map(|address| Value::Bool(address.to_string() == *text)),
        "cidr" => cidr(text).map(Value::Cidr),
        "isCIDR" => Ok(Value::Bool(Cidr::parse(text).is_ok())),
        _ => return None,
    })
}

fn call_on_ip<'a>(function: &str, address: IpAddr) -> Option<EvalResult<Value<'a>>> {
    Some(Ok(match function {
        "family" => Value::Int(if address.is_ipv4() { 4 } else { 6 }),
        "isUnspecified" => Value::Bool(address.is_unspecified()),
        "isLoopback" => Value::Bool(address.is_loopback()),
        "isLinkLocalMulticast" => Value::Bool(is_link_local_multicast(address)),
        "isLinkLocalUnicast" => Value::Bool(is_link_local_unicast(address)),
        "isGlobalUnicast" => Value::Bool(is_global_unicast(address)),
        _ => return None,
    }))
}

fn call_on_cidr<'a>(function: &str, block: &Cidr, rest: &[Value<'a>]) -> Option<EvalResult<Value<'a>>> {
    Some(match (function, rest) {
        ("ip", []) => Ok(Value::Ip(block.address)),
        ("prefixLength", []) => Ok(Value::Int(i64::from(block.prefix_length))),
        ("masked", []) => Ok(Value::Cidr(block.masked())),
        ("containsIP", [Value::Ip(other)]) => Ok(Value::Bool(block.contains(*other))),
        ("containsIP", [Value::String(other)]) => ip(other).map(|other| Value::Bool(block.contains(other))),
        ("containsCIDR", [Value::Cidr(other)]) => Ok(Value::Bool(block.contains_cidr(other))),
        ("containsCIDR", [Value::String(other)]) => cidr(other).map(|other| Value::Bool(block.contains_cidr(&other))),
        _ => return None,
    })
}
