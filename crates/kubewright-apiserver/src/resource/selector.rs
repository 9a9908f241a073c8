//! Label and field selectors of lists and watches.

mod fields;
mod label_selector;

use std::collections::{BTreeMap, BTreeSet};

use kubewright_names::validation;

use crate::{
    api::{
        error::{ApiError, Result},
        kind::Kind,
        object::Object,
    },
    resource::strategy::Strategy,
    wire::request::Query,
};

use fields::Term;
pub(crate) use label_selector::{matches, selects, to_text};

/// A label selector and a field selector, both of which an object must match.
#[derive(Debug, Default)]
pub(crate) struct Selector {
    labels: Vec<Requirement>,
    fields: Vec<Term>,
}

impl Selector {
    /// Parses `labelSelector` and `fieldSelector` of a query.
    pub(crate) fn from_query(query: &Query, kind: &Kind, strategy: &Strategy) -> Result<Self> {
        let labels = query.get("labelSelector").map(parse_labels).transpose().map_err(ApiError::bad_request)?;
        let fields = query
            .get("fieldSelector")
            .map(|text| fields::parse(text, kind, strategy))
            .transpose()
            .map_err(ApiError::bad_request)?;
        Ok(Self { labels: labels.unwrap_or_default(), fields: fields.unwrap_or_default() })
    }

    /// Returns whether the selector is empty and matches every object.
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    pub(crate) fn matches(&self, object: &Object) -> bool {
        let none = BTreeMap::new();
        let labels = object.metadata.labels.as_ref().unwrap_or(&none);
        self.labels.iter().all(|requirement| requirement.matches(labels))
            && self.fields.iter().all(|term| term.matches(object))
    }
}

/// One comma-separated part of a label selector.
#[derive(Debug, PartialEq)]
struct Requirement {
    key: String,
    operator: Operator,
}

#[derive(Debug, PartialEq)]
enum Operator {
    Exists,
    DoesNotExist,
    In(BTreeSet<String>),
    /// Objects without the label match too.
    NotIn(BTreeSet<String>),
    GreaterThan(i64),
    LessThan(i64),
}

impl Requirement {
    fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.key);
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match &self.operator {
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::In(values) => value.is_some_and(|value| values.contains(value)),
            Operator::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Operator::GreaterThan(bound) => number().is_some_and(|number| number > *bound),
            Operator::LessThan(bound) => number().is_some_and(|number| number < *bound),
        }
    }
}

fn parse_labels(text: &str) -> Result<Vec<Requirement>, String> {
    let mut tokens = Tokens::new(text);
    let mut requirements = Vec::new();
    if tokens.peek().is_empty() {
        return Ok(requirements);
    }
    if tokens.peek() != "!" && !is_identifier(tokens.peek()) {
        return Err(tokens.expected("!, identifier, or 'end of string'"));
    }
    loop {
        requirements.push(requirement(&mut tokens).map_err(|error| format!("unable to parse requirement: {error}"))?);
        match tokens.peek() {
            "" => return Ok(requirements),
            "," => tokens.advance(),
            _ => return Err(tokens.expected("',' or 'end of string'")),
        }
        if tokens.peek() != "!" && !is_identifier(tokens.peek()) {
            return Err(tokens.expected("identifier after ','"));
        }
    }
}

fn requirement(tokens: &mut Tokens) -> Result<Requirement, String> {
    let negated = tokens.peek() == "!";
    if negated {
        tokens.advance();
    }
    let key = tokens.identifier()?;
    reject_invalid("<nil>", &key, validation::label_key(&key))?;
    let operator = if negated {
        Operator::DoesNotExist
    } else if matches!(tokens.peek(), "" | ",") {
        Operator::Exists
    } else {
        comparison(tokens)?
    };
    if let Operator::In(values) | Operator::NotIn(values) = &operator {
        for (index, value) in values.iter().enumerate() {
            reject_invalid(&format!("values[{index}][{key}]"), value, validation::label_value(value))?;
        }
    }
    Ok(Requirement { key, operator })
}

/// Returns the validation messages as one error.
fn reject_invalid(field: &str, text: &str, messages: Vec<String>) -> Result<(), String> {
    let errors: Vec<String> =
        messages.iter().map(|message| format!("{field}: Invalid value: {text:?}: {message}")).collect();
    match errors.as_slice() {
        [] => Ok(()),
        [error] => Err(error.clone()),
        several => Err(format!("[{}]", several.join(", "))),
    }
}

fn comparison(tokens: &mut Tokens) -> Result<Operator, String> {
    let operator = tokens.peek().to_owned();
    if !matches!(operator.as_str(), "in" | "notin" | "=" | "==" | "!=" | ">" | "<") {
        return Err(tokens.expected("in, notin, =, ==, !=, gt, lt"));
    }
    tokens.advance();
    Ok(match operator.as_str() {
        "in" => Operator::In(value_list(tokens)?),
        "notin" => Operator::NotIn(value_list(tokens)?),
        "!=" => Operator::NotIn([exact_value(tokens)?].into()),
        ">" => Operator::GreaterThan(number(&exact_value(tokens)?)?),
        "<" => Operator::LessThan(number(&exact_value(tokens)?)?),
        _ => Operator::In([exact_value(tokens)?].into()),
    })
}

fn exact_value(tokens: &mut Tokens) -> Result<String, String> {
    if matches!(tokens.peek(), "" | ",") { Ok(String::new()) } else { tokens.identifier() }
}

fn number(value: &str) -> Result<i64, String> {
    value.parse().map_err(|_| {
        format!("values[0]: Invalid value: {value:?}: for 'Gt', 'Lt' operators, the value must be an integer")
    })
}

/// Parses `(a, b)`. Empty items are empty values.
fn value_list(tokens: &mut Tokens) -> Result<BTreeSet<String>, String> {
    if tokens.peek() != "(" {
        return Err(format!("found '{}' expected: '('", tokens.peek()));
    }
    tokens.advance();
    let mut values = BTreeSet::new();
    loop {
        values.insert(if matches!(tokens.peek(), "," | ")") { String::new() } else { tokens.identifier()? });
        match tokens.peek() {
            ")" => break,
            "," => tokens.advance(),
            _ => return Err(tokens.expected("',' or ')'")),
        }
    }
    tokens.advance();
    Ok(values)
}

/// The identifiers and operators of a label selector. The end is the empty token.
struct Tokens {
    tokens: Vec<String>,
    next: usize,
}

impl Tokens {
    fn new(text: &str) -> Self {
        let mut tokens = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let length = token_length(rest);
            tokens.push(rest[..length].to_owned());
            rest = rest[length..].trim_start();
        }
        Self { tokens, next: 0 }
    }

    fn peek(&self) -> &str {
        self.tokens.get(self.next).map_or("", String::as_str)
    }

    fn advance(&mut self) {
        self.next += 1;
    }

    fn identifier(&mut self) -> Result<String, String> {
        if !is_identifier(self.peek()) {
            return Err(self.expected("identifier"));
        }
        let identifier = self.peek().to_owned();
        self.advance();
        Ok(identifier)
    }

    fn expected(&self, what: &str) -> String {
        format!("found '{}', expected: {what}", self.peek())
    }
}

fn token_length(text: &str) -> usize {
    const SYMBOLS: [&str; 9] = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];
    match SYMBOLS.iter().find(|symbol| text.starts_with(**symbol)) {
        Some(symbol) => symbol.len(),
        None => text.find(|c: char| c.is_whitespace() || "=!(),><".contains(c)).unwrap_or(text.len()),
    }
}

fn is_identifier(token: &str) -> bool {
    !token.is_empty() && !token.contains(['=', '!', '(', ')', ',', '>', '<'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(selector: &str, labels: &[(&str, &str)]) -> bool {
        let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        parse_labels(selector).unwrap().iter().all(|requirement| requirement.matches(&labels))
    }

    #[test]
    fn all_operators_of_label_selectors_are_supported() {
        let labels = [("app", "a"), ("tier", "web"), ("n", "7")];
        for yes in [
            "",
            "app",
            "!zone",
            "app=a",
            "app==a",
            "app!=b",
            "zone!=b",
            "app in (a, b)",
            "tier notin (db),app",
            "zone notin (x)",
            "n>6",
            "n<8",
            "zone notin ()",
        ] {
            assert!(matches(yes, &labels), "{yes}");
        }
        for no in ["zone", "!app", "app=b", "app!=a", "zone=", "app in (b,c)", "tier notin (web,db)", "n>7"] {
            assert!(!matches(no, &labels), "{no}");
        }
    }

    #[test]
    fn invalid_label_selectors_are_rejected_with_the_errors_of_the_real_server() {
        let cases = [
            ("a===", "unable to parse requirement: found '=', expected: identifier"),
            ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
            ("a foo b", "unable to parse requirement: found 'foo', expected: in, notin, =, ==, !=, gt, lt"),
            ("a=b c", "found 'c', expected: ',' or 'end of string'"),
            ("!a!", "found '!', expected: ',' or 'end of string'"),
        ];
        for (selector, message) in cases {
            assert_eq!(parse_labels(selector), Err(message.to_owned()));
        }
    }
}
