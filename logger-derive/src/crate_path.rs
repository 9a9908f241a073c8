//! The path of `kubewright_core` in the crate that is compiled: declared by the key `crate`, or found in its manifest.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use darling::ast::NestedMeta;
use kubewright_names::manifest::{self, Dependency, ManifestError};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Attribute, Expr, Meta, Path, Token, punctuated::Punctuated};

/// The attributes of types with the key `crate`.
const ATTRIBUTES: [&str; 5] = ["apply", "convert", "deep_copy", "k8s", "schema"];

type Found = Result<Dependency, ManifestError>;

/// Returns the path for all derives of a type: that of any of its attributes.
pub(crate) fn of_type(attrs: &[Attribute]) -> syn::Result<TokenStream> {
    let of_name = |name: &&str| attrs.iter().filter(|attr| attr.path().is_ident(name)).find_map(declared);
    crate_path(ATTRIBUTES.iter().find_map(of_name).as_ref())
}

/// Returns the declared path, or that of the dependency of the manifest.
pub(crate) fn crate_path(declared: Option<&Path>) -> syn::Result<TokenStream> {
    match (declared, std::env::var_os("CARGO_MANIFEST_DIR")) {
        (Some(path), _) => Ok(quote!(#path)),
        (None, Some(directory)) if !cfg!(test) => match found(PathBuf::from(directory).join("Cargo.toml")) {
            Ok(Dependency::Facade(name)) => {
                let name = format_ident!("{name}");
                Ok(quote!(::#name::core))
            }
            Ok(Dependency::Core(name)) => {
                let name = format_ident!("{name}");
                Ok(quote!(::#name))
            }
            Err(error) => Err(syn::Error::new(Span::call_site(), error)),
        },
        // Another build system than cargo.
        (None, _) => Ok(quote!(::kubewright::core)),
    }
}

/// Returns the path of the key `crate`. Errors in other keys are reported by the derives.
fn declared(attr: &Attribute) -> Option<Path> {
    let keys = attr.parse_args_with(Punctuated::<NestedMeta, Token![,]>::parse_terminated).ok()?;
    keys.into_iter().find_map(|key| match key {
        NestedMeta::Meta(Meta::NameValue(pair)) if pair.path.is_ident("crate") => match pair.value {
            Expr::Path(path) => Some(path.path),
            _ => None,
        },
        _ => None,
    })
}

/// Reads a manifest, once per process unless it changes.
fn found(manifest: PathBuf) -> Found {
    static READ: Mutex<BTreeMap<PathBuf, (SystemTime, Found)>> = Mutex::new(BTreeMap::new());
    let modified = manifest.metadata().and_then(|file| file.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    match read.get(&manifest) {
        Some((at, found)) if *at == modified => found.clone(),
        _ => {
            let found = manifest::dependency(&manifest);
            read.insert(manifest, (modified, found.clone()));
            found
        }
    }
}
