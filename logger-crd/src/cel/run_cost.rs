//! What a call costs when it runs, in the units of the estimate, by the sizes its arguments have.

use super::{
    syntax::operator,
    value::{List, Value},
};

const LIST_CREATION: u64 = 10;

/// The cost of a call; the target is first among `args` if there is one.
pub(super) fn of_call(function: &str, args: &[Value<'_>]) -> u64 {
    let size = |index: usize| args.get(index).map_or(1, size);
    let is_text = matches!(args.first(), Some(Value::String(_) | Value::Bytes(_)));
    match (function, args) {
        (operator::IN, [_, Value::List(list)]) => count(list.len()),
        (operator::EQUALS | operator::NOT_EQUALS, _) => tenth(size(0).min(size(1))),
        (operator::LESS | operator::LESS_EQUALS | operator::GREATER | operator::GREATER_EQUALS, _) if is_text => {
            tenth(size(0).min(size(1)))
        }
        (operator::ADD, _) if is_text => tenth(size(0).saturating_add(size(1))),
        ("matches" | "find" | "findAll", _) => tenth(size(0) + 1).saturating_mul(size(1).div_ceil(4)),
        ("contains", _) => tenth(size(0)).saturating_mul(tenth(size(1))),
        ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", [first, ..]) => traversal(first),
        ("replace" | "split" | "ip.isCanonical", _) => size(0).div_ceil(5),
        ("join", [Value::List(list), ..]) => joined(list, size(1)).div_ceil(5),
        ("validate", _) => tenth(size(1) + 1).saturating_mul(16),
        ("sort" | "distinct", _) => pairs(size(0)),
        (operator::SORT_BY_KEYS, _) => pairs(size(1)),
        ("sets.contains" | "sets.intersects", _) => size(0).saturating_mul(size(1)) + 1,
        ("sets.equivalent", _) => size(0).saturating_mul(size(1)).saturating_mul(2) + 1,
        ("flatten" | "reverse" | "slice", _) => size(0) + 1 + LIST_CREATION,
        ("lists.range", [Value::Int(count)]) => u64::try_from(*count).unwrap_or(0).saturating_add(1 + LIST_CREATION),
        (
            "startsWith" | "endsWith" | "bytes" | "string" | "strings.quote" | "format" | "url" | "lowerAscii"
            | "upperAscii" | "substring" | "trim" | "cidr" | "ip" | "isIP" | "isCIDR" | "quantity" | "isQuantity"
            | "semver" | "isSemver",
            _,
        ) if is_text => tenth(size(0)),
        _ => 1,
    }
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn size(value: &Value<'_>) -> u64 {
    value.size().map_or(1, count)
}

fn tenth(size: u64) -> u64 {
    size.div_ceil(10)
}

fn pairs(size: u64) -> u64 {
    size.saturating_mul(size).saturating_mul(2).saturating_add(1 + LIST_CREATION)
}

fn traversal(value: &Value<'_>) -> u64 {
    match value {
        Value::String(text) => count(text.len()) / 10,
        Value::Bytes(bytes) => count(bytes.len()) / 10,
        Value::List(list) => list.iter().map(|item| item.as_ref().map_or(0, traversal)).sum(),
        _ => 1,
    }
}

fn joined(list: &List<'_>, separator: u64) -> u64 {
    list.iter().map(|item| item.as_ref().map_or(0, size).saturating_add(separator)).sum()
}
