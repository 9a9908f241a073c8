//! `applyconfigurations/<group>.rs`: apply configurations, typed and with all fields optional.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{
    portable_docs::portable,
    source::{Source, allow_deprecated, doc, import_types},
};
use crate::{
    api::{Api, ClientKind, Group},
    apply::{self, Alias, Configuration, Field, FieldType, Root},
    diagnostic::Diagnostics,
};

/// The documentation of the crate of apply configurations of Kubernetes types.
const KUBERNETES_DOCS: &str = r#"Apply configurations of Kubernetes types: types that operators embed, and kinds that they often apply.

An apply configuration contains the fields that a controller sets, for server-side apply:

```
use kubewright_apply::core_v1::ConfigMapApply;

let data = [("level".to_owned(), "debug".to_owned())];
let configuration = ConfigMapApply::new("settings", "default").with_data(data);
assert_eq!(configuration.immutable, None);
assert_eq!(configuration.data.map(|data| data.len()), Some(1));
```"#;

pub(super) fn sources(api: &Api, errors: &mut Diagnostics) -> Vec<Source> {
    let groups: Vec<_> = apply::applied_groups(api).collect();
    if groups.is_empty() {
        return Vec::new();
    }
    let docs = "Apply configurations, one module for each group and version.";
    let mut sources = vec![Source::from_modules("applyconfigurations.rs", docs, &groups)];
    sources.extend(groups.into_iter().map(|group| self::group(group, errors)));
    sources
}

/// Returns the sources of the crate of apply configurations of Kubernetes types.
pub(super) fn kubernetes() -> Vec<Source> {
    let configurations = apply::kubernetes::configurations();
    let names = configurations.keys().map(|module| format_ident!("{module}"));
    let root = vec![quote!(#(#[rustfmt::skip] pub mod #names;)*)];
    let module = |(module, configurations): (String, Vec<Configuration>)| {
        let docs = format!("Apply configurations of `{}`.", module.replace('_', "/"));
        let mut items = vec![imports(&configurations, false)];
        items.extend(configurations.iter().flat_map(configuration));
        items.extend(
            configurations
                .iter()
                .filter(|configuration| configuration.name == "ConditionApply")
                .map(|_| condition_conversion()),
        );
        Source::new(format!("{module}.rs"), docs, items)
    };
    let mut sources = vec![Source::new("lib.rs", KUBERNETES_DOCS, root)];
    sources.extend(configurations.into_iter().map(module));
    sources
}

/// Returns the conversion of a condition, so that a computed condition can be applied.
fn condition_conversion() -> TokenStream {
    quote! {
        impl From<k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition> for ConditionApply {
            fn from(condition: k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition) -> Self {
                Self {
                    last_transition_time: Some(condition.last_transition_time),
                    message: Some(condition.message),
                    observed_generation: condition.observed_generation,
                    reason: Some(condition.reason),
                    status: Some(condition.status),
                    r#type: Some(condition.type_),
                }
            }
        }
    }
}

fn group(group: &Group, errors: &mut Diagnostics) -> Source {
    let (configurations, aliases) = apply::configurations_of_group(group, errors);
    let allowed = allow_deprecated(&group.kinds).map(|allow| quote!(#![#allow]));
    let mut items: Vec<_> = allowed.into_iter().collect();
    items.extend([import_types(group), imports(&configurations, !aliases.is_empty())]);
    items.extend(configurations.iter().flat_map(configuration));
    items.extend(aliases.iter().map(alias));
    let docs = format!("Apply configurations of {}.", group.described());
    Source::new(format!("applyconfigurations/{}.rs", group.module), docs, items)
}

fn imports(configurations: &[Configuration], has_aliases: bool) -> TokenStream {
    let has_root = configurations.iter().any(|configuration| configuration.root.is_some());
    let fields = || configurations.iter().flat_map(|configuration| &configuration.fields);
    let extends = has_root || fields().any(|field| matches!(field.ty, FieldType::List(_) | FieldType::Map(_)));
    let maps = fields().any(|field| field.ty.any(&|ty| matches!(ty, FieldType::Map(_)))).then(|| {
        quote!(
            use std::collections::BTreeMap;
        )
    });
    let nullable = fields().any(|field| field.ty.any(&|ty| matches!(ty, FieldType::Nullable(_)))).then(|| {
        quote!(
            use kubewright_core::Nullable;
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
    let apply = (!names.is_empty()).then(|| quote!(use kubewright_core::apply::{#(#names),*};));
    quote! {
        #maps
        #apply
        use kubewright_core::serde::{Deserialize, Serialize};
        #nullable
    }
}

fn configuration(configuration: &Configuration) -> Vec<TokenStream> {
    match &configuration.root {
        Some(root) => vec![
            definition(configuration, &root_fields(&root.ty)),
            root_builders(configuration, root),
            root_impl(configuration, root),
        ],
        None => vec![definition(configuration, &quote!()), builders(configuration)],
    }
}

fn definition(configuration: &Configuration, before: &TokenStream) -> TokenStream {
    let name = &configuration.name;
    let docs = doc(&format!("Apply configuration of {}.\n\n{}", configuration.target, portable(&configuration.docs)));
    let default = configuration.root.is_none().then(|| quote!(Default,));
    let rename_all = configuration.rename_all.as_ref().map(|rule| quote!(, rename_all = #rule));
    let fields = configuration.fields.iter().map(|field| self::field(field, &configuration.target));
    quote! {
        #docs
        #[derive(Clone, Debug, #default PartialEq, Deserialize, Serialize)]
        #[serde(crate = "kubewright_core::serde" #rename_all)]
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
        /// Standard object's metadata.
        pub metadata: Metadata,
    }
}

fn field(field: &Field, target: &str) -> TokenStream {
    let (name, ty) = (&field.name, field.ty.tokens());
    let docs = match field.docs.as_str() {
        "" => doc(&format!("The `{name}` field of {target}.")),
        docs => doc(&portable(docs)),
    };
    let rename = field.rename.as_ref().map(|rename| quote!(rename = #rename,));
    match field.is_inline() {
        true => quote! {
            #docs
            #[serde(flatten)]
            pub #name: #ty,
        },
        false if field.flatten => quote! {
            #docs
            #[serde(flatten, skip_serializing_if = "Option::is_none")]
            pub #name: Option<#ty>,
        },
        false if matches!(field.ty, FieldType::Nullable(_)) => quote! {
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
    /// Whether its fields or entries are flattened into the struct. Then it is not optional, but may be empty.
    fn is_inline(&self) -> bool {
        self.flatten && matches!(self.ty, FieldType::Configuration(_) | FieldType::Map(_))
    }
}

fn builders(configuration: &Configuration) -> TokenStream {
    let (name, builders) = (&configuration.name, configuration.fields.iter().map(builder));
    quote! {
        impl #name {
            /// Creates a configuration without any fields.
            pub fn new() -> Self {
                Self::default()
            }
            #(#builders)*
        }
    }
}

fn root_builders(configuration: &Configuration, root: &Root) -> TokenStream {
    let (name, builders, extracts) = (&configuration.name, configuration.fields.iter().map(builder), extracts(root));
    let fields = configuration.fields.iter().map(|field| {
        let name = &field.name;
        match field.is_inline() {
            true => quote!(#name: Default::default(),),
            false if matches!(field.ty, FieldType::Nullable(_)) => quote!(#name: Nullable::Absent,),
            false => quote!(#name: None,),
        }
    });
    let constructor = match root.is_namespaced {
        true => quote! {
            /// Creates the configuration of the object with this name and namespace.
            pub fn new(name: impl Into<String>, namespace: impl Into<String>) -> Self {
                Self::from_metadata(Metadata::namespaced(name, namespace))
            }
        },
        false => quote! {
            /// Creates the configuration of the object with this name.
            pub fn new(name: impl Into<String>) -> Self {
                Self::from_metadata(Metadata::cluster(name))
            }
        },
    };
    let metadata_builders =
        METADATA_MAPS.iter().filter(|map| !configuration.fields.iter().any(|field| field.name == **map)).map(|map| {
            let (name, builder) = (format_ident!("{map}"), format_ident!("with_{map}"));
            let docs = doc(&format!("Merges entries into the {map}."));
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
            /// Creates the configuration of the object that the metadata identifies.
            pub fn from_metadata(metadata: Metadata) -> Self {
                Self {
                    api_version: ApiVersion::default(),
                    kind: KindName::default(),
                    metadata,
                    #(#fields)*
                }
            }
            #extracts
            #(#metadata_builders)*
            #(#builders)*
        }
    }
}

/// The maps of the metadata that have builders on the configuration.
const METADATA_MAPS: [&str; 2] = ["annotations", "labels"];

fn extracts(root: &Root) -> TokenStream {
    let ty = &root.ty;
    let through = root.subresources.iter().map(|subresource| {
        let extract = format_ident!("extract_{}", subresource.replace('-', "_"));
        let docs =
            doc(&format!("Extracts the fields of an object that this field manager applied through `{subresource}`."));
        quote! {
            #docs
            ///
            /// # Errors
            /// The object has no name, or the owned fields are not a valid configuration of this kind.
            #[inline]
            pub fn #extract(object: &#ty, manager: &str) -> Result<Self, ExtractError> {
                Self::extract_from(object, manager, Some(#subresource))
            }
        }
    });
    quote! {
        /// Extracts the fields of an object that this field manager applied, to be modified and applied again.
        ///
        /// # Errors
        /// The object has no name, or the owned fields are not a valid configuration of this kind.
        #[inline]
        pub fn extract(object: &#ty, manager: &str) -> Result<Self, ExtractError> {
            Self::extract_from(object, manager, None)
        }
        #(#through)*
    }
}

fn root_impl(configuration: &Configuration, root: &Root) -> TokenStream {
    let (name, ty) = (&configuration.name, &root.ty);
    quote! {
        impl ApplyConfiguration for #name {
            type Kind = #ty;

            fn metadata(&self) -> &Metadata {
                &self.metadata
            }

            fn metadata_mut(&mut self) -> &mut Metadata {
                &mut self.metadata
            }
        }
    }
}

fn builder(field: &Field) -> TokenStream {
    let name = &field.name;
    let plain_name = name.to_string();
    let plain_name = plain_name.trim_start_matches("r#");
    let builder = format_ident!("with_{plain_name}");
    let (docs, argument, body) = match &field.ty {
        FieldType::Configuration(ty) if field.is_inline() => ("Sets `_`.", quote!(#ty), quote!(self.#name = #name;)),
        FieldType::String => ("Sets `_`.", quote!(impl Into<String>), quote!(self.#name = Some(#name.into());)),
        FieldType::Atomic(ty) | FieldType::Configuration(ty) => {
            ("Sets `_`.", quote!(#ty), quote!(self.#name = Some(#name);))
        }
        FieldType::Boxed(ty) => ("Sets `_`.", quote!(#ty), quote!(self.#name = Some(Box::new(#name));)),
        FieldType::Nullable(_) => {
            let ty = field.ty.tokens();
            ("Sets `_` to a value or to null.", quote!(impl Into<#ty>), quote!(self.#name = #name.into();))
        }
        FieldType::List(inner) => {
            let item = inner.argument();
            ("Appends to `_`.", quote!(impl IntoIterator<Item = #item>), quote!(apply::append(&mut self.#name, #name);))
        }
        FieldType::Map(inner) => {
            let value = inner.argument();
            let entries = quote!(impl IntoIterator<Item = (impl Into<String>, #value)>);
            match field.is_inline() {
                true => ("Merges entries into `_`.", entries, quote!(apply::extend(&mut self.#name, #name);)),
                false => ("Merges entries into `_`.", entries, quote!(apply::merge(&mut self.#name, #name);)),
            }
        }
    };
    let docs = doc(&docs.replace('_', plain_name));
    quote! {
        #docs
        pub fn #builder(mut self, #name: #argument) -> Self {
            #body
            self
        }
    }
}

fn alias(alias: &Alias) -> TokenStream {
    let Alias { name, docs, ty } = alias;
    let docs = doc(docs);
    quote! {
        #docs
        pub type #name = #ty;
    }
}

impl FieldType {
    /// Returns the Rust type of a field.
    fn tokens(&self) -> TokenStream {
        match self {
            FieldType::String => quote!(String),
            FieldType::Atomic(ty) | FieldType::Configuration(ty) => ty.clone(),
            FieldType::Boxed(ty) => quote!(Box<#ty>),
            FieldType::List(inner) => {
                let inner = inner.tokens();
                quote!(Vec<#inner>)
            }
            FieldType::Map(inner) => {
                let inner = inner.tokens();
                quote!(BTreeMap<String, #inner>)
            }
            FieldType::Nullable(inner) => {
                let inner = inner.tokens();
                quote!(Nullable<#inner>)
            }
        }
    }

    /// Returns the type of an item or value as a parameter of a builder.
    fn argument(&self) -> TokenStream {
        match self {
            FieldType::String => quote!(impl Into<String>),
            other => other.tokens(),
        }
    }

    /// Whether the predicate holds for this type or a type within it.
    fn any(&self, predicate: &dyn Fn(&FieldType) -> bool) -> bool {
        predicate(self)
            || match self {
                FieldType::List(inner) | FieldType::Map(inner) | FieldType::Nullable(inner) => inner.any(predicate),
                FieldType::String | FieldType::Atomic(_) | FieldType::Configuration(_) | FieldType::Boxed(_) => false,
            }
    }
}

/// Returns the path of the configuration of a kind, for other modules of the client crate.
pub(super) fn path(group: &Group, kind: &ClientKind) -> TokenStream {
    let (client, module, name) = (&group.client, group.ident(), kind.type_named("Apply"));
    quote!(#client::applyconfigurations::#module::#name)
}
