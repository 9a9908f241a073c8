//! A type with `#[kubewright::defaults]`: the defaults of its fields.

use quote::format_ident;
use syn::{Attribute, Data, DeriveInput, Field, Fields, Ident, Meta, Path, Type, Variant, ext::IdentExt};

use crate::{
    attr::{
        self,
        defaults::{Value, value},
        derives, is_named,
        serde::is_serde_derive,
    },
    errors::Errors,
};

/// A type with `#[kubewright::defaults]`.
pub(crate) struct DefaultedType {
    /// The type without the attributes and derives that are replaced.
    pub(crate) item: DeriveInput,
    pub(crate) fields: Vec<FieldDefault>,
    /// The derives of the type, with those that are replaced.
    derives: Vec<Path>,
    /// The keys of serde and schemars on the type, each with the name of its attribute.
    pub(crate) keys: Vec<(&'static str, Meta)>,
    /// Whether it is a struct that derives `Default`.
    pub(crate) derives_default: bool,
    /// The derive of a kind or a list, and the derives of serde beside it, which conflict.
    pub(crate) serde_derives: Option<(&'static str, Vec<Path>)>,
    /// The attributes on the type and on variants, which apply to fields.
    pub(crate) misplaced: Vec<Attribute>,
    /// The attributes on fields of variants without names.
    pub(crate) on_unnamed: Vec<Attribute>,
    /// The attributes inside of a `cfg_attr`, which is not yet expanded here.
    pub(crate) conditional: Vec<Meta>,
}

/// A field with a default.
pub(crate) struct FieldDefault {
    /// The variant of the field, in an enum.
    pub(crate) variant: Option<Ident>,
    pub(crate) field: Ident,
    pub(crate) ty: Type,
    /// The `#[cfg(..)]` attributes of the field.
    pub(crate) cfgs: Vec<Attribute>,
    /// The keys of serde and schemars on the field, each with the name of its attribute.
    pub(crate) keys: Vec<(&'static str, Meta)>,
    /// `None` if the value was rejected.
    pub(crate) value: Option<Value>,
    /// Further attributes of the field.
    pub(crate) duplicates: Vec<Attribute>,
}

impl DefaultedType {
    pub(crate) fn parse(mut item: DeriveInput, errors: &mut Errors) -> Self {
        let (derives, keys) = (derives(&item.attrs), reader_keys(&item.attrs));
        let serde_derives = take_serde_derives(&derives, &mut item.attrs);
        let (mut misplaced, on_unnamed) = (take(&mut item.attrs), take_unnamed(&mut item.data));
        misplaced.extend(take_from_variants(&mut item.data));
        let (mut fields, mut conditional) = (Vec::new(), Vec::new());
        for (variant, field) in named_fields(&mut item.data) {
            conditional.extend(take_conditional(&mut field.attrs));
            fields.extend(FieldDefault::parse(variant, field, errors));
        }
        let is_struct = matches!(item.data, Data::Struct(_));
        let derives_default = is_struct && !take_derives(&mut item.attrs, is_default).is_empty();
        DefaultedType {
            item,
            fields,
            derives,
            keys,
            derives_default,
            serde_derives,
            misplaced,
            on_unnamed,
            conditional,
        }
    }

    /// Whether the type has a derive of this name.
    pub(crate) fn derives(&self, name: &str) -> bool {
        self.derives.iter().any(|path| is_named(path, name))
    }

    /// Returns what the type is, if it is neither an enum nor a struct with named fields.
    pub(crate) fn other_shape(&self) -> Option<&'static str> {
        match &self.item.data {
            Data::Struct(data) => match &data.fields {
                Fields::Named(_) => None,
                Fields::Unnamed(_) => Some("a tuple struct"),
                Fields::Unit => Some("a unit struct"),
            },
            Data::Enum(_) => None,
            Data::Union(_) => Some("a union"),
        }
    }
}

impl FieldDefault {
    /// Parses a field; `None` is returned for one without a default.
    fn parse(variant: Option<Ident>, field: &mut Field, errors: &mut Errors) -> Option<Self> {
        let mut attributes = take(&mut field.attrs).into_iter();
        let value = value(&attributes.next()?, errors);
        Some(FieldDefault {
            variant,
            field: field.ident.clone()?,
            ty: field.ty.clone(),
            cfgs: attr::named("cfg", &field.attrs).cloned().collect(),
            keys: reader_keys(&field.attrs),
            value,
            duplicates: attributes.collect(),
        })
    }

    /// Returns the name of the function that returns the default.
    pub(crate) fn function(&self) -> Ident {
        let field = self.field.unraw();
        match &self.variant {
            None => format_ident!("__default_{field}"),
            Some(variant) => format_ident!("__default_{}__{field}", variant.unraw()),
        }
    }
}

/// Returns the named fields, each with its variant.
pub(crate) fn named_fields(data: &mut Data) -> Vec<(Option<Ident>, &mut Field)> {
    let parts: Vec<(Option<Ident>, &mut Fields)> = match data {
        Data::Struct(data) => vec![(None, &mut data.fields)],
        Data::Enum(data) => data.variants.iter_mut().map(|v| (Some(v.ident.clone()), &mut v.fields)).collect(),
        Data::Union(_) => Vec::new(),
    };
    let mut named = Vec::new();
    for (variant, fields) in parts {
        if let Fields::Named(fields) = fields {
            named.extend(fields.named.iter_mut().map(|field| (variant.clone(), field)));
        }
    }
    named
}

/// Removes and returns the attributes of fields without names. Those of structs are rejected for their shape.
fn take_unnamed(data: &mut Data) -> Vec<Attribute> {
    match data {
        Data::Struct(data) => {
            if let Fields::Unnamed(fields) = &mut data.fields {
                fields.unnamed.iter_mut().for_each(|field| drop(take(&mut field.attrs)));
            }
            Vec::new()
        }
        Data::Enum(data) => {
            let fields = data.variants.iter_mut().flat_map(|variant| match &mut variant.fields {
                Fields::Unnamed(fields) => fields.unnamed.iter_mut().collect::<Vec<_>>(),
                Fields::Named(_) | Fields::Unit => Vec::new(),
            });
            fields.flat_map(|field| take(&mut field.attrs)).collect()
        }
        Data::Union(data) => {
            data.fields.named.iter_mut().for_each(|field| drop(take(&mut field.attrs)));
            Vec::new()
        }
    }
}

/// Removes and returns the attributes of variants. Without a value it is the attribute of std's derive, which marks the
/// default variant.
fn take_from_variants(data: &mut Data) -> Vec<Attribute> {
    let Data::Enum(data) = data else { return Vec::new() };
    let is_default = |attr: &mut Attribute| attr.path().is_ident("default") && !matches!(attr.meta, Meta::Path(_));
    let taken = |variant: &mut Variant| variant.attrs.extract_if(.., is_default).collect::<Vec<_>>();
    data.variants.iter_mut().flat_map(taken).collect()
}

/// Removes the attributes `cfg_attr` with a `default`, and returns these.
fn take_conditional(attrs: &mut Vec<Attribute>) -> Vec<Meta> {
    let mut taken = Vec::new();
    attrs.retain(|attr| {
        let inside = attr::key("cfg_attr", "default", std::slice::from_ref(attr));
        let is_other = inside.is_none();
        taken.extend(inside);
        is_other
    });
    taken
}

/// Returns the keys of serde and schemars, each with the name of its attribute.
fn reader_keys(attrs: &[Attribute]) -> Vec<(&'static str, Meta)> {
    let keys = |reader| attr::keys(reader, attrs).into_iter().map(move |meta| (reader, meta));
    ["serde", "schemars"].into_iter().flat_map(keys).collect()
}

/// Removes and returns the derives of serde from a kind or a list, with the derive that implements their traits.
fn take_serde_derives(derived: &[Path], attrs: &mut Vec<Attribute>) -> Option<(&'static str, Vec<Path>)> {
    let is_derived = |name: &&str| derived.iter().any(|path| is_named(path, name));
    let derive = ["ApiObject", "Object", "ObjectList"].into_iter().find(is_derived)?;
    Some((derive, take_derives(attrs, is_serde_derive)))
}

/// Whether the path is that of std's derive of `Default`.
fn is_default(path: &Path) -> bool {
    let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    matches!(
        names.iter().map(String::as_str).collect::<Vec<_>>()[..],
        ["Default"] | ["std" | "core", "default", "Default"]
    )
}

/// Removes and returns the derives with a matching path.
fn take_derives(attrs: &mut Vec<Attribute>, is_match: fn(&Path) -> bool) -> Vec<Path> {
    let mut taken = Vec::new();
    attrs.retain_mut(|attr| {
        if !attr.path().is_ident("derive") {
            return true;
        }
        let (matching, others): (Vec<_>, Vec<_>) = derives(std::slice::from_ref(attr)).into_iter().partition(is_match);
        if !matching.is_empty() {
            *attr = syn::parse_quote!(#[derive(#(#others),*)]);
        }
        taken.extend(matching);
        !others.is_empty()
    });
    taken
}

/// Removes and returns the attributes `#[default]`.
fn take(attrs: &mut Vec<Attribute>) -> Vec<Attribute> {
    attrs.extract_if(.., |attr| attr.path().is_ident("default")).collect()
}
