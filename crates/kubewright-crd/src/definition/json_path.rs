//! Simple JSON paths of printer columns and of the scale subresource.

use crate::field::{FieldError, Path};

/// Validates a path that is not empty. The server only validates that it starts with a dot.
pub(super) fn validate(json_path: &str, at: Path<'_>) -> Option<FieldError> {
    let is_valid = json_path.starts_with('.');
    (!is_valid).then(|| FieldError::invalid(at, json_path, "must be a simple json path starting with ."))
}

/// A segment of a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Segment {
    Field(String),
    /// One or more list items, by an index, a wildcard or a filter.
    Element,
}

/// Splits a path into segments. Returns `None` for syntax that cannot be resolved in a schema: recursive descent,
/// wildcards of fields, unions, or anything that is not valid.
pub(super) fn segments(path: &str) -> Option<Vec<Segment>> {
    let mut rest = path;
    let mut segments = Vec::new();
    while !rest.is_empty() {
        let (segment, after) =
            if let Some(name) = rest.strip_prefix('.') { field(name)? } else { brackets(rest.strip_prefix('[')?)? };
        segments.push(segment);
        rest = after;
    }
    Some(segments)
}

/// Parses a name, with `\` as the escape character.
fn field(text: &str) -> Option<(Segment, &str)> {
    let mut name = String::new();
    let mut chars = text.char_indices();
    let end = loop {
        match chars.next() {
            None => break text.len(),
            Some((index, '.' | '[')) => break index,
            Some((_, '\\')) => name.push(chars.next()?.1),
            Some((_, c)) if c.is_whitespace() || "*,]$@{}".contains(c) => return None,
            Some((_, c)) => name.push(c),
        }
    };
    (!name.is_empty()).then(|| (Segment::Field(name), &text[end..]))
}

/// Parses a quoted name, or an expression that selects list items, after the opening bracket.
fn brackets(text: &str) -> Option<(Segment, &str)> {
    if let Some(quote) = text.chars().next().filter(|c| ['\'', '"'].contains(c)) {
        let (name, rest) = text[1..].split_once(quote)?;
        return Some((Segment::Field(name.to_owned()), rest.strip_prefix(']')?));
    }
    let (mut quote, mut depth) = (None, 0);
    for (index, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') if depth == 0 => return Some((Segment::Element, &text[index + 1..])),
            (None, ']') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Segment, segments};

    #[test]
    fn paths_are_split_into_segments() {
        let field = |name: &str| Segment::Field(name.to_owned());
        for (path, expected) in [
            (".spec.size", Some(vec![field("spec"), field("size")])),
            (r".metadata.labels.a\.b/c", Some(vec![field("metadata"), field("labels"), field("a.b/c")])),
            (".spec['a.b']", Some(vec![field("spec"), field("a.b")])),
            (
                ".status.conditions[0].type",
                Some(vec![field("status"), field("conditions"), Segment::Element, field("type")]),
            ),
            (".a[?(@.type==\"x]\")].b", Some(vec![field("a"), Segment::Element, field("b")])),
            ("..size", None),
            (".spec.*", None),
            (".spec.", None),
            (".spec['a','b']", None),
            (".spec[0", None),
        ] {
            assert_eq!(segments(path), expected, "{path}");
        }
    }
}
