//! JSONPath of printer columns: fields, indices, slices, wildcards, recursive descent and filters.
//!
//! Paths have the semantics of kubectl: `.spec.list[-1:]`, `.metadata.annotations.example\.com/name`,
//! `.status.conditions[?(@.type=="Ready")].status`, `..name`. Missing fields have no value. An error, such as an index
//! out of range or a comparison of a number with a string, discards the complete result.

use std::cmp::Ordering;

use serde_json::Value;

/// The maximum number of values that a step finds: repeated recursive descents find the same values many times.
const MAX_MATCHES: usize = 1_000_000;
/// The maximum nesting of filters.
const MAX_FILTER_DEPTH: usize = 8;

/// A parsed path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Path(Vec<Step>);

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Field(String),
    /// All values of a map or items of a list.
    All,
    /// Recursive descent: the value and all maps and lists inside it.
    Descend,
    /// The items of a range.
    Slice {
        from: Option<i64>,
        to: Option<i64>,
        by: i64,
    },
    Index(i64),
    /// The concatenated results of several steps.
    Union(Vec<Step>),
    Filter {
        left: Path,
        operator: Option<(Operator, Operand)>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Literal(Value),
    Path(Path),
}

/// A step that does not apply to a value.
struct EvaluationError;

type Matches<'a> = Result<Vec<&'a Value>, EvaluationError>;

impl Path {
    /// Parses a path. Returns `None` for invalid syntax.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::parse_at(text, 0)
    }

    fn parse_at(text: &str, depth: usize) -> Option<Self> {
        let mut rest = text.trim();
        let mut steps = Vec::new();
        while !rest.is_empty() {
            rest = step(rest, depth, &mut steps)?;
        }
        Some(Self(steps))
    }

    /// Returns the first result.
    pub(crate) fn first<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.find(value).ok()?.first().copied()
    }

    fn find<'a>(&self, value: &'a Value) -> Matches<'a> {
        self.0.iter().try_fold(vec![value], |values, step| step.find(&values))
    }
}

/// Parses one step and returns the remaining text.
fn step<'t>(text: &'t str, depth: usize, steps: &mut Vec<Step>) -> Option<&'t str> {
    if let Some(rest) = text.strip_prefix("..") {
        steps.push(Step::Descend);
        return if rest.starts_with('[') { Some(rest) } else { field(rest, steps) };
    }
    if let Some(rest) = text.strip_prefix('[') {
        let (inside, rest) = bracketed(rest)?;
        steps.push(subscript(inside, depth)?);
        return Some(rest);
    }
    match text.strip_prefix('.') {
        // `.` alone is the value itself.
        Some(rest) if rest.is_empty() || rest.starts_with('[') => Some(rest),
        Some(rest) => field(rest, steps),
        None => None,
    }
}

/// Parses a field name, in which a backslash escapes the next character.
fn field<'t>(text: &'t str, steps: &mut Vec<Step>) -> Option<&'t str> {
    let mut name = String::new();
    let mut characters = text.char_indices();
    let mut end = text.len();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => name.push(characters.next()?.1),
            '.' | '[' | ' ' | '|' | '$' | '@' | '{' | '}' => {
                end = at;
                break;
            }
            other => name.push(other),
        }
    }
    steps.push(match name.as_str() {
        "" => return None,
        "*" => Step::All,
        _ => Step::Field(name),
    });
    Some(&text[end..])
}

/// Splits the text at the closing bracket.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match (quote, character) {
            _ if escaped => escaped = false,
            (_, '\\') => escaped = true,
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (None, '[') => depth += 1,
            (None, ']') if depth == 0 => return Some((&text[..at], &text[at + 1..])),
            (None, ']') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}

fn subscript(text: &str, depth: usize) -> Option<Step> {
    let text = text.trim();
    if let Some(filter) = text.strip_prefix("?(").and_then(|rest| rest.strip_suffix(')')) {
        return (depth < MAX_FILTER_DEPTH).then(|| self::filter(filter, depth + 1)).flatten();
    }
    if let Some(name) = quoted(text) {
        return Some(Step::Field(name));
    }
    let parts: Vec<&str> = text.split(',').collect();
    match parts.as_slice() {
        ["*"] => Some(Step::All),
        [position] => index(position),
        several => several.iter().map(|part| subscript(part, depth)).collect::<Option<_>>().map(Step::Union),
    }
}

fn index(text: &str) -> Option<Step> {
    let number = |text: &str| match text.trim() {
        "" => Some(None),
        text => text.parse().ok().map(Some),
    };
    let parts: Vec<Option<i64>> = text.split(':').map(number).collect::<Option<_>>()?;
    match parts.as_slice() {
        [Some(index)] => Some(Step::Index(*index)),
        [from, to] => Some(Step::Slice { from: *from, to: *to, by: 1 }),
        [from, to, by] => Some(Step::Slice { from: *from, to: *to, by: by.unwrap_or(1) }),
        _ => None,
    }
}

/// Parses a quoted string.
fn quoted(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let inside = text.get(1..)?.strip_suffix(quote)?;
    let mut plain = String::new();
    let mut characters = inside.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => plain.push(characters.next()?),
            other if other == quote => return None,
            other => plain.push(other),
        }
    }
    Some(plain)
}

fn filter(text: &str, depth: usize) -> Option<Step> {
    const OPERATORS: [(&str, Operator); 6] = [
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ];
    let found = OPERATORS.iter().filter_map(|(sign, operator)| Some((text.find(sign)?, *sign, *operator)));
    // The first operator in the text applies; of two at the same position, the longer.
    let first = found.min_by_key(|(at, sign, _)| (*at, std::cmp::Reverse(sign.len())));
    let path = |text: &str| Path::parse_at(text.trim().strip_prefix('@')?, depth);
    match first {
        None => Some(Step::Filter { left: path(text)?, operator: None }),
        Some((at, sign, operator)) => {
            let right = text[at + sign.len()..].trim();
            let literal = || quoted(right).map(Value::String).or_else(|| serde_json::from_str(right).ok());
            let operand = literal().map(Operand::Literal).or_else(|| path(right).map(Operand::Path))?;
            Some(Step::Filter { left: path(&text[..at])?, operator: Some((operator, operand)) })
        }
    }
}

impl Step {
    fn find<'a>(&self, values: &[&'a Value]) -> Matches<'a> {
        let mut found = Vec::new();
        for value in values {
            self.evaluate(value, &mut found)?;
            if found.len() > MAX_MATCHES {
                return Err(EvaluationError);
            }
        }
        Ok(found)
    }

    fn evaluate<'a>(&self, value: &'a Value, found: &mut Vec<&'a Value>) -> Result<(), EvaluationError> {
        match self {
            Self::Field(name) => found.extend(value.get(name)),
            Self::All => found.extend(children(value)),
            Self::Descend => descend(value, found),
            Self::Index(index) => found.extend(item(value, *index)?),
            Self::Slice { from, to, by } => found.extend(slice(value, *from, *to, *by)?),
            Self::Union(steps) => {
                return steps.iter().try_for_each(|step| {
                    step.evaluate(value, found)?;
                    if found.len() > MAX_MATCHES { Err(EvaluationError) } else { Ok(()) }
                });
            }
            Self::Filter { left, operator } => {
                for item in items(value)? {
                    if matches_filter(item, left, operator.as_ref())? {
                        found.push(item);
                    }
                }
            }
        }
        Ok(())
    }
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            fields.into_iter().map(|(_, value)| value).collect()
        }
        _ => Vec::new(),
    }
}

fn descend<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    if value.is_array() || value.is_object() {
        found.push(value);
        children(value).into_iter().for_each(|value| descend(value, found));
    }
}

/// Returns the items of a list. Null has none.
fn items(value: &Value) -> Result<&[Value], EvaluationError> {
    match value {
        Value::Array(items) => Ok(items),
        Value::Null => Ok(&[]),
        _ => Err(EvaluationError),
    }
}

fn item(value: &Value, index: i64) -> Result<Option<&Value>, EvaluationError> {
    let items = items(value)?;
    if value.is_null() {
        return Ok(None);
    }
    let index = if index < 0 { index + length(items) } else { index };
    usize::try_from(index).ok().and_then(|index| items.get(index)).map(Some).ok_or(EvaluationError)
}

fn slice(value: &Value, from: Option<i64>, to: Option<i64>, by: i64) -> Result<Vec<&Value>, EvaluationError> {
    let items = items(value)?;
    let position = |at: i64| {
        usize::try_from(if at < 0 { at + length(items) } else { at }.min(length(items))).map_err(|_| EvaluationError)
    };
    let (from, to) = (position(from.unwrap_or(0))?, position(to.unwrap_or(length(items)))?);
    let by = usize::try_from(by).ok().filter(|by| *by > 0).ok_or(EvaluationError)?;
    Ok(items.get(from..to).unwrap_or_default().iter().step_by(by).collect())
}

fn length(items: &[Value]) -> i64 {
    i64::try_from(items.len()).unwrap_or(i64::MAX)
}

fn matches_filter(item: &Value, left: &Path, operator: Option<&(Operator, Operand)>) -> Result<bool, EvaluationError> {
    let left = left.find(item)?;
    let Some((operator, operand)) = operator else {
        return Ok(!left.is_empty());
    };
    let right = match operand {
        Operand::Literal(value) => vec![value],
        Operand::Path(path) => path.find(item)?,
    };
    match (left.as_slice(), right.as_slice()) {
        ([], _) | (_, []) => Ok(false),
        ([left], [right]) => compare(left, right, *operator),
        _ => Err(EvaluationError),
    }
}

fn compare(left: &Value, right: &Value, operator: Operator) -> Result<bool, EvaluationError> {
    let order = match (left, right) {
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Number(left), Value::Number(right)) if left.is_f64() == right.is_f64() => {
            left.as_f64().partial_cmp(&right.as_f64()).ok_or(EvaluationError)?
        }
        (Value::Bool(left), Value::Bool(right)) if matches!(operator, Operator::Equal | Operator::NotEqual) => {
            left.cmp(right)
        }
        _ => return Err(EvaluationError),
    };
    Ok(match operator {
        Operator::Equal => order == Ordering::Equal,
        Operator::NotEqual => order != Ordering::Equal,
        Operator::Less => order == Ordering::Less,
        Operator::LessOrEqual => order != Ordering::Greater,
        Operator::Greater => order == Ordering::Greater,
        Operator::GreaterOrEqual => order != Ordering::Less,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn first(path: &str) -> Option<Value> {
        let value = json!({
            "list": ["x", "y", "z"], "one": 1, "deep": { "er": { "name": "down" } }, "a.b/c": "dotted",
            "items": [{ "n": 1, "name": "one" }, { "n": 2, "name": "two", "on": true }],
        });
        Path::parse(path).unwrap_or_else(|| panic!("{path} is not a path")).first(&value).cloned()
    }

    #[test]
    fn paths_return_the_results_of_kubectl() {
        for (path, found) in [
            (".one", json!(1)),
            (".list[0]", json!("x")),
            (".list[-1]", json!("z")),
            (".list[-1:]", json!("z")),
            (".list[1:2]", json!("y")),
            (".list[*]", json!("x")),
            (".list[2,0]", json!("z")),
            (".a\\.b/c", json!("dotted")),
            ("['a\\.b/c']", json!("dotted")),
            ("..name", json!("down")),
            (".items[?(@.n==2)].name", json!("two")),
            (".items[?(@.n>=2)].name", json!("two")),
            (".items[?(@.name!=\"one\")].n", json!(2)),
            (".items[?(@.name=='two')].n", json!(2)),
            (".items[?(@.on)].n", json!(2)),
            (".items[?(@.on==true)].n", json!(2)),
            (".deep.*.name", json!("down")),
            (".items[*].name", json!("one")),
        ] {
            assert_eq!(first(path), Some(found), "{path}");
        }
    }

    #[test]
    fn missing_fields_and_errors_have_no_result() {
        for path in
            [".none", ".one.more", ".list[7]", ".one[0]", ".items[?(@.n==\"2\")].name", ".list[::0]", ".none[0]"]
        {
            assert_eq!(first(path), None, "{path}");
        }
    }

    #[test]
    fn repeated_descents_that_find_too_much_have_no_result() {
        let deep = (0..100).fold(json!("x"), |inner, _| json!([inner]));
        let path = |descents: usize| Path::parse(&"..*".repeat(descents)).unwrap();
        assert!(path(2).first(&deep).is_some());
        assert_eq!(path(5).first(&deep), None);
    }

    #[test]
    fn invalid_paths_are_rejected() {
        for path in [".list[", ".list[x]", "spec", ".a..", ".list[?(n==1)]", ".list[1:2:3:4]", ".x\\"] {
            assert_eq!(Path::parse(path), None, "{path}");
        }
    }
}
