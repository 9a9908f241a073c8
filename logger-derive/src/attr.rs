//! What is written in the attributes of a type and in the macros: one file for each attribute, with the structs of its
//! keys. Only errors of syntax are reported here.

pub(crate) mod adopt;
pub(crate) mod apply;
pub(crate) mod columns;
pub(crate) mod convert;
pub(crate) mod deep_copy;
pub(crate) mod defaults;
pub(crate) mod docs;
pub(crate) mod genclient;
pub(crate) mod group_version;
pub(crate) mod k8s;
mod keys;
pub(crate) mod policy;
pub(crate) mod schema;
pub(crate) mod schemars;
pub(crate) mod serde;

use darling::{FromMeta, ast::NestedMeta};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::{
    Attribute, Data, DeriveInput, Expr, ExprLit, Field, Lit, LitStr, Meta, MetaNameValue, Path, Token, Type,
    parse::Parse, punctuated::Punctuated,
};

pub(crate) use keys::parse_keys;

use crate::{errors::Errors, grammar::Section};

/// Parses all attributes of a section as one.
pub(crate) fn parse<T: FromMeta + Default>(section: &Section, attrs: &[Attribute], errors: &mut Errors) -> T {
    parse_keys(section, items(section.name, attrs, errors), errors)
}

/// Returns the items of all attributes of this name.
fn items(name: &str, attrs: &[Attribute], errors: &mut Errors) -> Vec<NestedMeta> {
    let mut items = Vec::new();
    for attr in named(name, attrs) {
        match &attr.meta {
            Meta::Path(_) => {}
            Meta::List(list) => match list.parse_args_with(Punctuated::<NestedMeta, Token![,]>::parse_terminated) {
                Ok(nested) => items.extend(nested),
                Err(error) => errors.extend(error),
            },
            Meta::NameValue(_) => errors.push(attr, format_args!("expected `#[{name}]` or `#[{name}(..)]`")),
        }
    }
    items
}

/// Parses the items of a macro.
pub(crate) fn parse_items(tokens: TokenStream, errors: &mut Errors) -> Vec<NestedMeta> {
    NestedMeta::parse_meta_list(ungrouped_tokens(tokens)).unwrap_or_else(|error| {
        errors.extend(error);
        Vec::new()
    })
}

/// Returns the attributes of this name.
pub(crate) fn named<'a>(name: &'a str, attrs: &'a [Attribute]) -> impl Iterator<Item = &'a Attribute> {
    attrs.iter().filter(move |attr| attr.path().is_ident(name))
}

/// Removes the invisible groups from the attributes of a type, its variants and its fields: they enclose the arguments
/// of a `macro_rules!`.
pub(crate) fn ungroup_attributes(input: &mut DeriveInput) {
    let ungroup_all = |attrs: &mut Vec<Attribute>| attrs.iter_mut().for_each(ungroup);
    ungroup_all(&mut input.attrs);
    match &mut input.data {
        Data::Struct(data) => data.fields.iter_mut().for_each(|field| ungroup_all(&mut field.attrs)),
        Data::Enum(data) => {
            for variant in &mut data.variants {
                ungroup_all(&mut variant.attrs);
                variant.fields.iter_mut().for_each(|field| ungroup_all(&mut field.attrs));
            }
        }
        Data::Union(_) => {}
    }
}

fn ungroup(attr: &mut Attribute) {
    match &mut attr.meta {
        Meta::Path(_) => {}
        Meta::List(list) => list.tokens = ungrouped_tokens(std::mem::take(&mut list.tokens)),
        Meta::NameValue(pair) => {
            while let Expr::Group(group) = &mut pair.value {
                pair.value = (*group.expr).clone();
            }
        }
    }
}

/// Returns the tokens without invisible groups. Those of operators become parentheses.
fn ungrouped_tokens(tokens: TokenStream) -> TokenStream {
    let ungrouped = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            let inside = ungrouped_tokens(group.stream());
            match syn::parse2(inside.clone()) {
                Ok(Expr::Binary(_) | Expr::Cast(_)) => quote!((#inside)),
                _ => inside,
            }
        }
        TokenTree::Group(group) if has_group(group.stream()) => {
            let mut inside = Group::new(group.delimiter(), ungrouped_tokens(group.stream()));
            inside.set_span(group.span());
            TokenTree::Group(inside).into()
        }
        other => other.into(),
    });
    ungrouped.collect()
}

/// Whether the tokens have an invisible group.
fn has_group(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::None || has_group(group.stream()),
        _ => false,
    })
}

/// Returns the type itself, which is in an invisible group if it is the argument of a `macro_rules!`.
pub(crate) fn ungrouped_type(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped_type(&group.elem),
        Type::Paren(paren) => ungrouped_type(&paren.elem),
        ty => ty,
    }
}

/// Returns the derives of the type. A derive macro receives only those of later attributes.
pub(crate) fn derives(attrs: &[Attribute]) -> Vec<Path> {
    named("derive", attrs)
        .filter_map(|attr| attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated).ok())
        .flatten()
        .collect()
}

/// Whether the last segment of the path is this name.
pub(crate) fn is_named(path: &Path, name: &str) -> bool {
    path.segments.last().is_some_and(|last| last.ident == name)
}

/// Returns the keys of all attributes of this name; attributes with syntax errors are skipped, which their own macro
/// reports.
pub(crate) fn keys<K: Parse>(name: &str, attrs: &[Attribute]) -> Vec<K> {
    named(name, attrs)
        .filter_map(|attr| attr.parse_args_with(Punctuated::<K, Token![,]>::parse_terminated).ok())
        .flatten()
        .collect()
}

/// Returns all fields; those of an enum by variant.
pub(crate) fn fields(data: &Data) -> Vec<&Field> {
    match data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| variant.fields.iter()).collect(),
        Data::Union(_) => Vec::new(),
    }
}

/// Returns a key of the attributes of this name.
pub(crate) fn key(name: &str, key: &str, attrs: &[Attribute]) -> Option<Meta> {
    keys(name, attrs).into_iter().find(|meta: &Meta| meta.path().is_ident(key))
}

/// Returns the value of a key if it is a string.
pub(crate) fn literal(key: &Meta) -> Option<LitStr> {
    match key {
        Meta::NameValue(MetaNameValue { value: Expr::Lit(ExprLit { lit: Lit::Str(text), .. }), .. }) => {
            Some(text.clone())
        }
        _ => None,
    }
}
