//! The sources of the client crate, one emitter per layer.

mod applyconfigurations;
mod clientset;
mod docs;
mod fake;
mod informers;
mod listers;
mod methods;
mod root;
mod scheme;
mod typed;

use std::collections::BTreeMap;

use docs::transplanted;
use proc_macro2::TokenStream;
use quote::quote;

use crate::Layout;
use crate::api::{Api, ClientKind, Group};
use crate::crd::{self, Definition};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::file::File;

/// A file of the client crate: path below its sources, module docs, items.
type Source = (String, String, Vec<TokenStream>);

/// All files of the client crate.
pub(crate) fn client(
    api: &Api,
    definitions: &BTreeMap<String, Definition>,
    layout: &Layout,
) -> Result<Vec<File>, Diagnostics> {
    let mut found = Diagnostics::default();
    let sources = [
        root::sources(api, layout),
        applyconfigurations::sources(api, &mut found),
        clientset::sources(api),
        fake::sources(layout),
        typed::sources(api, layout),
        listers::sources(api),
        informers::sources(api),
        scheme::sources(api),
    ];
    let mut files = files(sources.into_iter().flatten(), layout)?;
    if fake::is_wanted(layout) {
        let path = format!("{}/{}", layout.client_dir, fake::DEFINITIONS);
        files.push(crd::undescribed(path, definitions, layout)?);
    }
    found.or(files)
}

/// All files of the crate of Kubernetes' own apply configurations.
pub(crate) fn kubernetes(layout: &Layout) -> Result<Vec<File>, Diagnostics> {
    files(applyconfigurations::kubernetes(), layout)
}

fn files(sources: impl IntoIterator<Item = Source>, layout: &Layout) -> Result<Vec<File>, Diagnostics> {
    let file = |(path, docs, items): Source| {
        let path = format!("{}/{path}", layout.client_dir);
        File::rust(path.clone(), layout, &docs, items)
            .map_err(|error| Diagnostic { item: path, message: format!("a name is no Rust identifier: {error}") })
    };
    sources.into_iter().map(file).collect::<Result<_, _>>().map_err(Diagnostics::from)
}

/// The module of a group's kinds, under the name that generated code has for it.
fn types(group: &Group) -> TokenStream {
    let path = group.path();
    quote!(use #path as types;)
}

/// A resource as a pattern: its group, version and plural.
fn resource_pattern(group: &Group, kind: &ClientKind) -> TokenStream {
    let (name, version, plural) = (group.meta.group, group.meta.version, kind.meta.plural);
    quote!((#name, #version, #plural))
}

/// What names a kind is no use of it: where one of these is deprecated, rustc is told so.
fn allow_deprecated<'a>(kinds: impl IntoIterator<Item = &'a ClientKind>) -> Option<TokenStream> {
    kinds.into_iter().any(|kind| !kind.deprecated.is_empty()).then(|| quote!(allow(deprecated)))
}

/// Doc attributes, a line each.
fn doc(text: &str) -> TokenStream {
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
    quote!(#(#[doc = #lines])*)
}

/// The file that declares one module for each group.
fn modules(path: &str, docs: &str, groups: &[&Group]) -> Source {
    let modules = groups.iter().map(|group| group.ident());
    (path.to_owned(), docs.to_owned(), vec![quote!(#(pub mod #modules;)*)])
}
