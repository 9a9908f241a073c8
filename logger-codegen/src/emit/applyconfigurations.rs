//! `applyconfigurations/<group>.rs`: what server-side apply is told of a kind, typed and with all fields optional.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{Source, doc, modules, transplanted};
use crate::api::{Api, ClientKind, Group};
use crate::apply::{self, Alias, Configuration, Field, Root, Ty};
use crate::diagnostic::Diagnostics;

pub(super) fn sources(api: &Api, found: &mut Diagnostics) -> Vec<Source> {
    let groups: Vec<_> = api.applied_groups().collect();
    if groups.is_empty() {
        return Vec::new();
    }
    let docs = "Apply configurations, one module for each group and version.";
    let mut sources = vec![modules("applyconfigurations.rs", docs, &groups)];
    sources.extend(groups.into_iter().map(|group| self::group(group, found)));
    sources
}

/// The crate of the configurations of Kubernetes' own types.
pub(crate) fn kubernetes() -> Vec<Source> {
    let configurations = apply::kubernetes::configurations();
    let names = configurations.keys().map(|module| format_ident!("{module}"));
    let docs = "Apply configurations of Kubernetes' own types: those that operators embed, and kinds they often apply.";
    let root = vec![quote!(#(#[rustfmt::skip] pub mod #names;)*)];
    let module = |(module, configurations): (String, Vec<Configuration>)| {
        let docs = format!("Apply configurations of `{}`.", module.replace('_', "/"));
        let mut items = vec![imports(&configurations, false)];
        items.extend(configurations.iter().flat_map(configuration));
        (format!("{module}.rs"), docs, items)
    };
    let mut sources = vec![("lib.rs".to_owned(), docs.to_owned(), root)];
    sources.extend(configurations.into_iter().map(module));
    sources
}

fn group(group: &Group, found: &mut Diagnostics) -> Source {
    let (configurations, aliases) = apply::of_group(group, found);
    let allowed = super::allow_deprecated(&group.kinds).map(|allow| quote!(#![#allow]));
    let mut items: Vec<_> = allowed.into_iter().collect();
    items.extend([super::types(group), imports(&configurations, !aliases.is_empty())]);
    items.extend(configurations.iter().flat_map(configuration));
    items.extend(aliases.iter().map(alias));
    let docs = format!("Apply configurations of {}.", group.described());
    (format!("applyconfigurations/{}.rs", group.module), docs, items)
}

fn imports(configurations: &[Configuration], has_aliases: bool) -> TokenStream {
    let has_root = configurations.iter().any(|of| of.root.is_some());
    let fields = || configurations.iter().flat_map(|of| &of.fields);
    let extends = has_root || fields().any(|field| matches!(field.ty, Ty::List(_) | Ty::Map(_)));
    let maps = fields().any(|field| field.ty.has(&|ty| matches!(ty, Ty::Map(_)))).then(|| {
        quote!(
            use std::collections::BTreeMap;
        )
    });
    let nullable = fields().any(|field| field.ty.has(&|ty| matches!(ty, Ty::Nullable(_)))).then(|| {
        quote!(
            use logger_core::Nullable;
        )
    });
    let names = [
        (extends, quote!(self)),
        (has_root, quote!(ApiVersion)),
        (has_root, quote!(ApplyConfiguration)),
        (has_root, quote!(ExtractError)),
        (has_aliases, quote!(FieldOf)),
        (has_root, quote!(KindName)),
        (has_root, quote!(Metadata)),
    ];
    let names: Vec<_> = names.into_iter().filter(|(is_used, _)| *is_used).map(|(_, name)| name).collect();
    let apply = (!names.is_empty()).then(|| quote!(use logger_core::apply::{#(#names),*};));
    quote! {
        #maps
        #apply
        use logger_core::serde::{Deserialize, Serialize};
        #nullable
    }
}

fn configuration(of: &Configuration) -> Vec<TokenStream> {
    match &of.root {
        Some(root) => vec![definition(of, &root_fields(&root.ty)), root_builders(of, root), root_impl(of, root)],
        None => vec![definition(of, &quote!()), builders(of)],
    }
}

fn definition(of: &Configuration, before: &TokenStream) -> TokenStream {
    let name = &of.name;
    let docs = doc(&format!("Apply configuration of {}.\n\n{}", of.of, transplanted(&of.docs)));
    let default = of.root.is_none().then(|| quote!(Default,));
    let rename_all = of.rename_all.as_ref().map(|rule| quote!(, rename_all = #rule));
    let fields = of.fields.iter().map(|field| self::field(field, &of.of));
    quote! {
        #docs
        #[derive(Clone, Debug, #default PartialEq, Deserialize, Serialize)]
        #[serde(crate = "logger_core::serde" #rename_all)]
        pub struct #name {
            #before
            #(#fields)*
        }
    }
}

fn root_fields(kind: &TokenStream) -> TokenStream {
    quote! {
        #[serde(rename = "apiVersion")]
        api_version: ApiVersion<#kind>,
        kind: KindName<#kind>,
        /// Name, namespace, labels and so on.
        pub metadata: Metadata,
    }
}

fn field(field: &Field, of: &str) -> TokenStream {
    let (name, ty) = (&field.name, field.ty.held());
    let docs = match field.docs.as_str() {
        "" => doc(&format!("`{name}` of {of}.")),
        docs => doc(&transplanted(docs)),
    };
    let rename = field.rename.as_ref().map(|rename| quote!(rename = #rename,));
    match field.is_inline() {
        true => quote! {
            #docs
            #[serde(flatten)]
            pub #name: #ty,
        },
        false if matches!(field.ty, Ty::Nullable(_)) => quote! {
            #docs
            #[serde(#rename default, skip_serializing_if = "Nullable::is_absent")]
            pub #name: #ty,
        },
        false => quote! {
            #docs
            #[serde(#rename skip_serializing_if = "Option::is_none")]
            pub #name: Option<#ty>,
        },
    }
}

impl Field {
    /// Whether its own fields or entries stand among those of the struct: then it is always there, and may be empty.
    fn is_inline(&self) -> bool {
        self.flatten && matches!(self.ty, Ty::Configuration(_) | Ty::Map(_))
    }
}

fn builders(of: &Configuration) -> TokenStream {
    let (name, builders) = (&of.name, of.fields.iter().map(builder));
    quote! {
        impl #name {
            /// Nothing is set yet.
            pub fn new() -> Self {
                Self::default()
            }
            #(#builders)*
        }
    }
}

fn root_builders(of: &Configuration, root: &Root) -> TokenStream {
    let (name, builders, extracts) = (&of.name, of.fields.iter().map(builder), extracts(root));
    let fields = of.fields.iter().map(|field| {
        let name = &field.name;
        match field.is_inline() {
            true => quote!(#name: Default::default(),),
            false if matches!(field.ty, Ty::Nullable(_)) => quote!(#name: Nullable::Absent,),
            false => quote!(#name: None,),
        }
    });
    let constructor = match root.is_namespaced {
        true => quote! {
            /// Of the object of this name, in this namespace.
            pub fn new(name: impl Into<String>, namespace: impl Into<String>) -> Self {
                Self::from_metadata(Metadata::namespaced(name, namespace))
            }
        },
        false => quote! {
            /// Of the object of this name.
            pub fn new(name: impl Into<String>) -> Self {
                Self::from_metadata(Metadata::cluster(name))
            }
        },
    };
    let of_metadata =
        METADATA_MAPS.iter().filter(|word| !of.fields.iter().any(|field| field.name == **word)).map(|word| {
            let (name, builder) = (format_ident!("{word}"), format_ident!("with_{word}"));
            let docs = doc(&format!("Merges these into the {word}."));
            quote! {
                #docs
                pub fn #builder(
                    mut self,
                    #name: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
                ) -> Self {
                    apply::merge(&mut self.metadata.#name, #name);
                    self
                }
            }
        });
    quote! {
        impl #name {
            #constructor
            /// Of the object that the metadata name.
            pub fn from_metadata(metadata: Metadata) -> Self {
                Self {
                    api_version: ApiVersion::default(),
                    kind: KindName::default(),
                    metadata,
                    #(#fields)*
                }
            }
            #extracts
            #(#of_metadata)*
            #(#builders)*
        }
    }
}

/// What of the metadata has builders on the configuration itself.
const METADATA_MAPS: [&str; 2] = ["annotations", "labels"];

fn extracts(root: &Root) -> TokenStream {
    let ty = &root.ty;
    let through = root.subresources.iter().map(|subresource| {
        let extract = format_ident!("extract_{}", subresource.replace('-', "_"));
        let docs = doc(&format!("What this manager owns of an object, as it applied it through `{subresource}`."));
        quote! {
            #docs
            ///
            /// # Errors
            /// The object has no name, or what is owned of it is no configuration of this kind.
            pub fn #extract(object: &#ty, manager: &str) -> Result<Self, ExtractError> {
                Self::extract_from(object, manager, Some(#subresource))
            }
        }
    });
    quote! {
        /// What this manager owns of an object, as it applied it: to be changed and applied again.
        ///
        /// # Errors
        /// The object has no name, or what is owned of it is no configuration of this kind.
        pub fn extract(object: &#ty, manager: &str) -> Result<Self, ExtractError> {
            Self::extract_from(object, manager, None)
        }
        #(#through)*
    }
}

fn root_impl(of: &Configuration, root: &Root) -> TokenStream {
    let (name, ty) = (&of.name, &root.ty);
    quote! {
        impl ApplyConfiguration for #name {
            type Kind = #ty;

            fn metadata(&self) -> &Metadata {
                &self.metadata
            }
        }
    }
}

fn builder(field: &Field) -> TokenStream {
    let name = &field.name;
    let word = name.to_string();
    let word = word.trim_start_matches("r#");
    let builder = format_ident!("with_{word}");
    let (says, argument, body) = match &field.ty {
        Ty::Configuration(ty) if field.is_inline() => ("Sets", quote!(#ty), quote!(self.#name = #name;)),
        Ty::Text => ("Sets", quote!(impl Into<String>), quote!(self.#name = Some(#name.into());)),
        Ty::Whole(ty) | Ty::Configuration(ty) => ("Sets", quote!(#ty), quote!(self.#name = Some(#name);)),
        Ty::Nullable(_) => {
            let ty = field.ty.held();
            ("Sets, to a value or to null,", quote!(impl Into<#ty>), quote!(self.#name = #name.into();))
        }
        Ty::List(of) => {
            let item = of.argument();
            ("Appends to", quote!(impl IntoIterator<Item = #item>), quote!(apply::append(&mut self.#name, #name);))
        }
        Ty::Map(of) => {
            let value = of.argument();
            let entries = quote!(impl IntoIterator<Item = (impl Into<String>, #value)>);
            match field.is_inline() {
                true => ("Merges into", entries, quote!(apply::extend(&mut self.#name, #name);)),
                false => ("Merges into", entries, quote!(apply::merge(&mut self.#name, #name);)),
            }
        }
    };
    let docs = doc(&format!("{says} `{word}`."));
    quote! {
        #docs
        pub fn #builder(mut self, #name: #argument) -> Self {
            #body
            self
        }
    }
}

fn alias(alias: &Alias) -> TokenStream {
    let Alias { name, of, ty } = alias;
    let docs = doc(of);
    quote! {
        #docs
        pub type #name = #ty;
    }
}

impl Ty {
    /// The type of a field.
    fn held(&self) -> TokenStream {
        match self {
            Ty::Text => quote!(String),
            Ty::Whole(ty) | Ty::Configuration(ty) => ty.clone(),
            Ty::List(of) => {
                let of = of.held();
                quote!(Vec<#of>)
            }
            Ty::Map(of) => {
                let of = of.held();
                quote!(BTreeMap<String, #of>)
            }
            Ty::Nullable(of) => {
                let of = of.held();
                quote!(Nullable<#of>)
            }
        }
    }

    /// The type of an item or a value that a builder takes.
    fn argument(&self) -> TokenStream {
        match self {
            Ty::Text => quote!(impl Into<String>),
            other => other.held(),
        }
    }

    /// Whether it, or what is in it, is so.
    fn has(&self, is: &dyn Fn(&Ty) -> bool) -> bool {
        is(self)
            || match self {
                Ty::List(of) | Ty::Map(of) | Ty::Nullable(of) => of.has(is),
                Ty::Text | Ty::Whole(_) | Ty::Configuration(_) => false,
            }
    }
}

/// The name of a kind's configuration, from another module of the client.
pub(super) fn path_of(group: &Group, kind: &ClientKind) -> TokenStream {
    let (module, name) = (group.ident(), kind.type_named("Apply"));
    quote!(crate::applyconfigurations::#module::#name)
}

impl Api {
    /// The groups with an apply configuration for one of their kinds at least.
    pub(crate) fn applied_groups(&self) -> impl Iterator<Item = &Group> {
        self.client_groups().filter(|group| group.kinds.iter().any(apply::has_configuration))
    }
}
