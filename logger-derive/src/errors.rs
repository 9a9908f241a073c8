//! The errors of one expansion: all are collected, each on its token, each with the way out.

use proc_macro2::TokenStream;
use quote::ToTokens;

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

    /// The value, or the fallback where darling found mistakes.
    pub(crate) fn accept<T: Default>(&mut self, result: darling::Result<T>) -> T {
        result.unwrap_or_else(|error| {
            self.0.extend(error.flatten().into_iter().map(reword));
            T::default()
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One `compile_error!` for each mistake.
    pub(crate) fn into_compile_errors(self) -> TokenStream {
        self.0.iter().map(syn::Error::to_compile_error).collect()
    }
}

/// Says in our words what darling found.
fn reword(error: darling::Error) -> syn::Error {
    let text = error.to_string();
    let span = error.span();
    let text = match text.split_once(' ') {
        Some(("Unknown", rest)) => rest
            .replace("field: ", "unknown keyword ")
            .replace(". Did you mean", "; did you mean")
            .replace(". Available values: ", "; expected one of "),
        Some(("Duplicate", rest)) => format!("{}: given twice; keep one", rest.trim_start_matches("field ")),
        Some(("Missing", rest)) => format!("missing {}", rest.replace("field", "keyword")),
        Some(("Unexpected", rest)) => format!("unexpected {rest}"),
        _ => text,
    };
    syn::Error::new(span, text)
}
