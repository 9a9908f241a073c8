//! The actual cost of calls, computed from the sizes of their arguments (`interpreter/runtimecost.go` of cel-go).

use super::value::{List, Value};
use crate::cel::{
    cost::{LIST_CREATE_BASE_COST, STRUCT_CREATE_BASE_COST},
    syntax::operator,
};

/// The cost of an authorization check.
const AUTHORIZATION_CHECK_COST: u64 = 350_000;

/// The actual cost of a call. The first argument of a member call is its target.
pub(super) fn call_cost(function: &str, args: &[Value<'_>]) -> u64 {
    let size = |index: usize| args.get(index).map_or(1, size);
    let is_text = matches!(args.first(), Some(Value::String(_) | Value::Bytes(_)));
    match (function, args) {
        (operator::IN, [_, Value::List(list)]) => count(list.len()),
        (operator::EQUALS | operator::NOT_EQUALS, _) => traversal_cost(size(0).min(size(1))),
        (operator::LESS | operator::LESS_EQUALS | operator::GREATER | operator::GREATER_EQUALS, _) if is_text => {
            traversal_cost(size(0).min(size(1)))
        }
        (operator::ADD, _) if is_text => traversal_cost(size(0).saturating_add(size(1))),
        ("matches" | "find" | "findAll", _) => traversal_cost(size(0) + 1).saturating_mul(size(1).div_ceil(4)),
        ("contains", _) => traversal_cost(size(0)).saturating_mul(traversal_cost(size(1))),
        ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", [first, ..]) => element_traversal_cost(first),
        ("replace" | "split" | "ip.isCanonical", _) => size(0).div_ceil(5),
        ("join", [Value::List(list), ..]) => joined_size(list, size(1)).div_ceil(5),
        ("validate", _) => traversal_cost(size(1) + 1).saturating_mul(16),
        ("sort" | "distinct", _) => quadratic_cost(size(0)),
        (operator::SORT_BY_KEYS, _) => quadratic_cost(size(1)),
        ("sets.contains" | "sets.intersects", _) => size(0).saturating_mul(size(1)) + 1,
        ("sets.equivalent", _) => size(0).saturating_mul(size(1)).saturating_mul(2) + 1,
        ("flatten" | "reverse" | "slice", _) => size(0) + 1 + LIST_CREATE_BASE_COST,
        // At most two authorization checks per expression.
        ("check", _) => AUTHORIZATION_CHECK_COST,
        ("fieldSelector" | "labelSelector", _) => selector_cost(size(1)),
        ("lists.range", [Value::Int(count)]) => {
            u64::try_from(*count).unwrap_or(0).saturating_add(1 + LIST_CREATE_BASE_COST)
        }
        (
            "startsWith"
            | "endsWith"
            | "bytes"
            | "string"
            | "strings.quote"
            | "format"
            | "url"
            | "lowerAscii"
            | "upperAscii"
            | "substring"
            | "trim"
            | "cidr"
            | "ip"
            | "isIP"
            | "isCIDR"
            | "quantity"
            | "isQuantity"
            | "semver"
            | "isSemver"
            | "jsonpatch.escapeKey",
            _,
        ) if is_text => traversal_cost(size(0)),
        _ => 1,
    }
}

/// The cost of parsing a selector: a list with a requirement for every 20 characters.
fn selector_cost(length: u64) -> u64 {
    let requirements = length.div_ceil(20).saturating_mul(LIST_CREATE_BASE_COST + STRUCT_CREATE_BASE_COST);
    requirements.saturating_add(LIST_CREATE_BASE_COST).saturating_add(traversal_cost(length))
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn size(value: &Value<'_>) -> u64 {
    value.size().map_or(1, count)
}

fn traversal_cost(size: u64) -> u64 {
    size.div_ceil(10)
}

fn quadratic_cost(size: u64) -> u64 {
    size.saturating_mul(size).saturating_mul(2).saturating_add(1 + LIST_CREATE_BASE_COST)
}

fn element_traversal_cost(value: &Value<'_>) -> u64 {
    match value {
        Value::String(text) => count(text.len()) / 10,
        Value::Bytes(bytes) => count(bytes.len()) / 10,
        Value::List(list) => list.iter().map(|item| item.as_ref().map_or(0, element_traversal_cost)).sum(),
        _ => 1,
    }
}

fn joined_size(list: &List<'_>, separator: u64) -> u64 {
    list.iter().map(|item| item.as_ref().map_or(0, size).saturating_add(separator)).sum()
}
