//! `#[schema(..)]` on a type and on its fields.

use darling::{Error, FromMeta, Result, ast::NestedMeta, util::Flag};
use proc_macro2::Span;
use syn::{
    Attribute, Expr, ExprLit, ExprRange, ExprUnary, Ident, Lit, LitInt, LitStr, Path, RangeLimits, UnOp,
    spanned::Spanned,
};

use super::{items, keys::worded, parse_keys};
use crate::{errors::Errors, grammar::Section};

/// The keys of `#[schema(..)]` in all its sections. The grammar table lists those that a section accepts.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct SchemaAttr {
    /// All keys, of which some apply elsewhere.
    #[darling(skip)]
    pub(crate) written: Vec<Path>,
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
    pub(crate) min: Option<Number>,
    pub(crate) max: Option<Number>,
    pub(crate) exclusive_min: Flag,
    pub(crate) exclusive_max: Flag,
    pub(crate) multiple_of: Option<Number>,
    pub(crate) length: Option<Bounds>,
    pub(crate) items: Option<Bounds>,
    pub(crate) properties: Option<Bounds>,
    pub(crate) pattern: Option<LitStr>,
    pub(crate) format: Option<LitStr>,
    pub(crate) no_format: Flag,
    pub(crate) values: Option<Values>,
    pub(crate) each: Option<Each>,
    pub(crate) list_type: Option<Path>,
    pub(crate) list_map_keys: Vec<LitStr>,
    pub(crate) map_type: Option<Path>,
    pub(crate) struct_type: Option<Path>,
    pub(crate) nullable: Flag,
    pub(crate) required: Flag,
    pub(crate) immutable: Flag,
    pub(crate) forbidden: Flag,
    pub(crate) monotonic: Flag,
    pub(crate) neq: Option<Scalar>,
    pub(crate) max_bytes: Option<LitInt>,
    pub(crate) update: Option<Names>,
    pub(crate) unique: Option<Unique>,
    pub(crate) each_key: Option<EachKey>,
    pub(crate) dependent_required: Option<Names>,
    pub(crate) dependent_forbidden: Option<Names>,
    pub(crate) embedded_resource: Flag,
    pub(crate) preserve_unknown_fields: Flag,
    pub(crate) schemaless: Flag,
    pub(crate) allow_float: Flag,
    pub(crate) depth: Option<LitInt>,
    pub(crate) title: Option<LitStr>,
    pub(crate) external_docs: Option<ExternalDocs>,
    #[darling(multiple)]
    pub(crate) validation: Vec<Validation>,
    pub(crate) column: Option<Column>,
    pub(crate) selectable: Flag,
    #[darling(multiple)]
    pub(crate) exactly_one_of: Vec<Names>,
    #[darling(multiple)]
    pub(crate) at_most_one_of: Vec<Names>,
    #[darling(multiple)]
    pub(crate) at_least_one_of: Vec<Names>,
    pub(crate) via: Option<Path>,
}

impl SchemaAttr {
    /// Parses all attributes of a type or a field as one.
    pub(crate) fn parse(section: &Section, attrs: &[Attribute], errors: &mut Errors) -> Self {
        let items = items(section.name, attrs, errors);
        let written = written(&items);
        SchemaAttr { written, ..parse_keys(section, items, errors) }
    }
}

fn written(items: &[NestedMeta]) -> Vec<Path> {
    let path = |item: &NestedMeta| match item {
        NestedMeta::Meta(meta) => Some(meta.path().clone()),
        NestedMeta::Lit(_) | NestedMeta::NameValueInvalidExpr(_) => None,
    };
    items.iter().filter_map(path).collect()
}

/// `each(..)`: the keys for every item or value.
pub(crate) struct Each(pub(crate) Box<SchemaAttr>);

impl FromMeta for Each {
    fn from_list(items: &[NestedMeta]) -> Result<Self> {
        let keys = SchemaAttr::from_list(items)?;
        Ok(Each(Box::new(SchemaAttr { written: written(items), ..keys })))
    }
}

/// `each_key(..)`: the keys for every key of a map.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct EachKey {
    pub(crate) length: Option<Bounds>,
    pub(crate) pattern: Option<LitStr>,
    pub(crate) values: Option<Values>,
}

/// `unique`, or `unique = ["name"]` with the JSON names of the fields that identify an item.
#[derive(Default)]
pub(crate) struct Unique(pub(crate) Vec<LitStr>);

impl FromMeta for Unique {
    fn from_word() -> Result<Self> {
        Ok(Unique::default())
    }

    fn from_expr(expr: &Expr) -> Result<Self> {
        let expected = || worded("expected `unique`, or names of fields such as `[\"name\"]`").with_span(expr);
        let Expr::Array(array) = expr else { return Err(expected()) };
        let name = |item: &Expr| match item {
            Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => Some(name.clone()),
            _ => None,
        };
        let names: Option<Vec<_>> = array.elems.iter().map(name).collect();
        names.filter(|names| !names.is_empty()).map(Unique).ok_or_else(expected)
    }
}

/// A string, a boolean or a number.
pub(crate) enum Scalar {
    Text(LitStr),
    Boolean(bool),
    Number(Number),
}

impl FromMeta for Scalar {
    fn from_expr(expr: &Expr) -> Result<Self> {
        match expr {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(Scalar::Text(text.clone())),
            Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }) => Ok(Scalar::Boolean(value.value)),
            other => Number::from_expr(other).map(Scalar::Number).map_err(|_| {
                worded("expected a string, a boolean or a number, such as `\"none\"` or `0`").with_span(expr)
            }),
        }
    }
}

/// The keys of `external_docs(..)`.
#[derive(FromMeta)]
pub(crate) struct ExternalDocs {
    pub(crate) url: LitStr,
    #[darling(default)]
    pub(crate) description: Option<LitStr>,
}

/// The keys of `validation(..)`: Go's `+kubebuilder:validation:XValidation`.
#[derive(FromMeta)]
pub(crate) struct Validation {
    pub(crate) rule: LitStr,
    #[darling(default)]
    pub(crate) message: Option<LitStr>,
    #[darling(default)]
    pub(crate) message_expression: Option<LitStr>,
    #[darling(default)]
    pub(crate) reason: Option<LitStr>,
    #[darling(default)]
    pub(crate) field_path: Option<LitStr>,
    #[darling(default)]
    pub(crate) optional_old_self: Flag,
}

/// `column = "Level"` or `column(name = "Level", priority = 1)`.
#[derive(Default)]
pub(crate) struct Column(pub(crate) ColumnKeys);

/// The keys of `column(..)`; type and path of the column are those of the field.
#[derive(Default, FromMeta)]
pub(crate) struct ColumnKeys {
    pub(crate) name: Option<LitStr>,
    #[darling(default)]
    pub(crate) description: Option<LitStr>,
    #[darling(default)]
    pub(crate) format: Option<LitStr>,
    #[darling(default)]
    pub(crate) priority: Option<LitInt>,
}

impl FromMeta for Column {
    fn from_list(items: &[NestedMeta]) -> Result<Self> {
        let keys = ColumnKeys::from_list(items)?;
        match keys.name {
            Some(_) => Ok(Column(keys)),
            None => Err(Error::missing_field("name")),
        }
    }

    fn from_value(value: &Lit) -> Result<Self> {
        let name = LitStr::from_value(value)?;
        Ok(Column(ColumnKeys { name: Some(name), ..ColumnKeys::default() }))
    }
}

/// Fields by their Rust names: `[a, b]`.
pub(crate) struct Names(pub(crate) Vec<Ident>, pub(crate) Span);

impl FromMeta for Names {
    fn from_expr(expr: &Expr) -> Result<Self> {
        let expected = || worded("expected fields, such as `[size, weight]`").with_span(expr);
        let Expr::Array(array) = expr else { return Err(expected()) };
        let name = |item: &Expr| match item {
            Expr::Path(path) => path.path.get_ident().cloned(),
            _ => None,
        };
        array
            .elems
            .iter()
            .map(name)
            .collect::<Option<Vec<_>>>()
            .map(|names| Names(names, expr.span()))
            .ok_or_else(expected)
    }
}

/// Allowed values: `["a", "b"]` or `[-1, 1]`.
pub(crate) struct Values(pub(crate) Vec<Scalar>);

impl FromMeta for Values {
    fn from_expr(expr: &Expr) -> Result<Self> {
        let expected = || worded("expected strings or integers, such as `[\"a\", \"b\"]`").with_span(expr);
        let Expr::Array(array) = expr else { return Err(expected()) };
        let value = |item: &Expr| match Scalar::from_expr(item) {
            Ok(value @ (Scalar::Text(_) | Scalar::Number(Number { integer: Some(_), .. }))) => Some(value),
            _ => None,
        };
        let values: Option<Vec<_>> = array.elems.iter().map(value).collect();
        values.filter(|values| !values.is_empty()).map(Values).ok_or_else(expected)
    }
}

/// A number literal with its sign.
#[derive(Clone)]
pub(crate) struct Number {
    pub(crate) expr: Expr,
    pub(crate) value: f64,
    /// The exact value of an integer.
    pub(crate) integer: Option<i128>,
}

impl Number {
    /// Whether it is greater than the other number.
    pub(crate) fn exceeds(&self, other: &Number) -> bool {
        match (self.integer, other.integer) {
            (Some(left), Some(right)) => left > right,
            _ => self.value > other.value,
        }
    }
}

impl FromMeta for Number {
    fn from_expr(expr: &Expr) -> Result<Self> {
        let expected = || worded("expected a number, such as `10` or `-0.5`").with_span(expr);
        let (sign, literal) = match expr {
            Expr::Lit(literal) => ("", literal),
            Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => match &**expr {
                Expr::Lit(literal) => ("-", literal),
                _ => return Err(expected()),
            },
            _ => return Err(expected()),
        };
        let (digits, is_integer) = match &literal.lit {
            Lit::Int(number) => (number.base10_digits(), true),
            Lit::Float(number) => (number.base10_digits(), false),
            _ => return Err(expected()),
        };
        let text = format!("{sign}{digits}");
        let integer = if is_integer { Some(text.parse().map_err(|_| expected())?) } else { None };
        if integer.is_some_and(|integer: i128| i64::try_from(integer).is_err() && u64::try_from(integer).is_err()) {
            let message = "integer out of range: expected a value of `i64` or `u64`";
            return Err(worded(message).with_span(expr));
        }
        let value = text.parse().map_err(|_| expected())?;
        Ok(Number { expr: expr.clone(), value, integer })
    }
}

/// Bounds of a count: `1..=63`, `1..` or `..=63`.
pub(crate) struct Bounds {
    pub(crate) min: Option<u32>,
    pub(crate) max: Option<u32>,
}

impl FromMeta for Bounds {
    fn from_expr(expr: &Expr) -> Result<Self> {
        let error = |message: &str| worded(message).with_span(expr);
        let Expr::Range(ExprRange { start, end, limits, .. }) = expr else {
            return Err(error("expected a range, such as `1..=63`, `1..` or `..=63`"));
        };
        if matches!((limits, end), (RangeLimits::HalfOpen(_), Some(_))) {
            return Err(error("the upper bound is inclusive; use `..=`"));
        }
        let number = |bound: &Option<Box<Expr>>| match bound.as_deref() {
            None => Ok(None),
            Some(Expr::Lit(ExprLit { lit: Lit::Int(number), .. })) => {
                number.base10_parse().map(Some).map_err(|error| worded(error).with_span(number))
            }
            Some(other) => Err(worded("expected an integer").with_span(other)),
        };
        let bounds = Bounds { min: number(start)?, max: number(end)? };
        match bounds {
            Bounds { min: None, max: None } => Err(error("unbounded range; add a bound or remove the key")),
            Bounds { min: Some(min), max: Some(max) } if min > max => {
                Err(error(&format!("empty range: start {min} exceeds end {max}")))
            }
            _ => Ok(bounds),
        }
    }
}
