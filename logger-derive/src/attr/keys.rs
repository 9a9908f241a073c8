//! The keys of an attribute, compared with the grammar before darling converts their values.

use std::fmt::Display;

use darling::{FromMeta, ast::NestedMeta};
use quote::ToTokens;
use syn::{Meta, spanned::Spanned};

use crate::{
    errors::Errors,
    grammar::{self, AttributeKey, Section},
};

/// The maximum number of keys that a message lists: those of `#[k8s(..)]`, the longest readable list.
const READABLE: usize = 17;
/// The similarity of a name that is suggested, as darling and clap have it.
const SIMILAR: f64 = 0.8;
/// Encloses the messages of this crate in errors of darling, which have no public kinds.
const WORDED: char = '\u{1}';

/// What is wrong with a key.
enum Key<'a> {
    Unknown(&'a str),
    Duplicate(&'a str),
    Missing(&'static str),
    /// A literal, or a value that is no expression.
    Expected(&'a str),
}

/// Parses the keys of a section: a rejected key is reported and skipped, the others still apply.
pub(crate) fn parse_keys<T: FromMeta + Default>(section: &Section, items: Vec<NestedMeta>, errors: &mut Errors) -> T {
    let mut accepted = Vec::new();
    for item in items {
        let mut rejected = Errors::default();
        compare(section, &item, &accepted, &mut rejected);
        if rejected.is_empty()
            && let Err(error) = T::from_list(std::slice::from_ref(&item))
        {
            error.flatten().into_iter().for_each(|error| rejected.extend(value_error(&item, &error)));
        }
        match rejected.is_empty() {
            true => accepted.push(item),
            false => errors.append(rejected),
        }
    }
    T::from_list(&accepted).unwrap_or_default()
}

/// Compares an item with the keys of the section, after others, and the items in its parentheses likewise.
fn compare(section: &Section, item: &NestedMeta, earlier: &[NestedMeta], errors: &mut Errors) {
    let name = name(item);
    let Some(known) = grammar::parsed_keys(section).find(|known| known.key == name) else {
        let wrong = if let NestedMeta::Lit(_) = item { Key::Expected("") } else { Key::Unknown(&name) };
        return errors.extend(wrong.error(section, item));
    };
    if !known.repeated && earlier.iter().any(|earlier| self::name(earlier) == name) {
        return errors.extend(Key::Duplicate(&name).error(section, item));
    }
    match item {
        NestedMeta::NameValueInvalidExpr(_) => errors.extend(Key::Expected(&name).error(section, item)),
        NestedMeta::Meta(Meta::List(list)) => {
            let Some(nested) = grammar::nested(known) else { return };
            match NestedMeta::parse_meta_list(list.tokens.clone()) {
                Ok(items) => {
                    let is_literal = |item: &&NestedMeta| matches!(item, NestedMeta::Lit(_));
                    let literals = items.iter().filter(is_literal);
                    literals.for_each(|item| errors.extend(Key::Expected(known.key).error(section, item)));
                    compare_list(nested, item, &items, errors);
                }
                Err(error) => errors.extend(error),
            }
        }
        NestedMeta::Meta(_) | NestedMeta::Lit(_) => {}
    }
}

/// Compares the items in the parentheses of another one.
fn compare_list(section: &Section, list: &NestedMeta, items: &[NestedMeta], errors: &mut Errors) {
    let keys = items.iter().enumerate().filter(|(_, item)| !matches!(item, NestedMeta::Lit(_)));
    keys.for_each(|(i, item)| compare(section, item, &items[..i], errors));
    // A misspelt key is also missing; both are the same error.
    let is_misspelt = |item: &NestedMeta| grammar::parsed_keys(section).all(|known| known.key != name(item));
    let is_missing = |known: &&AttributeKey| known.required && items.iter().all(|item| name(item) != known.key);
    for missing in section.keys.iter().filter(is_missing).filter(|_| !items.iter().any(is_misspelt)) {
        errors.extend(Key::Missing(missing.key).error(section, list));
    }
}

impl Key<'_> {
    fn error(&self, section: &Section, item: &NestedMeta) -> syn::Error {
        let within = section.nested.then_some(section.name);
        let message = match self {
            Key::Unknown(name) => unknown(section, name),
            Key::Duplicate(name) => format!("duplicate `{name}`; keep one"),
            Key::Missing(name) => grammar::missing(within, name),
            Key::Expected(name) => grammar::expected(within, name),
        };
        match item {
            NestedMeta::NameValueInvalidExpr(_) => syn::Error::new_spanned(item, message),
            item => syn::Error::new(item.span(), message),
        }
    }
}

fn unknown(section: &Section, name: &str) -> String {
    let mut keys: Vec<&str> = grammar::parsed_keys(section).map(|known| known.key).collect();
    if let Some(similar) = most_similar(name, &keys) {
        return format!("unknown key `{name}`; did you mean `{similar}`?");
    }
    if let Some(other) = other_attribute(section, name) {
        return format!("unknown key `{name}` of `#[{}(..)]`; it is a key of `#[{other}(..)]`", section.name);
    }
    keys.sort_unstable();
    let quoted: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    match quoted.len() {
        1 => format!("unknown key `{name}`; expected {}", quoted[0]),
        2..=READABLE => format!("unknown key `{name}`; expected one of {}", quoted.join(", ")),
        _ => format!("unknown key `{name}`; run `cargo xtask codegen explain` for all of them"),
    }
}

fn most_similar<'a>(name: &str, keys: &[&'a str]) -> Option<&'a str> {
    let similarities = keys.iter().map(|key| (strsim::jaro_winkler(name, key), *key));
    let similar = similarities.filter(|(similarity, _)| *similarity > SIMILAR);
    let similar = similar.max_by(|(left, _), (right, _)| left.total_cmp(right)).map(|(_, key)| key);
    // The key can be a word of the name, as `column` is of `printcolumn`.
    let contained =
        || keys.iter().copied().filter(|key| key.len() > 3 && name.contains(key)).max_by_key(|key| key.len());
    similar.or_else(contained)
}

/// Returns the name of another attribute that has the key.
fn other_attribute(section: &Section, name: &str) -> Option<&'static str> {
    let attributes = ["genclient", "k8s", "schema", "policy"];
    let others = grammar::SECTIONS.iter().filter(|other| {
        !section.nested && !other.nested && attributes.contains(&other.name) && other.name != section.name
    });
    others
        .filter(|_| attributes.contains(&section.name))
        .find(|other| other.keys.iter().any(|known| known.key == name))
        .map(|other| other.name)
}

/// Returns the name of a key; empty for a literal.
fn name(item: &NestedMeta) -> String {
    match item {
        NestedMeta::Meta(meta) => darling::util::path_to_string(meta.path()),
        NestedMeta::NameValueInvalidExpr(pair) => darling::util::path_to_string(&pair.path),
        NestedMeta::Lit(_) => String::new(),
    }
}

/// Returns an error with this message for a value.
pub(super) fn worded(message: impl Display) -> darling::Error {
    darling::Error::custom(format_args!("{WORDED}{message}{WORDED}"))
}

/// Returns the error of a value of an accepted key: a message of this crate, or else the syntax of the key.
///
/// darling ends its message with the path of that key, such as `printcolumn[0]/name`.
fn value_error(item: &NestedMeta, error: &darling::Error) -> syn::Error {
    let text = error.to_string();
    let message = match text.split(WORDED).nth(1) {
        Some(message) => message.to_owned(),
        None => {
            let path = text.rsplit(' ').next().unwrap_or_default();
            let mut path = path.rsplit('/').filter_map(|segment| segment.split('[').next());
            let (key, within) = (path.next().unwrap_or_default(), path.next());
            grammar::expected(within, key)
        }
    };
    match error.explicit_span() {
        Some(span) => syn::Error::new(span, message),
        None => syn::Error::new_spanned(item.to_token_stream(), message),
    }
}
