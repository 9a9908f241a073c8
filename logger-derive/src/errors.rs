//! The errors of one expansion: all are collected, each on its token, each with the way out.

use darling::ast::NestedMeta;
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

use crate::grammar;

/// Every mistake found so far.
#[derive(Default)]
pub(crate) struct Errors(Vec<syn::Error>);

impl Errors {
    /// Notes a mistake on these tokens.
    pub(crate) fn push(&mut self, at: impl ToTokens, message: impl std::fmt::Display) {
        self.0.push(syn::Error::new_spanned(at, message));
    }

    /// Notes mistakes that were found elsewhere.
    pub(crate) fn extend(&mut self, error: syn::Error) {
        self.0.extend(error);
    }

    /// Notes what darling found wrong with a keyword.
    pub(crate) fn refuse(&mut self, item: Option<&NestedMeta>, error: darling::Error) {
        let found: Vec<_> = error.flatten().into_iter().collect();
        // What is misspelt is missing too, but that is the same mistake.
        let misspelt = found.iter().any(|error| error.to_string().starts_with("Unknown field"));
        self.0.extend(
            found
                .into_iter()
                .filter(|error| !misspelt || !error.to_string().starts_with("Missing"))
                .map(|error| reword(item, &error)),
        );
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One `compile_error!` for each mistake.
    pub(crate) fn into_compile_errors(self) -> TokenStream {
        self.0.iter().map(syn::Error::to_compile_error).collect()
    }
}

/// Says in our words what darling found. Its own text ends in the path of the keyword: `.. at printcolumn[0]/name`.
fn reword(item: Option<&NestedMeta>, error: &darling::Error) -> syn::Error {
    let text = error.to_string();
    let (text, path) = text.rsplit_once(" at ").unwrap_or((&text, ""));
    let mut path = path.rsplit('/').filter_map(|segment| segment.split('[').next()).filter(|word| !word.is_empty());
    let (keyword, within) = (path.next(), path.next());
    let expected = || grammar::expected(within, keyword.unwrap_or_default());
    let unparsed = matches!(item, Some(NestedMeta::NameValueInvalidExpr(_)));
    let message = match text.split_once(' ') {
        Some(("Unknown", rest)) if rest.starts_with("field") => unknown(rest, error),
        Some(("Duplicate", rest)) => format!("{}: given twice; keep one", rest.trim_start_matches("field ")),
        Some(("Missing", rest)) => grammar::missing(keyword, rest.trim_start_matches("field ").trim_matches('`')),
        Some(("Unexpected" | "Unknown", _)) => expected(),
        _ if unparsed => expected(),
        _ => text.to_owned(),
    };
    match (item, error.explicit_span()) {
        (_, Some(span)) if !unparsed => syn::Error::new(span, message),
        (Some(item), _) => syn::Error::new_spanned(item, message),
        (None, span) => syn::Error::new(span.unwrap_or_else(Span::call_site), message),
    }
}

fn unknown(rest: &str, error: &darling::Error) -> String {
    let text = rest
        .replace("field: ", "unknown keyword ")
        .replace(". Did you mean", "; did you mean")
        .replace(". Available values: ", "; expected one of ");
    if !text.contains(';') {
        return format!("{text}; {}", all_keywords(error));
    }
    match text.contains(", ") {
        true => text,
        false => text.replace("expected one of", "expected"),
    }
}

/// The keywords that there are. darling knows them all, but tells nine at most.
fn all_keywords(error: &darling::Error) -> String {
    const READABLE: usize = 16;
    let known = format!("{error:?}");
    let alternatives = known.split_once("alts: {").and_then(|(_, rest)| rest.split_once('}')).map(|(words, _)| words);
    let mut words: Vec<_> =
        alternatives.into_iter().flat_map(|words| words.split(", ")).map(|word| word.trim_matches('"')).collect();
    words.sort_unstable();
    match words.len() {
        1..=READABLE => {
            format!("expected one of {}", words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "))
        }
        _ => "`cargo xtask codegen explain` tells of all there are".to_owned(),
    }
}
