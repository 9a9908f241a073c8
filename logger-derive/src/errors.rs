//! The errors of one expansion: all are collected, each on its token and with a suggestion.

use proc_macro2::TokenStream;
use quote::ToTokens;

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

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns one `compile_error!` for each error.
    pub(crate) fn into_compile_errors(self) -> TokenStream {
        self.0.iter().map(syn::Error::to_compile_error).collect()
    }
}
