//! What may be written: every keyword in its place, with its Go tag and its meaning, for error messages and `explain`.

mod fields;
mod genclient;
mod k8s;
mod macros;
mod schema;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

pub(crate) use k8s::COLUMN;
pub(crate) use schema::{SCHEMA_EACH, SCHEMA_FIELD, SCHEMA_TYPE};

/// Where keywords are written.
pub(crate) struct Place {
    /// The attribute or macro; inside of a keyword's parentheses, that keyword.
    pub(crate) name: &'static str,
    /// Whether it is inside of a keyword's parentheses.
    pub(crate) nested: bool,
    /// How it is written, and on what.
    pub(crate) title: &'static str,
    /// What may be written there.
    pub(crate) keywords: &'static [Keyword],
}

/// What may be written in one place.
pub(crate) struct Keyword {
    pub(crate) word: &'static str,
    /// How it is written.
    pub(crate) form: &'static str,
    /// The words it takes, if it takes only some.
    pub(crate) values: fn() -> Vec<&'static str>,
    /// The tags and markers of the Go tools that say the same.
    pub(crate) go_tags: &'static [&'static str],
    pub(crate) meaning: &'static str,
    /// Its default, what it excludes, what it asks for; empty if there is nothing to know.
    pub(crate) rule: &'static str,
    /// How it looks in its place.
    pub(crate) example: &'static str,
}

/// What a row of the table does not say.
const UNSAID: Keyword =
    Keyword { word: "", form: "", values: Vec::new, go_tags: &[], meaning: "", rule: "", example: "" };

/// `crate = path`, the same in every place but for the example.
const fn krate(example: &'static str) -> Keyword {
    Keyword {
        word: "crate",
        form: "crate = path",
        meaning: "Where `logger_core` is, if it has another name in this crate.",
        example,
        ..UNSAID
    }
}

/// Every place, in the order in which people read of them.
pub(crate) const PLACES: [&Place; 32] = [
    &macros::DERIVES,
    &macros::ATTRIBUTES,
    &macros::MACROS,
    &genclient::GENCLIENT,
    &genclient::METHOD,
    &genclient::INDEX,
    &k8s::K8S,
    &k8s::SUBRESOURCE,
    &k8s::SCALE,
    &k8s::METADATA,
    &k8s::LIFECYCLE,
    &COLUMN,
    &k8s::LIST,
    &schema::SCHEMA_TYPE,
    &schema::SCHEMA_FIELD,
    &schema::SCHEMA_EACH,
    &schema::RULE,
    &schema::FIELD_COLUMN,
    &schema::EXTERNAL,
    &fields::SERDE_ROOT,
    &fields::SERDE_FIELD,
    &macros::DEFAULTS,
    &fields::DEFAULT,
    &fields::DEEP_COPY,
    &fields::DEEP_COPY_FIELD,
    &fields::APPLY,
    &fields::APPLY_FIELD,
    &fields::SERDE_APPLIED,
    &fields::SERDE_APPLIED_FIELD,
    &macros::GROUP_VERSION,
    &macros::ADOPT,
    &macros::ADOPTED,
];

/// That this keyword is missing, and how it is written. `within` is the keyword in whose parentheses it belongs, if any.
pub(crate) fn missing(within: Option<&str>, word: &str) -> String {
    format!("missing `{}`", form(within, word).unwrap_or(word))
}

/// How this keyword is written, likewise.
pub(crate) fn expected(within: Option<&str>, word: &str) -> String {
    match form(within, word) {
        Some(form) if form == word => format!("expected `{form}` alone: it takes no value"),
        Some(form) => format!("expected `{form}`"),
        None => "expected a keyword, not a literal".to_owned(),
    }
}

fn form(within: Option<&str>, word: &str) -> Option<&'static str> {
    let is_there = |place: &&&Place| within.map_or(!place.nested, |within| place.nested && place.name == within);
    let keyword = |place: &&'static Place| place.keywords.iter().find(|keyword| keyword.word == word);
    PLACES.iter().filter(is_there).find_map(keyword).map(|keyword| keyword.form)
}

/// The whole table as data of `logger_core`'s.
pub(crate) fn expand() -> TokenStream {
    let places = PLACES;
    quote!(&[#(#places),*])
}

impl ToTokens for Place {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Place { name, nested: _, title, keywords } = self;
        tokens.extend(quote! {
            ::logger_core::grammar::Place { name: #name, title: #title, keywords: &[#(#keywords),*] }
        });
    }
}

impl ToTokens for Keyword {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Keyword { word, form, values, go_tags, meaning, rule, example } = self;
        let values = values();
        tokens.extend(quote! {
            ::logger_core::grammar::Keyword {
                word: #word,
                form: #form,
                values: &[#(#values),*],
                go_tags: &[#(#go_tags),*],
                meaning: #meaning,
                rule: #rule,
                example: #example,
            }
        });
    }
}
