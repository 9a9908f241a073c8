//! `#[policy(..)]`: admission policies of a kind.

use darling::{Error, FromMeta, Result, ast::NestedMeta};
use syn::{Expr, ExprLit, Lit, LitStr};

use super::keys::worded;

/// The keys of `#[policy(..)]`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct PolicyKeys {
    pub(crate) rule: Option<LitStr>,
    pub(crate) message: Option<LitStr>,
    pub(crate) message_expression: Option<LitStr>,
    pub(crate) reason: Option<LitStr>,
    pub(crate) actions: Vec<LitStr>,
    #[darling(rename = "default")]
    pub(crate) default_value: Option<DefaultValue>,
    pub(crate) field: Option<LitStr>,
    pub(crate) reinvocation: Option<LitStr>,
    pub(crate) variable: Option<LitStr>,
    pub(crate) value: Option<LitStr>,
    pub(crate) when: Option<LitStr>,
    pub(crate) operations: Vec<LitStr>,
    pub(crate) failure_policy: Option<LitStr>,
    pub(crate) params: Option<ParamsKeys>,
    pub(crate) name: Option<LitStr>,
}

/// The value of `default`, whose error does not confuse it with `#[default(..)]`.
pub(crate) struct DefaultValue(pub(crate) LitStr);

impl DefaultValue {
    fn expected() -> Error {
        worded("expected `default = \"..\"`, an expression in CEL")
    }
}

impl FromMeta for DefaultValue {
    fn from_word() -> Result<Self> {
        Err(Self::expected())
    }

    fn from_list(_: &[NestedMeta]) -> Result<Self> {
        Err(Self::expected())
    }

    fn from_expr(expr: &Expr) -> Result<Self> {
        match expr {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(DefaultValue(text.clone())),
            other => Err(Self::expected().with_span(other)),
        }
    }
}

/// The keys of `params(..)`.
#[derive(FromMeta)]
pub(crate) struct ParamsKeys {
    pub(crate) api_version: LitStr,
    pub(crate) kind: LitStr,
    #[darling(default)]
    pub(crate) name: Option<LitStr>,
    #[darling(default)]
    pub(crate) namespace: Option<LitStr>,
    #[darling(default)]
    pub(crate) not_found: Option<LitStr>,
}
