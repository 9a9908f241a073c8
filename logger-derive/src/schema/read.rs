//! What `#[schema(..)]` says, on a type and on its fields.

use darling::ast::NestedMeta;
use darling::util::Flag;
use darling::{Error, FromMeta, Result};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DeriveInput, Expr, ExprLit, ExprRange, ExprUnary, Field, Fields, Ident, Lit, LitInt, LitStr, Meta,
    Path, RangeLimits, Token, UnOp,
};

use super::check;
use crate::attr;
use crate::errors::Errors;

/// The keywords of `#[schema(..)]` in all its places. Which of them a place takes, the table of keywords says.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct Facts {
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

/// `each(..)`: the facts of every item or value.
pub(crate) struct Each(pub(crate) Box<Facts>, pub(crate) Vec<NestedMeta>);

impl FromMeta for Each {
    fn from_list(items: &[NestedMeta]) -> Result<Self> {
        Facts::from_list(items).map(|facts| Each(Box::new(facts), items.to_vec()))
    }
}

/// `external_docs(..)`
#[derive(FromMeta)]
pub(crate) struct ExternalDocs {
    pub(crate) url: LitStr,
    #[darling(default)]
    pub(crate) description: Option<LitStr>,
}

/// `validation(..)`: Go's `+kubebuilder:validation:XValidation`.
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
pub(crate) struct Column(pub(crate) ColumnKeywords);

/// What is said of a column; its type and its path are those of the field.
#[derive(Default, FromMeta)]
pub(crate) struct ColumnKeywords {
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
        let keywords = ColumnKeywords::from_list(items)?;
        match keywords.name {
            Some(_) => Ok(Column(keywords)),
            None => Err(Error::missing_field("name")),
        }
    }

    fn from_value(value: &Lit) -> Result<Self> {
        let name = LitStr::from_value(value)?;
        Ok(Column(ColumnKeywords { name: Some(name), ..ColumnKeywords::default() }))
    }
}

/// `[a, b]`: fields, by their names in Rust.
pub(crate) struct Names(pub(crate) Vec<Ident>);

impl FromMeta for Names {
    fn from_expr(expr: &Expr) -> Result<Self> {
        let expected = || Error::custom("expected fields, such as `[size, weight]`").with_span(expr);
        let Expr::Array(array) = expr else { return Err(expected()) };
        let name = |item: &Expr| match item {
            Expr::Path(path) => path.path.get_ident().cloned(),
            _ => None,
        };
        array.elems.iter().map(name).collect::<Option<Vec<_>>>().map(Names).ok_or_else(expected)
    }
}

/// `["a", "b"]` or `[1, 2]`
pub(crate) struct Values(pub(crate) Vec<Lit>);

impl FromMeta for Values {
    fn from_expr(expr: &Expr) -> Result<Self> {
        let expected = || Error::custom("expected texts or whole numbers, such as `[\"a\", \"b\"]`").with_span(expr);
        let Expr::Array(array) = expr else { return Err(expected()) };
        let value = |item: &Expr| match item {
            Expr::Lit(ExprLit { lit: lit @ (Lit::Str(_) | Lit::Int(_)), .. }) => Some(lit.clone()),
            _ => None,
        };
        let values: Option<Vec<_>> = array.elems.iter().map(value).collect();
        values.filter(|values| !values.is_empty()).map(Values).ok_or_else(expected)
    }
}

/// A number, with its sign.
#[derive(Clone)]
pub(crate) struct Number {
    pub(crate) written: Expr,
    pub(crate) value: f64,
    /// The number itself, if it is a whole one.
    pub(crate) whole: Option<i64>,
}

impl FromMeta for Number {
    fn from_expr(expr: &Expr) -> Result<Self> {
        let expected = || Error::custom("expected a number, such as `10` or `-0.5`").with_span(expr);
        let (sign, literal) = match expr {
            Expr::Lit(literal) => ("", literal),
            Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => match &**expr {
                Expr::Lit(literal) => ("-", literal),
                _ => return Err(expected()),
            },
            _ => return Err(expected()),
        };
        let (digits, is_whole) = match &literal.lit {
            Lit::Int(number) => (number.base10_digits(), true),
            Lit::Float(number) => (number.base10_digits(), false),
            _ => return Err(expected()),
        };
        let text = format!("{sign}{digits}");
        let whole = if is_whole { Some(text.parse().map_err(|_| expected())?) } else { None };
        let value = text.parse().map_err(|_| expected())?;
        Ok(Number { written: expr.clone(), value, whole })
    }
}

/// `1..=63`, `1..` or `..=63`: how many.
pub(crate) struct Bounds {
    pub(crate) min: Option<u32>,
    pub(crate) max: Option<u32>,
}

impl FromMeta for Bounds {
    fn from_expr(expr: &Expr) -> Result<Self> {
        let refused = |message: &str| Error::custom(message).with_span(expr);
        let Expr::Range(ExprRange { start, end, limits, .. }) = expr else {
            return Err(refused("expected a range, such as `1..=63`, `1..` or `..=63`"));
        };
        if matches!((limits, end), (RangeLimits::HalfOpen(_), Some(_))) {
            return Err(refused("the last number belongs to it: write `..=`"));
        }
        let number = |bound: &Option<Box<Expr>>| match bound.as_deref() {
            None => Ok(None),
            Some(Expr::Lit(ExprLit { lit: Lit::Int(number), .. })) => {
                number.base10_parse().map(Some).map_err(Error::from)
            }
            Some(other) => Err(Error::custom("expected a whole number").with_span(other)),
        };
        let bounds = Bounds { min: number(start)?, max: number(end)? };
        match bounds {
            Bounds { min: None, max: None } => Err(refused("this range bounds nothing; remove it or give it an end")),
            Bounds { min: Some(min), max: Some(max) } if min > max => {
                Err(refused("nothing is in this range; turn it round"))
            }
            _ => Ok(bounds),
        }
    }
}

/// A type, with all that is said of it and of its fields.
pub(crate) struct Declared {
    pub(crate) facts: Facts,
    /// Every field, those of all variants one after the other.
    pub(crate) fields: Vec<DeclaredField>,
    /// Whether it is a struct with braces and nothing in them.
    pub(crate) is_empty: bool,
}

/// A field, with what is said of it.
pub(crate) struct DeclaredField {
    /// Its name in Rust; a field of a tuple has none.
    pub(crate) name: Option<String>,
    /// Its name in JSON, where serde is told one.
    pub(crate) rename: Option<String>,
    pub(crate) facts: Facts,
}

impl Declared {
    pub(crate) fn parse(input: &DeriveInput, errors: &mut Errors) -> Self {
        if let Data::Union(_) = &input.data {
            errors.push(&input.ident, "a union has no JSON form; use an enum");
        }
        let facts: Facts = attr::read("schema", &input.attrs, errors);
        check::of_type(input, &facts, errors);
        let fields = fields(input).into_iter().map(|(field, is_tuple)| DeclaredField::parse(field, is_tuple, errors));
        let is_empty = matches!(&input.data, Data::Struct(data) if matches!(&data.fields, Fields::Named(fields) if fields.named.is_empty()));
        let declared = Declared { facts, fields: fields.collect(), is_empty };
        check::unions(&declared, input, errors);
        declared
    }
}

impl DeclaredField {
    fn parse(field: &Field, is_tuple: bool, errors: &mut Errors) -> Self {
        let facts: Facts = attr::read("schema", &field.attrs, errors);
        check::of_field(field, is_tuple, &facts, errors);
        let rename = nested(&field.attrs).into_iter().find_map(|meta| match meta {
            Meta::NameValue(value) if value.path.is_ident("rename") => match value.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
                _ => None,
            },
            _ => None,
        });
        DeclaredField { name: field.ident.as_ref().map(|ident| ident.unraw().to_string()), rename, facts }
    }
}

/// Every field, and whether it is one of a tuple.
fn fields(input: &DeriveInput) -> Vec<(&Field, bool)> {
    let of = |fields: &'_ Fields| matches!(fields, Fields::Unnamed(_));
    match &input.data {
        Data::Struct(data) => data.fields.iter().map(|field| (field, of(&data.fields))).collect(),
        Data::Enum(data) => {
            let variants = data.variants.iter();
            variants.flat_map(|variant| variant.fields.iter().map(|field| (field, of(&variant.fields)))).collect()
        }
        Data::Union(_) => Vec::new(),
    }
}

/// Whether serde is told this.
pub(crate) fn serde_says(attrs: &[Attribute], word: &str) -> bool {
    nested(attrs).iter().any(|meta| meta.path().is_ident(word))
}

fn nested(attrs: &[Attribute]) -> Vec<Meta> {
    let parse =
        |attr: &Attribute| attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).unwrap_or_default();
    attr::named("serde", attrs).flat_map(parse).collect()
}
