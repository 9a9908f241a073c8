//! The model of a root type with its spans: parsed from attributes and fields, input of checks and emitters.

use kubewright_names::case;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Data, DeriveInput, Field, Fields, GenericArgument, Ident, LitStr, PathArguments, PathSegment, Type,
    ext::IdentExt,
};

use crate::{
    attr::{
        self,
        convert::is_converted,
        docs::{deprecation_note, docs},
        genclient::Genclient,
        k8s::{K8s, K8sList},
        serde::{SerdeContainer, SerdeDefault, SerdeField, is_serde_derive},
        ungrouped_type,
    },
    check::serde_conflict,
    errors::Errors,
    policy::{self, Policy},
};

/// A struct that derives `Object`.
pub(crate) struct Kind {
    pub(crate) root: Root,
    /// The `#[genclient]` attribute.
    pub(crate) genclient: Option<(Attribute, Genclient)>,
    pub(crate) k8s: K8s,
    pub(crate) policies: Vec<Policy>,
    /// Whether it derives `Convert`.
    pub(crate) converts: bool,
    /// The note of the `#[deprecated]` attribute.
    pub(crate) deprecated: Option<String>,
    /// Whether a key of `#[genclient]` or `#[k8s]` was rejected, so that a missing key is not reported.
    pub(crate) incomplete: bool,
}

/// A struct that derives `ObjectList`.
pub(crate) struct List {
    pub(crate) root: Root,
    pub(crate) k8s: K8sList,
}

/// The common part of kinds and lists.
pub(crate) struct Root {
    pub(crate) ident: Ident,
    /// The path of `kubewright_core`.
    pub(crate) krate: TokenStream,
    /// The type whose registration declares the group and version: the type itself, or the kind of a generated list.
    pub(crate) registered: Ident,
    /// The doc comment, as an expression.
    pub(crate) docs: TokenStream,
    /// `None` if the type was rejected because it is not a struct with named fields.
    named_fields: Option<Vec<RootField>>,
}

/// A field of a root struct.
pub(crate) struct RootField {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) json_name: String,
    /// `#[serde(default)]`
    pub(crate) default: Option<SerdeDefault>,
}

impl Kind {
    pub(crate) fn parse(input: &DeriveInput, derive: &str, krate: &TokenStream, errors: &mut Errors) -> Self {
        let k8s: K8s = attr::parse("k8s", &input.attrs, errors);
        let genclient = attr::parse("genclient", &input.attrs, errors);
        let incomplete = !errors.is_empty();
        let policies = policy::parse(&input.attrs, errors);
        Kind {
            root: Root::parse(input, derive, krate, errors),
            genclient: attr::named("genclient", &input.attrs).next().map(|attr| (attr.clone(), genclient)),
            k8s,
            policies,
            converts: is_converted(&input.attrs),
            deprecated: deprecation_note(&input.attrs),
            incomplete,
        }
    }

    /// Returns the kind: the declared one, or the name of the type.
    pub(crate) fn kind(&self) -> String {
        self.k8s.kind.as_ref().map_or_else(|| self.root.name(), LitStr::value)
    }
}

impl List {
    pub(crate) fn parse(input: &DeriveInput, krate: &TokenStream, errors: &mut Errors) -> Self {
        for attr in attr::named("genclient", &input.attrs) {
            errors.push(attr, "`#[genclient]` applies to kinds, not to lists; move it to the kind");
        }
        let k8s: K8sList = attr::parse("k8s", &input.attrs, errors);
        List { root: Root::parse(input, "ObjectList", krate, errors), k8s }
    }
}

impl Root {
    fn parse(input: &DeriveInput, derive: &str, krate: &TokenStream, errors: &mut Errors) -> Self {
        let container: SerdeContainer = attr::parse("serde", &input.attrs, errors);
        let camel_case = match &container.rename_all {
            Some(rule) if rule.value() == "camelCase" => true,
            Some(rule) => {
                errors.push(
                    rule,
                    "unsupported case convention: the fields of Kubernetes objects are in camelCase; \
                                   use `rename_all = \"camelCase\"`",
                );
                false
            }
            None => false,
        };
        if !input.generics.params.is_empty() {
            errors.push(
                &input.generics,
                format_args!(
                    "`{derive}` does not support generic types: a kind has one name and one schema; remove \
                              the parameters"
                ),
            );
        }
        for path in attr::derives(&input.attrs).iter().filter(|path| is_serde_derive(path)) {
            errors.push(path, serde_conflict(derive, path));
        }
        let fields = named_fields(input, derive, errors);
        Root {
            ident: input.ident.clone(),
            krate: krate.clone(),
            registered: input.ident.clone(),
            docs: docs(&input.attrs),
            named_fields: fields.map(|fields| fields.filter_map(|f| RootField::parse(f, camel_case, errors)).collect()),
        }
    }

    /// Returns the name of the type.
    pub(crate) fn name(&self) -> String {
        self.ident.unraw().to_string()
    }

    /// Returns the Rust name of the metadata field.
    pub(crate) fn metadata(&self) -> TokenStream {
        self.field("metadata").map_or_else(|| quote!(metadata), |RootField { ident, .. }| quote!(#ident))
    }

    pub(crate) fn has_named_fields(&self) -> bool {
        self.named_fields.is_some()
    }

    pub(crate) fn fields(&self) -> &[RootField] {
        self.named_fields.as_deref().unwrap_or_default()
    }

    pub(crate) fn field(&self, json_name: &str) -> Option<&RootField> {
        self.fields().iter().find(|field| field.json_name == json_name)
    }

    /// Whether the field is missing from a struct with named fields.
    pub(crate) fn lacks(&self, json_name: &str) -> bool {
        self.has_named_fields() && self.field(json_name).is_none()
    }
}

impl RootField {
    fn parse(field: &Field, camel_case: bool, errors: &mut Errors) -> Option<Self> {
        for name in ["genclient", "k8s", "policy"] {
            for attr in attr::named(name, &field.attrs) {
                errors.push(
                    attr,
                    format_args!("`#[{name}]` applies to the struct, not to its fields; move it to the struct"),
                );
            }
        }
        let is_metadata = field.ident.as_ref().is_some_and(|ident| ident == "metadata");
        for attr in attr::named("schema", &field.attrs).filter(|_| is_metadata) {
            errors.push(attr, "the API server specifies the schema of `metadata`; remove this");
        }
        let serde: SerdeField = attr::parse("serde", &field.attrs, errors);
        if let Some(rename) = attr::key("schemars", "rename", &field.attrs) {
            errors.push(
                rename,
                "this renames the field in the schema only; use `#[serde(rename = \"..\")]`, which also applies to \
                 the JSON encoding",
            );
        }
        let ident = field.ident.clone()?;
        let rust_name = ident.unraw().to_string();
        let json_name = match serde.rename {
            Some(name) => name.value(),
            None if camel_case => case::camel_case(&rust_name),
            None => rust_name,
        };
        Some(RootField { ident, ty: field.ty.clone(), json_name, default: serde.default })
    }
}

impl RootField {
    /// Whether the last segment of its type path is this name.
    pub(crate) fn is_of(&self, name: &str) -> bool {
        self.type_name().is_some_and(|last| last.ident == name)
    }

    fn type_name(&self) -> Option<&PathSegment> {
        match ungrouped_type(&self.ty) {
            Type::Path(path) => path.path.segments.last(),
            _ => None,
        }
    }

    /// Returns the `T` of a field of type `Vec<T>`.
    pub(crate) fn vec_item(&self) -> Option<&Type> {
        let last = self.type_name().filter(|last| last.ident == "Vec")?;
        let PathArguments::AngleBracketed(arguments) = &last.arguments else {
            return None;
        };
        match arguments.args.first()? {
            GenericArgument::Type(item) => Some(item),
            _ => None,
        }
    }
}

fn named_fields<'a>(
    input: &'a DeriveInput,
    derive: &str,
    errors: &mut Errors,
) -> Option<impl Iterator<Item = &'a Field> + use<'a>> {
    let found = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => return Some(fields.named.iter()),
            Fields::Unnamed(_) => "a tuple struct",
            Fields::Unit => "a unit struct",
        },
        Data::Enum(_) => "an enum",
        Data::Union(_) => "a union",
    };
    errors.push(
        &input.ident,
        format_args!("`{derive}` requires a struct with named fields, such as `metadata`, but this is {found}"),
    );
    None
}
