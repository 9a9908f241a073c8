//! The format strings of `string.format` (`ext/formatting.go` of cel-go).

/// A formatting clause: what follows a `%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clause {
    String,
    Decimal,
    /// `%f` with a precision: the number of digits after the decimal point.
    Fixed(usize),
    /// `%e` with a precision.
    Scientific(usize),
    Binary,
    Hex {
        upper: bool,
    },
    Octal,
}

/// The precision of a clause without one.
const DEFAULT_PRECISION: usize = 6;
/// The maximum precision.
const MAX_PRECISION: usize = 1000;

impl Clause {
    /// The error for an argument whose type the clause does not support.
    pub(crate) fn unsupported_type(self, given: &str) -> String {
        let constraint = match self {
            Clause::String => {
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, \
                 durations, and timestamps"
            }
            Clause::Decimal => "decimal clause can only be used on integers",
            Clause::Fixed(_) => "fixed-point clause can only be used on doubles",
            Clause::Scientific(_) => "scientific clause can only be used on doubles",
            Clause::Binary => "only integers and bools can be formatted as binary",
            Clause::Hex { .. } => "only integers, byte buffers, and strings can be formatted as hex",
            Clause::Octal => "octal clause can only be used on integers",
        };
        format!("{constraint}, was given {given}")
    }
}

pub(crate) enum FormatError<E> {
    /// The format string is invalid.
    Syntax(String),
    /// A clause cannot format its argument.
    Clause(E),
}

/// Replaces each clause of a format string by the output of `format_clause` for the clause and the index of its
/// argument.
pub(crate) fn format<E>(
    text: &str,
    arg_count: usize,
    mut format_clause: impl FnMut(Clause, usize) -> Result<String, E>,
) -> Result<String, FormatError<E>> {
    let mut output = String::with_capacity(text.len());
    let mut rest = text;
    let mut index = 0;
    while let Some(at) = rest.find('%') {
        output.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            output.push('%');
            rest = after;
            continue;
        }
        if index >= arg_count {
            return Err(FormatError::Syntax(format!("index {index} out of range")));
        }
        if rest.is_empty() {
            return Err(FormatError::Syntax("unexpected end of string".to_owned()));
        }
        let (clause, after) =
            clause(rest).map_err(|error| FormatError::Syntax(format!("could not parse formatting clause: {error}")))?;
        output.push_str(&format_clause(clause, index).map_err(FormatError::Clause)?);
        rest = after;
        index += 1;
    }
    output.push_str(rest);
    Ok(output)
}

fn clause(text: &str) -> Result<(Clause, &str), String> {
    let (precision, text) = precision(text).map_err(|error| format!("error while parsing precision: {error}"))?;
    let mut chars = text.chars();
    let precision = precision.unwrap_or(DEFAULT_PRECISION);
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
