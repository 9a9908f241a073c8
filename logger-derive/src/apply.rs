//! `#[derive(ApplyConfiguration)]`: what a type looks like, left as data for the generator of apply configurations.

use darling::FromMeta;
use darling::util::Flag;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Field, Fields, GenericArgument, Ident, LitStr, Meta, Path, PathArguments, Token, Type,
};

use crate::attr;
use crate::errors::Errors;
use crate::model::crate_path;

/// `#[apply(..)]` on a type.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct Container {
    #[darling(rename = "crate")]
    krate: Option<Path>,
}

/// `#[apply(..)]` on a field.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct FieldAttr {
    /// The field is applied as a whole.
    atomic: Flag,
}

pub(crate) fn derive(input: DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let container: Container = attr::read("apply", &input.attrs, &mut errors);
    let krate = crate_path(container.krate.as_ref());
    if !input.generics.params.is_empty() {
        let message = "an apply configuration has one name; remove the parameters, or this derive and say \
                       `#[apply(atomic)]` on the fields of this type";
        errors.push(&input.generics, message);
    }
    let emitted = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => {
                let fields =
                    fields.named.iter().enumerate().filter_map(|(i, f)| AppliedField::parse(i, f, &mut errors));
                of_struct(&input, &krate, &fields.collect::<Vec<_>>())
            }
            Fields::Unnamed(_) | Fields::Unit => whole(&input, &krate, &mut errors),
        },
        Data::Enum(_) => whole(&input, &krate, &mut errors),
        Data::Union(_) => {
            errors.push(&input.ident, "a union cannot be applied: which field is live is not known; use an enum");
            quote!()
        }
    };
    match errors.is_empty() {
        true => emitted,
        false => {
            let (errors, stand_in) =
                (errors.into_compile_errors(), applied(&input, &krate, &quote!(Whole(::core::option::Option::None))));
            quote!(#errors #stand_in)
        }
    }
}

/// A field that is written.
struct AppliedField {
    place: usize,
    field: Field,
    atomic: bool,
    serde: Serde,
}

/// What serde's attributes say of a field.
#[derive(Default)]
struct Serde {
    rename: Option<LitStr>,
    flatten: bool,
    skipped: bool,
}

impl AppliedField {
    fn parse(place: usize, field: &Field, errors: &mut Errors) -> Option<Self> {
        let FieldAttr { atomic } = attr::read("apply", &field.attrs, errors);
        let serde = Serde::parse(&field.attrs, errors);
        (!serde.skipped).then(|| AppliedField { place, field: field.clone(), atomic: atomic.is_present(), serde })
    }

    /// The field as data of this struct.
    fn meta(&self, of: &Ident, krate: &TokenStream) -> TokenStream {
        let AppliedField { place, field, serde, .. } = self;
        let name = field.ident.as_ref().map(|ident| ident.unraw().to_string());
        let (rename, flatten, docs) = (optional(serde.rename.as_ref()), serde.flatten, attr::docs(&field.attrs));
        quote! {
            #krate::apply::Field {
                name: #name,
                place: #place,
                rename: #rename,
                flatten: #flatten,
                docs: #docs,
                shape: <#of as #krate::apply::AppliedField<#place>>::shape,
            }
        }
    }

    /// Its type, as an associated type: rustc resolves its path where it is written.
    fn impls(&self, of: &Ident, krate: &TokenStream) -> TokenStream {
        let (place, ty) = (self.place, &self.field.ty);
        let ty = match self.atomic {
            true => {
                let inner = option_item(ty).unwrap_or(ty);
                let atomic = placed(quote!(#krate::apply::Atomic), inner.span());
                quote_spanned!(inner.span()=> #atomic<#inner>)
            }
            false => quote!(#ty),
        };
        quote! {
            #[automatically_derived]
            impl #krate::apply::AppliedField<#place> for #of {
                type Type = #ty;
            }
        }
    }
}

impl Serde {
    fn parse(attrs: &[Attribute], errors: &mut Errors) -> Self {
        let mut serde = Serde::default();
        for meta in metas(attrs) {
            match (meta.path().get_ident().map(ToString::to_string).unwrap_or_default().as_str(), &meta) {
                ("rename", Meta::NameValue(value)) => serde.rename = literal(value),
                ("rename", _) => errors.push(meta, "one name for reading and writing is needed: `rename = \"..\"`"),
                ("flatten", _) => serde.flatten = true,
                ("skip" | "skip_serializing", _) => serde.skipped = true,
                ("with" | "serialize_with" | "deserialize_with", _) => errors.push(
                    meta,
                    "how this field is written is not known where it is applied; give it a type that is written so",
                ),
                _ => {}
            }
        }
        serde
    }
}

/// The impls of a struct whose fields are applied one by one.
fn of_struct(input: &DeriveInput, krate: &TokenStream, fields: &[AppliedField]) -> TokenStream {
    let (ident, docs, of) = (&input.ident, attr::docs(&input.attrs), itself(input, krate));
    let rename_all = metas(&input.attrs).into_iter().find_map(|meta| match meta {
        Meta::NameValue(value) if value.path.is_ident("rename_all") => literal(&value),
        _ => None,
    });
    let rename_all = optional(rename_all.as_ref());
    let metas = fields.iter().map(|field| field.meta(ident, krate));
    let impls = fields.iter().map(|field| field.impls(ident, krate));
    let shape = quote! {
        Struct(#krate::apply::Struct {
            of: #of,
            docs: #docs,
            rename_all: #rename_all,
            fields: &[#(#metas),*],
        })
    };
    let applied = applied(input, krate, &shape);
    quote!(#applied #(#impls)*)
}

/// The impl of a type that is applied as a whole: an enum, a tuple or a unit struct.
fn whole(input: &DeriveInput, krate: &TokenStream, errors: &mut Errors) -> TokenStream {
    let fields = match &input.data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| &variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    };
    for attr in fields.into_iter().flat_map(|field| attr::named("apply", &field.attrs)) {
        errors.push(attr, "this type is applied as a whole, with all its fields; remove this");
    }
    let (ident, of) = (&input.ident, itself(input, krate));
    let applied = applied(input, krate, &quote!(Whole(::core::option::Option::Some(#of))));
    let checked = is_whole(&quote_spanned!(ident.span()=> #ident), krate);
    quote!(#applied #checked)
}

/// The type as data.
fn itself(input: &DeriveInput, krate: &TokenStream) -> TokenStream {
    let name = input.ident.unraw().to_string();
    quote!(#krate::apply::Type { name: #name, module: ::core::module_path!() })
}

fn applied(input: &DeriveInput, krate: &TokenStream, shape: &TokenStream) -> TokenStream {
    let ident = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::apply::Applied for #ident #ty_generics #where_clause {
            type Leaf = Self;
            fn shape() -> #krate::apply::Shape {
                #krate::apply::Shape::#shape
            }
        }
    }
}

/// What is applied as a whole stands in a configuration as it is.
fn is_whole(ty: &TokenStream, krate: &TokenStream) -> TokenStream {
    quote! {
        const _: fn() = || {
            fn is_whole<T: #krate::apply::Whole>() {}
            is_whole::<#ty>();
        };
    }
}

/// What serde's attributes say; serde's own derive reports those it cannot read.
fn metas(attrs: &[Attribute]) -> Vec<Meta> {
    let parse = |attr: &Attribute| {
        attr.parse_args_with(syn::punctuated::Punctuated::<Meta, Token![,]>::parse_terminated).unwrap_or_default()
    };
    attr::named("serde", attrs).flat_map(parse).collect()
}

fn literal(value: &syn::MetaNameValue) -> Option<LitStr> {
    match &value.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.clone()),
        _ => None,
    }
}

fn optional(value: Option<&LitStr>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// The same tokens as if they stood there: that is where rustc reports what is wrong with them.
fn placed(tokens: TokenStream, at: Span) -> TokenStream {
    let place = |mut token: TokenTree| {
        token.set_span(token.span().located_at(at));
        token
    };
    tokens.into_iter().map(place).collect()
}

/// The `T` of `Option<T>`.
fn option_item(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(item) => Some(item),
        _ => None,
    }
}
