//! `#[default(..)]` of a field, and the arguments of `#[kubewright::defaults]`.

use darling::{FromMeta, ast::NestedMeta};
use quote::ToTokens;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, MetaNameValue, Path, Token, UnOp, punctuated::Punctuated};

use super::parse_keys;
use crate::{errors::Errors, grammar::fields::DEFAULT};

/// `#[kubewright::defaults(..)]`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct CrateOnly {
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
}

/// The value of a default.
pub(crate) enum Value {
    /// A number or a boolean, of the field's type.
    Literal(Expr),
    /// A string or a constant, converted to the field's type by `From`.
    From(Expr),
    /// The result of a function.
    With(Path),
}

/// The keys of `#[default(with = path::function)]`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct DefaultKeys {
    with: Option<Path>,
}

/// Parses the value of one `#[default(..)]`.
pub(crate) fn value(attr: &Attribute, errors: &mut Errors) -> Option<Value> {
    let list = match &attr.meta {
        Meta::List(list) if !list.tokens.is_empty() => list,
        Meta::List(_) | Meta::Path(_) => {
            errors.push(attr, format_args!("missing value: {EXPECTED}"));
            return None;
        }
        Meta::NameValue(pair) => {
            errors.push(attr, format_args!("expected `#[default({})]`", pair.value.to_token_stream()));
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
        errors.push(
            more,
            "unexpected value: a field has one default; return a compound value from a function: `with \
                           = path::function`",
        );
    }
    one_value(first, errors)
}

const EXPECTED: &str =
    "expected `default(30)`, `default(\"text\")`, `default(CONSTANT)` or `default(with = path::function)`";

fn one_value(value: Expr, errors: &mut Errors) -> Option<Value> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(_) | Lit::ByteStr(_), .. }) => Some(Value::From(value)),
        Expr::Lit(_) => Some(Value::Literal(value)),
        Expr::Unary(unary) if matches!((&unary.op, &*unary.expr), (UnOp::Neg(_), Expr::Lit(_))) => {
            Some(Value::Literal(Expr::Unary(unary)))
        }
        Expr::Path(path) if path.path.is_ident("None") => {
            errors.push(path, "redundant default: an absent field is `None`; remove this");
            None
        }
        Expr::Path(_) => Some(Value::From(value)),
        Expr::Assign(assign) => match *assign.left {
            Expr::Path(key) => {
                let (path, eq_token, value) = (key.path, assign.eq_token, *assign.right);
                let item = NestedMeta::Meta(Meta::NameValue(MetaNameValue { path, eq_token, value }));
                parse_keys::<DefaultKeys>(&DEFAULT, vec![item], errors).with.map(Value::With)
            }
            left => {
                errors.push(left, EXPECTED);
                None
            }
        },
        other => {
            errors.push(
                other,
                "unsupported expression: return a compound value from a function: `with = path::function`",
            );
            None
        }
    }
}
