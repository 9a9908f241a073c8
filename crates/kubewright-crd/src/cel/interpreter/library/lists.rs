//! Functions of lists and sets, and `size`.

use std::cmp::Ordering;

use super::operators;
use crate::cel::{
    interpreter::value::{EvalError, EvalResult, List, MAX_LIST_LENGTH, Value},
    syntax::operator,
};

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<EvalResult<Value<'a>>> {
    Some(match (function, args) {
        ("size", [value]) => Ok(Value::int(value.size()?)),
        ("lists.range", [Value::Int(count)]) => range(*count),
        ("sets.contains", [Value::List(list), Value::List(part)]) => contains_all(list, part).map(Value::Bool),
        ("sets.equivalent", [Value::List(left), Value::List(right)]) => {
            contains_all(left, right).and_then(|all| Ok(Value::Bool(all && contains_all(right, left)?)))
        }
        ("sets.intersects", [Value::List(left), Value::List(right)]) => intersects(left, right).map(Value::Bool),
        (_, [Value::List(list), rest @ ..]) => return call_on_list(function, list, rest),
        _ => return None,
    })
}

fn call_on_list<'a>(function: &str, list: &List<'a>, rest: &[Value<'a>]) -> Option<EvalResult<Value<'a>>> {
    Some(match (function, rest) {
        ("isSorted", []) => is_sorted(list).map(Value::Bool),
        ("sum", []) => sum(list),
        ("max", []) => extremum(list, "max", Ordering::Greater),
        ("min", []) => extremum(list, "min", Ordering::Less),
        ("indexOf", [value]) => position(list, value, false),
        ("lastIndexOf", [value]) => position(list, value, true),
        ("slice", [Value::Int(start), Value::Int(end)]) => slice(list, *start, *end),
        ("flatten", []) => flatten(list, 1),
        ("flatten", [Value::Int(depth)]) if *depth < 0 => Err(EvalError::new("level must be non-negative")),
        ("flatten", [Value::Int(depth)]) => flatten(list, *depth),
        ("reverse", []) => list.values().map(|items| Value::list(items.into_iter().rev().collect())),
        ("distinct", []) => distinct(list),
        ("sort", []) => list.values().and_then(|keys| sort(keys.clone(), keys)),
        (operator::SORT_BY_KEYS, [Value::List(keys)]) => {
            list.values().and_then(|items| keys.values().and_then(|keys| sort(items, keys)))
        }
        ("first", []) => optional_item(list.get(0)),
        ("last", []) => optional_item(list.len().checked_sub(1).and_then(|last| list.get(last))),
        _ => return None,
    })
}

fn range<'a>(count: i64) -> EvalResult<Value<'a>> {
    if usize::try_from(count).is_ok_and(|count| count > MAX_LIST_LENGTH) {
        return Err(EvalError::cost_limit_exceeded());
    }
    Ok(Value::list((0..count).map(Value::Int).collect()))
}

fn contains_all<'a>(list: &List<'a>, part: &List<'a>) -> EvalResult<bool> {
    for item in part.iter() {
        if !list.contains(&item?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn intersects<'a>(left: &List<'a>, right: &List<'a>) -> EvalResult<bool> {
    for item in right.iter() {
        if left.contains(&item?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_sorted(list: &List<'_>) -> EvalResult<bool> {
    let items = list.values()?;
    for pair in items.windows(2) {
        if pair[0].compare(&pair[1])? == Ordering::Greater {
            return Ok(false);
        }
    }
    Ok(true)
}

fn sum<'a>(list: &List<'a>) -> EvalResult<Value<'a>> {
    let mut items = list.iter();
    // The sum of an empty list depends on its element type, which values do not have.
    let Some(first) = items.next() else { return Ok(Value::Int(0)) };
    items.try_fold(first?, |sum, item| {
        operators::call(operator::ADD, &[sum, item?]).unwrap_or_else(|| Err(EvalError::no_such_overload()))
    })
}

fn extremum<'a>(list: &List<'a>, name: &str, wanted: Ordering) -> EvalResult<Value<'a>> {
    let mut items = list.iter();
    let Some(first) = items.next() else { return Err(EvalError::new(format!("{name} called on empty list"))) };
    let mut best = first?;
    for item in items {
        let item = item?;
        if item.compare(&best)? == wanted {
            best = item;
        }
    }
    Ok(best)
}

fn position<'a>(list: &List<'a>, value: &Value<'a>, last: bool) -> EvalResult<Value<'a>> {
    let mut found = Value::Int(-1);
    for (index, item) in list.iter().enumerate() {
        if item?.equals(value)? {
            found = Value::int(index);
            if !last {
                break;
            }
        }
    }
    Ok(found)
}

fn slice<'a>(list: &List<'a>, start: i64, end: i64) -> EvalResult<Value<'a>> {
    let error = |reason: String| EvalError::new(format!("cannot slice({start}, {end}), {reason}"));
    let (Ok(first), Ok(last)) = (usize::try_from(start), usize::try_from(end)) else {
        return Err(error("negative indexes not supported".to_owned()));
    };
    if start > end {
        return Err(error("start index must be less than or equal to end index".to_owned()));
    }
    if last > list.len() {
        return Err(error(format!("list is length {}", list.len())));
    }
    Ok(Value::list(list.values()?[first..last].to_vec()))
}

fn flatten<'a>(list: &List<'a>, depth: i64) -> EvalResult<Value<'a>> {
    let (mut flat, mut visited) = (Vec::new(), 0);
    flatten_into(list, depth, &mut visited, &mut flat)?;
    Ok(Value::list(flat))
}

/// Appends the items of nested lists. The number of visited items is limited: a list can contain another one many
/// times.
fn flatten_into<'a>(list: &List<'a>, depth: i64, visited: &mut usize, flat: &mut Vec<Value<'a>>) -> EvalResult<()> {
    for item in list.iter() {
        *visited += 1;
        if *visited > MAX_LIST_LENGTH {
            return Err(EvalError::cost_limit_exceeded());
        }
        match item? {
            Value::List(inner) if depth > 0 => flatten_into(&inner, depth - 1, visited, flat)?,
            item => flat.push(item),
        }
    }
    Ok(())
}

fn distinct<'a>(list: &List<'a>) -> EvalResult<Value<'a>> {
    let mut seen: Vec<Value<'a>> = Vec::new();
    for item in list.iter() {
        let item = item?;
        if !seen.iter().any(|other| item.equals(other) == Ok(true)) {
            seen.push(item);
        }
    }
    Ok(Value::list(seen))
}

fn sort<'a>(items: Vec<Value<'a>>, keys: Vec<Value<'a>>) -> EvalResult<Value<'a>> {
    let Some(first) = keys.first() else { return Ok(Value::list(items)) };
    let name = first.type_name();
    if keys.iter().any(|key| key.type_name() != name) {
        return Err(EvalError::new("list elements must have the same type"));
    }
    first.compare(first).map_err(|_| EvalError::new("list elements must be comparable"))?;
    let mut pairs: Vec<_> = keys.into_iter().zip(items).collect();
    pairs.sort_by(|(left, _), (right, _)| left.compare(right).unwrap_or(Ordering::Equal));
    Ok(Value::list(pairs.into_iter().map(|(_, item)| item).collect()))
}

fn optional_item<'a>(item: Option<EvalResult<Value<'a>>>) -> EvalResult<Value<'a>> {
    Ok(item.transpose()?.map_or(Value::Optional(None), Value::some))
}
