//! The errors of one expansion: all are collected, each on its token and with a suggestion.

use darling::ast::NestedMeta;
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

use crate::grammar;

/// The errors found so far.
#[derive(Default)]
pub(crate) struct Errors(Vec<syn::Error>);

impl Errors {
    /// Adds an error on these tokens.
    pub(crate) fn push(&mut self, at: impl ToTokens, message: impl std::fmt::Display) {
        self.0.push(syn::Error::new_spanned(at, message));
    }

    /// Adds errors that were found elsewhere.
    pub(crate) fn extend(&mut self, error: syn::Error) {
        self.0.extend(error);
    }

    /// Adds other errors.
    pub(crate) fn append(&mut self, errors: Errors) {
        self.0.extend(errors.0);
    }

    /// Adds other errors, except for those on tokens that are already rejected.
    pub(crate) fn append_new(&mut self, errors: Errors) {
        let start = |error: &syn::Error| format!("{:?}", error.span());
        let rejected: Vec<_> = self.0.iter().map(start).collect();
        self.0.extend(errors.0.into_iter().filter(|error| !rejected.contains(&start(error))));
    }

    /// Adds the errors that darling found in a key.
    pub(crate) fn extend_from_darling(&mut self, item: Option<&NestedMeta>, error: darling::Error) {
        let found: Vec<_> = error.flatten().into_iter().collect();
        // A misspelt key is also reported as missing; both are the same error.
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

    /// Returns one `compile_error!` for each error.
    pub(crate) fn into_compile_errors(self) -> TokenStream {
        self.0.iter().map(syn::Error::to_compile_error).collect()
    }
}

/// Rewords an error of darling. Its own text ends in the path of the key: `.. at printcolumn[0]/name`.
fn reword(item: Option<&NestedMeta>, error: &darling::Error) -> syn::Error {
    let text = error.to_string();
    let (text, path) = text.rsplit_once(" at ").unwrap_or((&text, ""));
    let mut path = path.rsplit('/').filter_map(|segment| segment.split('[').next()).filter(|word| !word.is_empty());
    let (key, within) = (path.next(), path.next());
    let expected = || grammar::expected(within, key.unwrap_or_default());
    let unparsed = matches!(item, Some(NestedMeta::NameValueInvalidExpr(_)));
    let message = match text.split_once(' ') {
        Some(("Unknown", rest)) if rest.starts_with("field") => unknown(rest, error),
        Some(("Duplicate", rest)) => format!("duplicate {}; keep one", rest.trim_start_matches("field ")),
        Some(("Missing", rest)) => grammar::missing(key, rest.trim_start_matches("field ").trim_matches('`')),
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
        .replace("field: ", "unknown key ")
        .replace(". Did you mean", "; did you mean")
        .replace(". Available values: ", "; expected one of ");
    if !text.contains(';') {
        return format!("{text}; {}", all_keys(error));
    }
    match text.contains(", ") {
        true => text,
        false => text.replace("expected one of", "expected"),
    }
}

/// Lists all accepted keys. The message of darling has nine at most, its debug output all of them.
fn all_keys(error: &darling::Error) -> String {
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
        _ => "run `cargo xtask codegen explain` for all of them".to_owned(),
    }
}
