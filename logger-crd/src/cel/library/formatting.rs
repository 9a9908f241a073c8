//! The format strings of `format`: what their clauses are, and what each shows.

use crate::cel::types::Type;

/// What follows a `%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cel) enum Clause {
    String,
    Decimal,
    /// With so many digits after the point.
    Fixed(usize),
    Scientific(usize),
    Binary,
    Hex {
        upper: bool,
    },
    Octal,
}

/// Digits after the point where a clause says none.
const PRECISION: usize = 6;
/// The most digits after the point.
const MAX_PRECISION: usize = 1000;

impl Clause {
    /// What is said of a value of another type than it shows.
    pub(in crate::cel) fn refuse(self, given: &str) -> String {
        let rule = match self {
            Clause::String => {
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and \
                 timestamps"
            }
            Clause::Decimal => "decimal clause can only be used on integers",
            Clause::Fixed(_) => "fixed-point clause can only be used on doubles",
            Clause::Scientific(_) => "scientific clause can only be used on doubles",
            Clause::Binary => "only integers and bools can be formatted as binary",
            Clause::Hex { .. } => "only integers, byte buffers, and strings can be formatted as hex",
            Clause::Octal => "octal clause can only be used on integers",
        };
        format!("{rule}, was given {given}")
    }
}

/// Why nothing is shown: the text is no format, or a clause does not fit its value.
pub(in crate::cel) enum Failure<E> {
    Text(String),
    Clause(E),
}

/// A text with each clause replaced by what `show` makes of it and the index of its argument.
pub(in crate::cel) fn format<E>(
    text: &str,
    arguments: usize,
    mut show: impl FnMut(Clause, usize) -> Result<String, E>,
) -> Result<String, Failure<E>> {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    let mut index = 0;
    while let Some(at) = rest.find('%') {
        shown.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            shown.push('%');
            rest = after;
            continue;
        }
        if index >= arguments {
            return Err(Failure::Text(format!("index {index} out of range")));
        }
        if rest.is_empty() {
            return Err(Failure::Text("unexpected end of string".to_owned()));
        }
        let (clause, after) =
            clause(rest).map_err(|error| Failure::Text(format!("could not parse formatting clause: {error}")))?;
        shown.push_str(&show(clause, index).map_err(Failure::Clause)?);
        rest = after;
        index += 1;
    }
    shown.push_str(rest);
    Ok(shown)
}

fn clause(text: &str) -> Result<(Clause, &str), String> {
    let (precision, text) = precision(text).map_err(|error| format!("error while parsing precision: {error}"))?;
    let mut chars = text.chars();
    let precision = precision.unwrap_or(PRECISION);
    let clause = match chars.next() {
        Some('s') => Clause::String,
        Some('d') => Clause::Decimal,
        Some('f') => Clause::Fixed(precision),
        Some('e') => Clause::Scientific(precision),
        Some('b') => Clause::Binary,
        Some('x') => Clause::Hex { upper: false },
        Some('X') => Clause::Hex { upper: true },
        Some('o') => Clause::Octal,
        other => return Err(format!("unrecognized formatting clause \"{}\"", other.unwrap_or_default())),
    };
    Ok((clause, chars.as_str()))
}

fn precision(text: &str) -> Result<(Option<usize>, &str), String> {
    let Some(digits) = text.strip_prefix('.') else { return Ok((None, text)) };
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    if length == digits.len() {
        return Err("could not find end of precision specifier".to_owned());
    }
    let (digits, rest) = digits.split_at(length);
    match digits.parse::<usize>() {
        Ok(precision) if precision <= MAX_PRECISION => Ok((Some(precision), rest)),
        _ => Err(format!(
            "error while converting precision to integer: strconv.Atoi: parsing {digits:?}: invalid syntax"
        )),
    }
}

/// The name of a type without what is in it.
pub(in crate::cel) fn runtime_name(t: &Type) -> String {
    match t {
        Type::List(_) => "list".to_owned(),
        Type::Map(..) => "map".to_owned(),
        Type::Optional(_) => "optional_type".to_owned(),
        Type::OfTypes(_) => "type".to_owned(),
        Type::Null => "null_type".to_owned(),
        Type::Timestamp => "google.protobuf.Timestamp".to_owned(),
        Type::Duration => "google.protobuf.Duration".to_owned(),
        other => other.to_string(),
    }
}
