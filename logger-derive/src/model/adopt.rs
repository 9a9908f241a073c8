//! The kinds that `adopt!` lists.

use proc_macro2::{Span, TokenStream};
use syn::{Ident, Meta, Path};

use super::verbs::granted_verbs;
use crate::{
    attr::{
        self,
        adopt::{AdoptKeys, CustomResourceKeys},
    },
    errors::Errors,
    grammar::macros::ADOPTED,
};

/// The kinds that `adopt!` lists.
pub(crate) struct Adoption {
    /// The path of `kubewright_core`.
    pub(crate) krate: TokenStream,
    pub(crate) built_in: Vec<Path>,
    /// Built-in kinds with keys, which they cannot have.
    pub(crate) with_keys: Vec<Meta>,
    pub(crate) custom: Vec<CustomResource>,
    /// Built-in kinds that are listed as custom resources.
    pub(crate) misplaced: Vec<Path>,
}

/// A type of kube's derive, with its keys.
pub(crate) struct CustomResource {
    pub(crate) path: Path,
    pub(crate) keys: CustomResourceKeys,
}

impl Adoption {
    pub(crate) fn new(keys: AdoptKeys, krate: TokenStream, errors: &mut Errors) -> Self {
        let AdoptKeys { krate: _, built_in, custom_resources } = keys;
        let mut adoption =
            Adoption { krate, built_in: Vec::new(), with_keys: Vec::new(), custom: Vec::new(), misplaced: Vec::new() };
        for meta in built_in.0 {
            match meta {
                Meta::Path(path) => adoption.built_in.push(path),
                meta => adoption.with_keys.push(meta),
            }
        }
        for meta in custom_resources.0 {
            let custom = CustomResource::parse(meta, errors);
            match custom.path.segments.first().is_some_and(|first| first.ident == "k8s_openapi") {
                true => adoption.misplaced.push(custom.path),
                false => adoption.custom.push(custom),
            }
        }
        adoption
    }

    /// Whether no kind is listed.
    pub(crate) fn is_empty(&self) -> bool {
        let Adoption { krate: _, built_in, with_keys, custom, misplaced } = self;
        built_in.is_empty() && with_keys.is_empty() && custom.is_empty() && misplaced.is_empty()
    }

    /// Returns the kinds in the order in which they are listed.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        self.built_in.iter().chain(self.custom.iter().map(|kind| &kind.path))
    }

    /// Returns the kinds whose name an earlier kind has, each with that one.
    pub(crate) fn duplicates(&self) -> Vec<(&Path, &Path)> {
        let paths: Vec<&Path> = self.paths().collect();
        let earlier =
            |(i, path): (usize, &&Path)| paths[..i].iter().copied().find(|earlier| name(earlier) == name(path));
        let pairs = paths.iter().enumerate().map(|(i, path)| (*path, earlier((i, path))));
        pairs.filter_map(|(path, earlier)| Some((path, earlier?))).collect()
    }

    fn is_duplicate(&self, path: &Path) -> bool {
        self.duplicates().iter().any(|(duplicate, _)| std::ptr::eq(*duplicate, path))
    }

    /// Returns the first kind of each name.
    pub(crate) fn unique_paths(&self) -> Vec<&Path> {
        self.paths().filter(|path| !self.is_duplicate(path)).collect()
    }

    /// Returns the built-in kinds among them.
    pub(crate) fn unique_built_in(&self) -> Vec<&Path> {
        self.built_in.iter().filter(|path| !self.is_duplicate(path)).collect()
    }

    /// Returns the custom resources among them.
    pub(crate) fn unique_custom(&self) -> Vec<&CustomResource> {
        self.custom.iter().filter(|kind| !self.is_duplicate(&kind.path)).collect()
    }
}

impl CustomResource {
    fn parse(meta: Meta, errors: &mut Errors) -> Self {
        let (path, keys) = match meta {
            Meta::List(list) => {
                let items = attr::parse_items(list.tokens.clone(), errors);
                (list.path, attr::parse_keys(&ADOPTED, items, errors))
            }
            other => (other.path().clone(), CustomResourceKeys::default()),
        };
        CustomResource { path, keys }
    }

    pub(crate) fn has_status(&self) -> bool {
        self.keys.status.is_present()
    }

    /// Returns the marker traits of the granted verbs.
    pub(crate) fn verbs(&self) -> Vec<&'static str> {
        granted_verbs(&self.keys.genclient, self.has_status())
    }

    /// Whether a verb of the client requires that the kind has a status.
    pub(crate) fn has_status_verbs(&self) -> bool {
        granted_verbs(&self.keys.genclient, true) != granted_verbs(&self.keys.genclient, false)
    }
}

/// Returns the name of a type in the module of the macro.
pub(crate) fn name(path: &Path) -> String {
    path.segments.last().map_or_else(String::new, |last| last.ident.to_string())
}

/// Returns the span of that name, for the impls of the type.
pub(crate) fn name_span(path: &Path) -> Span {
    let span = Span::call_site();
    path.segments.last().map_or(span, |last| span.located_at(last.ident.span()))
}

/// Returns the name of a type that is already in this module: `Widget` or `self::Widget`.
pub(crate) fn local_name(path: &Path) -> Option<&Ident> {
    match path.segments.iter().collect::<Vec<_>>()[..] {
        [name] if path.leading_colon.is_none() => Some(&name.ident),
        [module, name] if module.ident == "self" => Some(&name.ident),
        _ => None,
    }
}
