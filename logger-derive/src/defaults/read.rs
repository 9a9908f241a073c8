//! What `#[default(..)]` says, field by field, and what it must not stand beside.

use darling::FromMeta;
use darling::ast::NestedMeta;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DeriveInput, Expr, ExprLit, Field, Fields, GenericArgument, Ident, Lit, Meta, MetaNameValue, Path,
    PathArguments, Token, Type, UnOp,
};

use super::FieldDefault;
use crate::attr;
use crate::errors::Errors;

/// How a default is said.
pub(super) enum Value {
    /// A number or a truth value: one of the field's type.
    Literal(Expr),
    /// A text or a constant: something the field's type can be made from.
    From(Expr),
    /// A function that makes it.
    With(Path),
}

/// `#[default(with = path::function)]`
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct Keywords {
    with: Option<Path>,
}

/// Takes every `#[default(..)]` off the fields, and checks what stands beside it.
pub(super) fn defaults(input: &mut DeriveInput, errors: &mut Errors) -> Vec<FieldDefault> {
    stands_above_the_derives(&input.attrs, errors);
    container_has_no_default(&input.attrs, errors);
    fields_have_names(input, errors);
    let fields = named_fields(&mut input.data).into_iter();
    let defaults: Vec<_> = fields.filter_map(|(variant, field)| of_field(variant, field, errors)).collect();
    if defaults.is_empty() && errors.is_empty() {
        let message = "no field has a `#[default(..)]`; add one, or remove this";
        errors.extend(syn::Error::new(Span::call_site(), message));
    }
    defaults
}

/// A derive that stands above has read the fields before, and misses their defaults.
fn stands_above_the_derives(attrs: &[Attribute], errors: &mut Errors) {
    if !derived(attrs).iter().any(|path| is_named(path, "Deserialize") || is_named(path, "Object")) {
        let message = "put this above the `#[derive(..)]` of `Deserialize`, or of `Object` for a kind: a derive that \
                       stands above has read the fields already, without their defaults";
        errors.extend(syn::Error::new(Span::call_site(), message));
    }
}

/// serde and schemars would take the defaults of all other fields from `Default`.
fn container_has_no_default(attrs: &[Attribute], errors: &mut Errors) {
    for meta in nested("serde", attrs).into_iter().filter(|meta| meta.path().is_ident("default")) {
        errors.push(
            meta,
            "this gives the fields without `#[default(..)]` a default too; put it on those that it is meant for",
        );
    }
}

/// Only a field with a name can be absent.
fn fields_have_names(input: &mut DeriveInput, errors: &mut Errors) {
    for attr in take(&mut input.attrs) {
        errors.push(attr, "`#[default(..)]` belongs on a field; move it there");
    }
    let found = match &mut input.data {
        Data::Struct(data) => match &mut data.fields {
            Fields::Named(_) => return,
            Fields::Unnamed(fields) => {
                fields.unnamed.iter_mut().for_each(|field| drop(take(&mut field.attrs)));
                "a tuple struct"
            }
            Fields::Unit => "a unit struct",
        },
        Data::Enum(data) => {
            data.variants.iter_mut().for_each(|variant| fields_of_variant_have_names(variant, errors));
            return;
        }
        Data::Union(data) => {
            data.fields.named.iter_mut().for_each(|field| drop(take(&mut field.attrs)));
            "a union"
        }
    };
    errors.push(
        &input.ident,
        format_args!("only a field with a name can be absent, and this is {found}; use a struct with named fields"),
    );
}

fn fields_of_variant_have_names(variant: &mut syn::Variant, errors: &mut Errors) {
    // Without a value it is std's: it names the variant that is the default.
    let is_std = |attr: &Attribute| matches!(attr.meta, Meta::Path(_));
    for attr in attr::named("default", &variant.attrs).filter(|attr| !is_std(attr)) {
        errors.push(attr, "`#[default(..)]` belongs on a field; move it there");
    }
    variant.attrs.retain(|attr| !attr.path().is_ident("default") || is_std(attr));
    if let Fields::Unnamed(fields) = &mut variant.fields {
        for attr in fields.unnamed.iter_mut().flat_map(|field| take(&mut field.attrs)) {
            errors.push(attr, "a field without a name is never absent; name it");
        }
    }
}

/// The fields that have names, each with its variant.
pub(super) fn named_fields(data: &mut Data) -> Vec<(Option<Ident>, &mut Field)> {
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

fn of_field(variant: Option<Ident>, field: &mut Field, errors: &mut Errors) -> Option<FieldDefault> {
    field.attrs.retain(|attr| is_seen(attr, errors));
    let mut given = take(&mut field.attrs).into_iter();
    let first = given.next()?;
    for attr in given {
        errors.push(attr, "a second default for this field; keep one");
    }
    for reader in ["serde", "schemars"] {
        nothing_else_says_it(reader, &field.attrs, errors);
    }
    let cfgs = attr::named("cfg", &field.attrs).cloned().collect();
    let value = value(&first, errors)?;
    Some(FieldDefault { variant, field: field.ident.clone()?, ty: field.ty.clone(), cfgs, value })
}

/// A `cfg_attr` on a field is still closed here; one on a type is not.
fn is_seen(attr: &Attribute, errors: &mut Errors) -> bool {
    let inside =
        nested("cfg_attr", std::slice::from_ref(attr)).into_iter().find(|meta| meta.path().is_ident("default"));
    if let Some(default) = &inside {
        errors
            .push(default, "a default must not depend on a `cfg_attr`; take it out, or put `#[cfg(..)]` on two fields");
    }
    inside.is_none()
}

fn nothing_else_says_it(reader: &str, attrs: &[Attribute], errors: &mut Errors) {
    for meta in nested(reader, attrs) {
        if meta.path().is_ident("default") {
            errors.push(meta, format_args!("`#[default(..)]` says this to {reader}; keep one of the two"));
        } else if meta.path().is_ident("flatten") {
            errors.push(meta, "a flattened field is never absent; give the fields of its type defaults");
        }
    }
}

/// The value of one `#[default(..)]`.
fn value(attr: &Attribute, errors: &mut Errors) -> Option<Value> {
    let list = match &attr.meta {
        Meta::List(list) if !list.tokens.is_empty() => list,
        Meta::List(_) | Meta::Path(_) => {
            errors.push(attr, format_args!("which value? {EXPECTED}"));
            return None;
        }
        Meta::NameValue(given) => {
            errors.push(attr, format_args!("expected `#[default({})]`", given.value.to_token_stream()));
            return None;
        }
    };
    let mut values = match list.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated) {
        Ok(values) => values.into_iter(),
        Err(error) => {
            errors.extend(syn::Error::new(error.span(), EXPECTED));
            return None;
        }
    };
    let first = values.next()?;
    for more in values {
        errors.push(more, "a field has one default; make one of several parts in a function: `with = path::function`");
    }
    one_value(first, errors)
}

const EXPECTED: &str =
    "expected `default(30)`, `default(\"text\")`, `default(CONSTANT)` or `default(with = path::function)`";

fn one_value(value: Expr, errors: &mut Errors) -> Option<Value> {
    match value {
        // What a `macro_rules!` was given.
        Expr::Group(group) => one_value(*group.expr, errors),
        Expr::Lit(ExprLit { lit: Lit::Str(_) | Lit::ByteStr(_), .. }) => Some(Value::From(value)),
        Expr::Lit(_) => Some(Value::Literal(value)),
        Expr::Unary(unary) if matches!((&unary.op, &*unary.expr), (UnOp::Neg(_), Expr::Lit(_))) => {
            Some(Value::Literal(Expr::Unary(unary)))
        }
        Expr::Path(path) if path.path.is_ident("None") => {
            errors.push(path, "a field that is absent is `None` without a default; remove this");
            None
        }
        Expr::Path(_) => Some(Value::From(value)),
        Expr::Assign(assign) => match *assign.left {
            Expr::Path(keyword) => {
                let (path, eq_token, value) = (keyword.path, assign.eq_token, *assign.right);
                let item = NestedMeta::Meta(Meta::NameValue(MetaNameValue { path, eq_token, value }));
                attr::keywords::<Keywords>(vec![item], errors).with.map(Value::With)
            }
            left => {
                errors.push(left, EXPECTED);
                None
            }
        },
        other => {
            errors.push(other, "a default of several parts is made in a function: `with = path::function`");
            None
        }
    }
}

/// The `T` of `Option<T>`.
pub(super) fn inside_option(ty: &Type) -> Option<&Type> {
    let path = match ty {
        // What a `macro_rules!` was given.
        Type::Group(group) => return inside_option(&group.elem),
        Type::Paren(paren) => return inside_option(&paren.elem),
        Type::Path(path) => path,
        _ => return None,
    };
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
            GenericArgument::Type(inside) => Some(inside),
            _ => None,
        },
        _ => None,
    }
}

/// Whether this name is anywhere in these tokens.
pub(super) fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// The keywords of all attributes of this name, as far as they can be read.
pub(super) fn nested(name: &str, attrs: &[Attribute]) -> Vec<Meta> {
    attr::named(name, attrs)
        .filter_map(|attr| attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok())
        .flatten()
        .collect()
}

/// What is derived below.
pub(super) fn derived(attrs: &[Attribute]) -> Vec<Path> {
    attr::named("derive", attrs)
        .filter_map(|attr| attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated).ok())
        .flatten()
        .collect()
}

pub(super) fn is_named(path: &Path, name: &str) -> bool {
    path.segments.last().is_some_and(|last| last.ident == name)
}

/// Whether this names std's derive of `Default`.
fn is_default(path: &Path) -> bool {
    let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    matches!(
        names.iter().map(String::as_str).collect::<Vec<_>>()[..],
        ["Default"] | ["std" | "core", "default", "Default"]
    )
}

/// Takes `Default` out of what is derived. Says whether it was there.
pub(super) fn take_default(attrs: &mut Vec<Attribute>) -> bool {
    let mut taken = false;
    attrs.retain_mut(|attr| {
        if !attr.path().is_ident("derive") {
            return true;
        }
        let paths = derived(std::slice::from_ref(attr));
        let others: Vec<_> = paths.iter().filter(|path| !is_default(path)).collect();
        if others.len() < paths.len() {
            taken = true;
            *attr = syn::parse_quote!(#[derive(#(#others),*)]);
        }
        !others.is_empty()
    });
    taken
}

/// Takes the attributes `#[default]` out.
fn take(attrs: &mut Vec<Attribute>) -> Vec<Attribute> {
    attrs.extract_if(.., |attr| attr.path().is_ident("default")).collect()
}
