//! The attributes of kinds and lists: one struct for the keys of each, and their parser.

use darling::{FromMeta, ast::NestedMeta, util::Flag};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, ExprPath, Lit, LitStr, Meta, Path, Token, Type, punctuated::Punctuated};

use crate::{
    columns::PrintColumns, conversion::Conversion, errors::Errors, indexes::Index, lifecycle::Lifecycle,
    methods::Method, verbs::VerbList,
};

/// `#[genclient(..)]`: Go's `+genclient`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct Genclient {
    /// `+genclient:nonNamespaced`
    pub(crate) non_namespaced: Flag,
    /// `+genclient:noStatus`
    pub(crate) no_status: Flag,
    /// `+genclient:noVerbs`
    pub(crate) no_verbs: Flag,
    /// `+genclient:readonly`
    pub(crate) readonly: Flag,
    /// `+genclient:onlyVerbs=get,list`
    pub(crate) only_verbs: Option<VerbList>,
    /// `+genclient:skipVerbs=get,list`
    pub(crate) skip_verbs: Option<VerbList>,
    /// `+genclient:method=GetScale,verb=get,subresource=scale,result=..`
    #[darling(multiple)]
    pub(crate) method: Vec<Method>,
    #[darling(multiple)]
    pub(crate) index: Vec<Index>,
}

/// `#[k8s(..)]` on a kind: Go's `+kubebuilder:resource`, `subresource` and `printcolumn`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct K8s {
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
    pub(crate) kind: Option<LitStr>,
    /// The list type of an `ApiObject` that is not generated.
    pub(crate) list: Option<Path>,
    pub(crate) plural: Option<LitStr>,
    pub(crate) singular: Option<LitStr>,
    pub(crate) short_names: Vec<LitStr>,
    pub(crate) categories: Vec<LitStr>,
    pub(crate) scope: Option<LitStr>,
    pub(crate) lifecycle: Option<Lifecycle>,
    pub(crate) subresource: Subresource,
    pub(crate) printcolumns: PrintColumns,
    pub(crate) selectable_fields: Vec<LitStr>,
    /// `+kubebuilder:storageversion`
    pub(crate) storage: Flag,
    /// `+kubebuilder:unservedversion`
    pub(crate) unserved: Flag,
    pub(crate) metadata: DefinitionMetadata,
    pub(crate) conversion: Option<Conversion>,
}

/// `#[k8s(metadata(..))]`: Go's `+kubebuilder:metadata`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct DefinitionMetadata {
    pub(crate) annotations: Vec<LitStr>,
    pub(crate) labels: Vec<LitStr>,
}

/// `#[k8s(subresource(..))]`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct Subresource {
    pub(crate) status: Flag,
    pub(crate) scale: Option<Scale>,
}

/// `#[k8s(subresource(scale(..)))]`.
#[derive(FromMeta)]
pub(crate) struct Scale {
    pub(crate) spec_path: LitStr,
    pub(crate) status_path: LitStr,
    #[darling(default)]
    pub(crate) selector_path: Option<LitStr>,
}

/// `#[k8s(..)]` on a list.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct K8sList {
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
    pub(crate) kind: Option<LitStr>,
}

/// `#[kubewright::defaults(..)]`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct CrateOnly {
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
}

/// `#[serde(..)]` on a root struct.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct SerdeContainer {
    pub(crate) rename_all: Option<LitStr>,
}

/// `#[serde(..)]` on a field of a root struct.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct SerdeField {
    pub(crate) rename: Option<LitStr>,
    pub(crate) default: Option<SerdeDefault>,
}

/// `#[serde(default)]`
pub(crate) enum SerdeDefault {
    /// `default`: the value of the type's `Default`.
    OfType,
    /// `default = "path::function"`: the result of this function.
    With(ExprPath),
}

impl FromMeta for SerdeDefault {
    fn from_word() -> darling::Result<Self> {
        Ok(SerdeDefault::OfType)
    }

    fn from_value(value: &Lit) -> darling::Result<Self> {
        let path = match value {
            Lit::Str(text) => text.parse().ok(),
            _ => None,
        };
        path.map(SerdeDefault::With).ok_or_else(|| darling::Error::unexpected_lit_type(value))
    }
}

/// Parses all attributes of this name as one.
pub(crate) fn parse<T: FromMeta + Default>(name: &str, attrs: &[Attribute], errors: &mut Errors) -> T {
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
    parse_keys(items, errors)
}

/// Parses keys one by one: a rejected key is reported and skipped, the others still apply.
pub(crate) fn parse_keys<T: FromMeta + Default>(items: Vec<NestedMeta>, errors: &mut Errors) -> T {
    let (mut accepted, mut value) = (Vec::new(), T::default());
    for item in items {
        accepted.push(item);
        match T::from_list(&accepted) {
            Ok(with_it) => value = with_it,
            Err(error) => {
                let rejected = accepted.pop();
                errors.extend_from_darling(rejected.as_ref(), error);
            }
        }
    }
    value
}

/// Returns the attributes of this name.
pub(crate) fn named<'a>(name: &'a str, attrs: &'a [Attribute]) -> impl Iterator<Item = &'a Attribute> {
    attrs.iter().filter(move |attr| attr.path().is_ident(name))
}

/// Returns the expression itself, which is in an invisible group if it is the argument of a `macro_rules!`.
pub(crate) fn ungrouped(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => ungrouped(&group.expr),
        expr => expr,
    }
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

/// Whether the path is that of a derive of serde.
pub(crate) fn is_serde_derive(path: &Path) -> bool {
    is_named(path, "Serialize") || is_named(path, "Deserialize")
}

/// Returns the message for a derive of serde on a kind or a list.
pub(crate) fn serde_conflict(derive: &str, path: &Path) -> String {
    let name = path.segments.last().map_or_else(String::new, |last| last.ident.to_string());
    format!(
        "conflicts with `{derive}`, which implements `{name}`, because it writes and validates `apiVersion` and \
         `kind`; remove this"
    )
}

/// Returns the keys of all attributes of this name; attributes with syntax errors are skipped, which their own macro
/// reports.
pub(crate) fn keys(name: &str, attrs: &[Attribute]) -> Vec<Meta> {
    named(name, attrs)
        .filter_map(|attr| attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok())
        .flatten()
        .collect()
}

/// Returns a key of the attributes of this name.
pub(crate) fn key(name: &str, key: &str, attrs: &[Attribute]) -> Option<Meta> {
    keys(name, attrs).into_iter().find(|meta| meta.path().is_ident(key))
}

/// Returns the doc comment as an expression: its lines without the space after `///` and without leading and trailing
/// blank lines. A value that is not a literal (`#[doc = include_str!(..)]`) is passed through.
pub(crate) fn docs(attrs: &[Attribute]) -> TokenStream {
    let blocks: Vec<_> = named("doc", attrs)
        .filter_map(|attr| match &attr.meta {
            Meta::NameValue(doc) => Some(&doc.value),
            _ => None,
        })
        .collect();
    let literals: Option<Vec<_>> = blocks.iter().map(|block| literal_doc(block)).collect();
    match literals {
        Some(lines) => {
            let text = lines.concat().join("\n");
            let text = text.trim_matches('\n');
            quote!(#text)
        }
        None => {
            let mut blocks = blocks.iter().map(|block| match literal_doc(block) {
                Some(lines) => lines.join("\n").into_token_stream(),
                None => block.to_token_stream(),
            });
            let first = blocks.next();
            quote!(::core::concat!(#first #(, "\n", #blocks)*))
        }
    }
}

/// Returns the lines of a doc comment, without the stars of a block comment.
fn literal_doc(block: &Expr) -> Option<Vec<String>> {
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = ungrouped(block) else { return None };
    let text = text.value();
    let starred = |line: &str| line.trim_start().starts_with('*');
    let has_stars = text.contains('\n') && text.lines().skip(1).filter(|line| !line.trim().is_empty()).all(starred);
    let line = |line: &str| {
        let line = if has_stars && starred(line) { &line.trim_start()[1..] } else { line };
        line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()
    };
    Some(text.split('\n').map(line).collect())
}
