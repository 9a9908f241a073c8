//! The keys of `#[convert(..)]` on types, fields and variants.

use darling::{Error, FromMeta, Result, ast::NestedMeta};
use syn::{Attribute, Expr, ExprLit, ExprPath, Ident, Lit, LitStr, Meta, Path};

use super::keys::worded;

/// `#[convert(..)]` on a type.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct TypeAttr {
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
    pub(crate) hub: Option<HubKey>,
    /// Fields of the hub that are stored.
    pub(crate) store: Option<Names>,
    /// Fields of the hub that are lost.
    pub(crate) lost: Option<Reasons>,
    /// Fields of the hub with a default.
    pub(crate) default: Option<Defaults>,
}

/// `#[convert(..)]` on a field.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct FieldAttr {
    /// The name in the hub.
    pub(crate) from: Option<Name>,
    /// The module with the functions.
    pub(crate) with: Option<Module>,
    pub(crate) default: Option<DefaultValue>,
    pub(crate) store: Option<Word>,
    pub(crate) lost: Option<Reason>,
}

/// `#[convert(..)]` on a variant.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct VariantAttr {
    /// The name in the hub.
    pub(crate) from: Option<Name>,
    pub(crate) store: Option<WordOrNames>,
    pub(crate) lost: Option<ReasonOrReasons>,
}

/// `hub` or `hub = v2::Widget`.
pub(crate) enum HubKey {
    /// The type is in the hub.
    Itself,
    /// The type of the hub.
    Type(Path),
}

/// `store = [color, size]`
pub(crate) struct Names(pub(crate) Vec<Ident>);

/// `lost(color = "reason")`
pub(crate) struct Reasons(pub(crate) Vec<(Ident, LitStr)>);

/// `default(color = "red")`
pub(crate) struct Defaults(pub(crate) Vec<(Ident, Expr)>);

/// `from = "speed"`
pub(crate) struct Name(pub(crate) LitStr);

/// `with = module`
pub(crate) struct Module(pub(crate) Path);

/// `default = 30`
pub(crate) struct DefaultValue(pub(crate) Expr);

/// `store`
pub(crate) struct Word;

/// `lost = "reason"`
pub(crate) struct Reason(pub(crate) LitStr);

/// `store` or `store = [Blue]`
pub(crate) enum WordOrNames {
    /// The variant itself is stored.
    Word,
    /// Variants of the hub that it stands for are stored.
    Names(Vec<Ident>),
}

/// `lost = "reason"` or `lost(Blue = "reason")`
pub(crate) enum ReasonOrReasons {
    /// The variant itself is lost.
    Reason(LitStr),
    /// Variants of the hub that it stands for are lost.
    Reasons(Vec<(Ident, LitStr)>),
}

const HUB: &str = "expected `hub` on the type of the hub, or the path of that type: `hub = v2::Widget`";
const NAMES: &str = "expected a list of fields of the hub: `store = [color, size]`";
const REASONS: &str = "expected fields of the hub with reasons: `lost(color = \"reason\")`";
const DEFAULTS: &str = "expected fields of the hub with values: `default(color = \"red\")`";
const NAME: &str = "expected a Rust name in the hub: `from = \"speed\"`";
const MODULE: &str = "expected the path of a module with `to_hub` and `from_hub`: `with = module`";
const DEFAULT: &str = "expected a value: `default = 30`";
const WORD: &str = "expected `store`: on a field the key takes no value";
const REASON: &str = "expected a reason: `lost = \"reason\"`";
const WORD_OR_NAMES: &str = "expected `store`, or a list of variants of the hub: `store = [Blue]`";
const REASON_OR_REASONS: &str = "expected `lost = \"reason\"`, or variants of the hub: `lost(Blue = \"reason\")`";

impl FromMeta for HubKey {
    fn from_word() -> Result<Self> {
        Ok(HubKey::Itself)
    }

    fn from_list(_: &[NestedMeta]) -> Result<Self> {
        Err(worded(HUB))
    }

    fn from_expr(expr: &Expr) -> Result<Self> {
        path(expr).map(HubKey::Type).ok_or_else(|| worded(HUB).with_span(expr))
    }
}

impl FromMeta for Names {
    fn from_word() -> Result<Self> {
        Err(worded(NAMES))
    }

    fn from_list(_: &[NestedMeta]) -> Result<Self> {
        Err(worded(NAMES))
    }

    fn from_expr(expr: &Expr) -> Result<Self> {
        names(expr, NAMES).map(Names)
    }
}

impl FromMeta for Reasons {
    fn from_word() -> Result<Self> {
        Err(worded(REASONS))
    }

    fn from_list(items: &[NestedMeta]) -> Result<Self> {
        reasons(items, REASONS).map(Reasons)
    }

    fn from_expr(expr: &Expr) -> Result<Self> {
        Err(worded(REASONS).with_span(expr))
    }
}

impl FromMeta for Defaults {
    fn from_word() -> Result<Self> {
        Err(worded(DEFAULTS))
    }

    fn from_list(items: &[NestedMeta]) -> Result<Self> {
        pairs(items, DEFAULTS).map(Defaults)
    }

    fn from_expr(expr: &Expr) -> Result<Self> {
        Err(worded(DEFAULTS).with_span(expr))
    }
}

impl FromMeta for Name {
    fn from_word() -> Result<Self> {
        Err(worded(NAME))
    }

    fn from_list(_: &[NestedMeta]) -> Result<Self> {
        Err(worded(NAME))
    }

    fn from_expr(expr: &Expr) -> Result<Self> {
        let name = text(expr).filter(|name| syn::parse_str::<Ident>(&name.value()).is_ok() || is_keyword(name));
        name.map(Name).ok_or_else(|| worded(NAME).with_span(expr))
    }
}

/// Whether the name is a keyword, which can name a field as a raw identifier.
fn is_keyword(name: &LitStr) -> bool {
    syn::parse_str::<Ident>(&format!("r#{}", name.value())).is_ok()
}

impl FromMeta for Module {
    fn from_word() -> Result<Self> {
        Err(worded(MODULE))
    }

    fn from_list(_: &[NestedMeta]) -> Result<Self> {
        Err(worded(MODULE))
    }

    fn from_expr(expr: &Expr) -> Result<Self> {
        path(expr).map(Module).ok_or_else(|| worded(MODULE).with_span(expr))
    }
}

impl FromMeta for DefaultValue {
    fn from_word() -> Result<Self> {
        Err(worded(DEFAULT))
    }

    fn from_list(_: &[NestedMeta]) -> Result<Self> {
        Err(worded(DEFAULT))
    }

    fn from_expr(expr: &Expr) -> Result<Self> {
        Ok(DefaultValue(expr.clone()))
    }
}

impl FromMeta for Word {
    fn from_word() -> Result<Self> {
        Ok(Word)
    }

    fn from_list(_: &[NestedMeta]) -> Result<Self> {
        Err(worded(WORD))
    }

    fn from_expr(expr: &Expr) -> Result<Self> {
        Err(worded(WORD).with_span(expr))
    }
}

impl FromMeta for Reason {
    fn from_word() -> Result<Self> {
        Err(worded(REASON))
    }

    fn from_list(_: &[NestedMeta]) -> Result<Self> {
        Err(worded(REASON))
    }

    fn from_expr(expr: &Expr) -> Result<Self> {
        reason(expr, REASON).map(Reason)
    }
}

impl FromMeta for WordOrNames {
    fn from_word() -> Result<Self> {
        Ok(WordOrNames::Word)
    }

    fn from_list(_: &[NestedMeta]) -> Result<Self> {
        Err(worded(WORD_OR_NAMES))
    }

    fn from_expr(expr: &Expr) -> Result<Self> {
        names(expr, WORD_OR_NAMES).map(WordOrNames::Names)
    }
}

impl FromMeta for ReasonOrReasons {
    fn from_word() -> Result<Self> {
        Err(worded(REASON_OR_REASONS))
    }

    fn from_list(items: &[NestedMeta]) -> Result<Self> {
        reasons(items, REASON_OR_REASONS).map(ReasonOrReasons::Reasons)
    }

    fn from_expr(expr: &Expr) -> Result<Self> {
        reason(expr, REASON_OR_REASONS).map(ReasonOrReasons::Reason)
    }
}

fn path(expr: &Expr) -> Option<Path> {
    match expr {
        Expr::Path(ExprPath { qself: None, path, .. }) => Some(path.clone()),
        _ => None,
    }
}

fn text(expr: &Expr) -> Option<LitStr> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        _ => None,
    }
}

fn reason(expr: &Expr, expected: &str) -> Result<LitStr> {
    let reason = text(expr).ok_or_else(|| worded(expected).with_span(expr))?;
    match reason.value().trim() {
        "" => Err(worded("empty reason; write why the loss is acceptable").with_span(expr)),
        _ => Ok(reason),
    }
}

fn names(expr: &Expr, expected: &str) -> Result<Vec<Ident>> {
    let Expr::Array(array) = expr else { return Err(worded(expected).with_span(expr)) };
    let mut errors = Error::accumulator();
    let name = |expr: &Expr| {
        let ident = path(expr).and_then(|path| path.get_ident().cloned());
        ident.ok_or_else(|| worded(expected).with_span(expr))
    };
    let names = array.elems.iter().filter_map(|expr| errors.handle(name(expr))).collect();
    errors.finish_with(names)
}

/// Parses `name = value, ..`.
fn pairs(items: &[NestedMeta], expected: &str) -> Result<Vec<(Ident, Expr)>> {
    let mut errors = Error::accumulator();
    let pair = |item: &NestedMeta| {
        let pair = match item {
            NestedMeta::Meta(Meta::NameValue(pair)) => pair.path.get_ident().cloned().zip(Some(pair.value.clone())),
            _ => None,
        };
        pair.ok_or_else(|| worded(expected).with_span(item))
    };
    let pairs: Vec<_> = items.iter().filter_map(|item| errors.handle(pair(item))).collect();
    match pairs.is_empty() && items.is_empty() {
        true => errors.finish().and(Err(worded(expected))),
        false => errors.finish_with(pairs),
    }
}

fn reasons(items: &[NestedMeta], expected: &str) -> Result<Vec<(Ident, LitStr)>> {
    let pairs = pairs(items, expected)?.into_iter();
    let mut errors = Error::accumulator();
    let reason = |(name, value): (Ident, Expr)| reason(&value, expected).map(|reason| (name, reason));
    let reasons = pairs.filter_map(|pair| errors.handle(reason(pair))).collect();
    errors.finish_with(reasons)
}

/// Whether the type derives `Convert`, whose attribute the derive of `Object` receives as well.
pub(crate) fn is_converted(attrs: &[Attribute]) -> bool {
    super::named("convert", attrs).next().is_some()
}
