//! Parses `#[schema(..)]` on a type and on its fields.

use darling::{Error, FromMeta, Result, ast::NestedMeta, util::Flag};
use proc_macro2::Span;
use syn::{
    Attribute, Data, DeriveInput, Expr, ExprLit, ExprRange, ExprUnary, Field, Fields, Ident, Lit, LitInt, LitStr, Meta,
    Path, RangeLimits, UnOp, Variant, ext::IdentExt, spanned::Spanned,
};

use super::{check, updates};
use crate::{
    apply::literal,
    attr::{self, ungrouped},
    convert::json::of_field,
    errors::Errors,
};

/// The keys of `#[schema(..)]` in all its sections. The grammar table lists those that a section accepts.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct SchemaAttr {
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

/// `each(..)`: the keys for every item or value.
pub(crate) struct Each(pub(crate) Box<SchemaAttr>, pub(crate) Vec<NestedMeta>);

impl FromMeta for Each {
    fn from_list(items: &[NestedMeta]) -> Result<Self> {
        SchemaAttr::from_list(items).map(|attr| Each(Box::new(attr), items.to_vec()))
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
        let expected = || Error::custom("expected `unique`, or names of fields such as `[\"name\"]`").with_span(expr);
        let Expr::Array(array) = ungrouped(expr) else { return Err(expected()) };
        let name = |item: &Expr| match ungrouped(item) {
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
        match ungrouped(expr) {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(Scalar::Text(text.clone())),
            Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }) => Ok(Scalar::Boolean(value.value)),
            other => Number::from_expr(other).map(Scalar::Number).map_err(|_| {
                Error::custom("expected a string, a boolean or a number, such as `\"none\"` or `0`").with_span(expr)
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
        let expected = || Error::custom("expected fields, such as `[size, weight]`").with_span(expr);
        let Expr::Array(array) = ungrouped(expr) else { return Err(expected()) };
        let name = |item: &Expr| match ungrouped(item) {
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
        let expected = || Error::custom("expected strings or integers, such as `[\"a\", \"b\"]`").with_span(expr);
        let Expr::Array(array) = ungrouped(expr) else { return Err(expected()) };
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
            (Some(own), Some(other)) => own > other,
            _ => self.value > other.value,
        }
    }
}

impl FromMeta for Number {
    fn from_expr(expr: &Expr) -> Result<Self> {
        let expected = || Error::custom("expected a number, such as `10` or `-0.5`").with_span(expr);
        let (sign, literal) = match ungrouped(expr) {
            Expr::Lit(literal) => ("", literal),
            Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => match ungrouped(expr) {
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
            return Err(Error::custom(message).with_span(expr));
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
        let error = |message: &str| Error::custom(message).with_span(expr);
        let Expr::Range(ExprRange { start, end, limits, .. }) = ungrouped(expr) else {
            return Err(error("expected a range, such as `1..=63`, `1..` or `..=63`"));
        };
        if matches!((limits, end), (RangeLimits::HalfOpen(_), Some(_))) {
            return Err(error("the upper bound is inclusive; use `..=`"));
        }
        let number = |bound: &Option<Box<Expr>>| match bound.as_deref().map(ungrouped) {
            None => Ok(None),
            Some(Expr::Lit(ExprLit { lit: Lit::Int(number), .. })) => {
                number.base10_parse().map(Some).map_err(Error::from)
            }
            Some(other) => Err(Error::custom("expected an integer").with_span(other)),
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

/// A type with its attribute and its fields.
pub(crate) struct SchemaType {
    pub(crate) attr: SchemaAttr,
    /// All fields, those of an enum by variant.
    pub(crate) fields: Vec<SchemaField>,
    /// Whether it is a struct with braces and without fields.
    pub(crate) is_empty: bool,
    /// Whether its schema has the fields of flattened types beside its own.
    pub(crate) flattens: bool,
}

/// A field with its attribute.
pub(crate) struct SchemaField {
    /// The Rust name; a field of a tuple has none.
    pub(crate) name: Option<String>,
    /// The JSON name of `#[serde(rename = "..")]`.
    pub(crate) rename: Option<String>,
    /// Whether the JSON name is explicit: by `rename`, or by a case convention of the type or variant.
    pub(crate) is_renamed: bool,
    /// Whether it is a property in JSON. A flattened field is not: the fields of its type are.
    pub(crate) is_property: bool,
    pub(crate) span: Span,
    pub(crate) attr: SchemaAttr,
}

impl SchemaType {
    pub(crate) fn parse(input: &DeriveInput, errors: &mut Errors) -> Self {
        if let Data::Union(_) = &input.data {
            errors.push(&input.ident, "unsupported union: it has no JSON encoding; use an enum");
        }
        let attr: SchemaAttr = attr::parse("schema", &input.attrs, errors);
        check::check_type(input, &attr, errors);
        let fields: Vec<_> = containers(input).iter().flat_map(|container| container.parse_fields(errors)).collect();
        let is_empty = match &input.data {
            Data::Struct(data) => matches!(&data.fields, Fields::Named(named) if named.named.is_empty()),
            Data::Enum(_) | Data::Union(_) => false,
        };
        let is_flattened = |field: &&Field| has_serde_key(&field.attrs, "flatten");
        let is_encoded_by_fields =
            ["from", "into", "transparent", "try_from"].iter().all(|key| !has_serde_key(&input.attrs, key));
        let flattens = is_encoded_by_fields && super::fields(&input.data).iter().any(is_flattened);
        let model = SchemaType { attr, fields, is_empty, flattens };
        check::check_unions(&model, input, errors);
        updates::check_fields(&model, input, errors);
        model
    }
}

/// A struct or a variant, with its fields.
struct Container<'a> {
    fields: &'a Fields,
    /// `rename_all`, or `rename_all_fields` of an enum.
    case_convention: Option<Meta>,
}

/// Returns the struct, or the variants of an enum.
fn containers(input: &DeriveInput) -> Vec<Container<'_>> {
    match &input.data {
        Data::Struct(data) => {
            let case_convention = attr::key("serde", "rename_all", &input.attrs);
            vec![Container { fields: &data.fields, case_convention }]
        }
        Data::Enum(data) => {
            let of_all = attr::key("serde", "rename_all_fields", &input.attrs);
            let convention =
                |variant: &Variant| attr::key("serde", "rename_all", &variant.attrs).or_else(|| of_all.clone());
            let variants = data.variants.iter();
            variants.map(|of| Container { fields: &of.fields, case_convention: convention(of) }).collect()
        }
        Data::Union(_) => Vec::new(),
    }
}

impl Container<'_> {
    fn parse_fields(&self, errors: &mut Errors) -> Vec<SchemaField> {
        let fields: Vec<SchemaField> = self.fields.iter().map(|field| self.parse_field(field, errors)).collect();
        self.check_json_names(&fields, errors);
        fields
    }

    /// Reports fields of one JSON name, which serde encodes twice and cannot decode.
    fn check_json_names(&self, fields: &[SchemaField], errors: &mut Errors) {
        let rule = match &self.case_convention {
            Some(Meta::NameValue(pair)) => literal(pair).map(|rule| rule.value()),
            // Different names for encoding and decoding.
            Some(_) => return,
            None => None,
        };
        let mut known: Vec<(String, &str)> = Vec::new();
        for (field, parsed) in self.fields.iter().zip(fields) {
            let Some(name) = &parsed.name else { continue };
            let has_keys = |keys: &[&str]| keys.iter().any(|key| has_serde_key(&field.attrs, key));
            let has_two_names = parsed.rename.is_none() && has_keys(&["rename"]);
            if has_two_names || has_keys(&["flatten", "skip", "skip_deserializing", "skip_serializing"]) {
                continue;
            }
            let json_name = parsed.rename.clone().unwrap_or_else(|| of_field(rule.as_deref(), name));
            match known.iter().find(|(known, _)| *known == json_name) {
                Some((_, other)) => {
                    let message = format!(
                        "the field `{other}` has the same JSON name, `{json_name}`, so that it is encoded twice and \
                         cannot be decoded; rename one"
                    );
                    errors.extend(syn::Error::new(parsed.span, message));
                }
                None => known.push((json_name, name)),
            }
        }
    }

    fn parse_field(&self, field: &Field, errors: &mut Errors) -> SchemaField {
        let attr: SchemaAttr = attr::parse("schema", &field.attrs, errors);
        check::check_field(field, matches!(self.fields, Fields::Unnamed(_)), &attr, errors);
        let rename = attr::keys("serde", &field.attrs).into_iter().find_map(|meta| match meta {
            Meta::NameValue(pair) if pair.path.is_ident("rename") => literal(&pair).map(|name| name.value()),
            _ => None,
        });
        SchemaField {
            name: field.ident.as_ref().map(|ident| ident.unraw().to_string()),
            is_renamed: self.case_convention.is_some() || has_serde_key(&field.attrs, "rename"),
            is_property: !["flatten", "skip"].iter().any(|key| has_serde_key(&field.attrs, key)),
            rename,
            span: field.ident.as_ref().map_or_else(|| field.ty.span(), Ident::span),
            attr,
        }
    }
}

/// Whether an attribute of serde has this key.
pub(crate) fn has_serde_key(attrs: &[Attribute], key: &str) -> bool {
    attr::key("serde", key, attrs).is_some()
}

/// Removes a key from the attributes of serde, and returns whether it was present.
pub(crate) fn remove_serde_key(attrs: &mut [Attribute], key: &str) -> bool {
    let mut is_present = false;
    for attr in attrs.iter_mut().filter(|attr| attr.path().is_ident("serde")) {
        let keys = attr::keys("serde", std::slice::from_ref(attr));
        let others: Vec<&Meta> = keys.iter().filter(|meta| !meta.path().is_ident(key)).collect();
        if others.len() < keys.len() {
            is_present = true;
            *attr = syn::parse_quote!(#[serde(#(#others),*)]);
        }
    }
    is_present
}
