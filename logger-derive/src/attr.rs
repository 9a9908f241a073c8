//! The attributes: what may be written, one struct each.

use darling::FromMeta;
use darling::ast::NestedMeta;
use darling::util::{Flag, SpannedValue};
use syn::punctuated::Punctuated;
use syn::{Attribute, LitStr, Meta, Path, Token};

use crate::errors::Errors;

/// `#[genclient(..)]`: Go's `+genclient`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct Genclient {
    /// `+genclient:nonNamespaced`
    pub(crate) non_namespaced: Flag,
    /// `+genclient:noStatus`
    pub(crate) no_status: Flag,
}

/// `#[k8s(..)]` on a kind: Go's `+kubebuilder:resource`, `subresource` and `printcolumn`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct K8s {
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
    pub(crate) plural: Option<LitStr>,
    pub(crate) singular: Option<LitStr>,
    pub(crate) short_names: Vec<LitStr>,
    pub(crate) categories: Vec<LitStr>,
    pub(crate) scope: Option<LitStr>,
    pub(crate) subresource: Subresource,
    #[darling(multiple)]
    pub(crate) printcolumn: Vec<PrintColumn>,
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

/// `#[k8s(printcolumn(..))]`.
#[derive(FromMeta)]
pub(crate) struct PrintColumn {
    pub(crate) name: LitStr,
    #[darling(rename = "type")]
    pub(crate) column_type: LitStr,
    pub(crate) json_path: LitStr,
    #[darling(default)]
    pub(crate) description: Option<LitStr>,
    #[darling(default)]
    pub(crate) format: Option<LitStr>,
    #[darling(default)]
    pub(crate) priority: SpannedValue<i32>,
}

/// `#[k8s(..)]` on a list, and `#[deep_copy(..)]`.
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
    pub(crate) default: Flag,
}

/// What is written for a keyword.
const FORMS: &[(&str, &str)] = &[
    ("categories", "categories = [\"all\"]"),
    ("crate", "crate = path"),
    ("default", "default"),
    ("description", "description = \"..\""),
    ("format", "format = \"..\""),
    ("group", "group = \"example.com\""),
    ("json_path", "json_path = \".status.state\""),
    ("kinds", "kinds = [Widget, WidgetList]"),
    ("name", "name = \"..\""),
    ("no_status", "no_status"),
    ("non_namespaced", "non_namespaced"),
    ("plural", "plural = \"widgets\""),
    ("printcolumn", "printcolumn(name = \"..\", type = \"..\", json_path = \"..\")"),
    ("priority", "priority = 1"),
    ("rename", "rename = \"..\""),
    ("rename_all", "rename_all = \"camelCase\""),
    ("scale", "scale(spec_path = \"..\", status_path = \"..\")"),
    ("scope", "scope = \"Cluster\""),
    ("selector_path", "selector_path = \".status.selector\""),
    ("short_names", "short_names = [\"wg\"]"),
    ("singular", "singular = \"widget\""),
    ("spec_path", "spec_path = \".spec.replicas\""),
    ("status", "status"),
    ("status_path", "status_path = \".status.replicas\""),
    ("subresource", "subresource(status)"),
    ("type", "type = \"string\""),
    ("version", "version = \"v1\""),
];

/// What is written for this keyword, if there is such a keyword.
pub(crate) fn form(keyword: &str) -> Option<&'static str> {
    FORMS.iter().find(|(name, _)| *name == keyword).map(|(_, form)| *form)
}

/// Reads all attributes of this name as one.
pub(crate) fn read<T: FromMeta + Default>(name: &str, attrs: &[Attribute], errors: &mut Errors) -> T {
    let mut items = Vec::new();
    for attr in named(name, attrs) {
        match &attr.meta {
            Meta::Path(_) => {}
            Meta::List(list) => match list.parse_args_with(Punctuated::<NestedMeta, Token![,]>::parse_terminated) {
                Ok(nested) => items.extend(nested),
                Err(error) => errors.extend(error),
            },
            Meta::NameValue(_) => errors.push(attr, format_args!("expected `#[{name}(..)]`")),
        }
    }
    keywords(items, errors)
}

/// Takes keyword after keyword: one that is refused is left out, and the others still count.
pub(crate) fn keywords<T: FromMeta + Default>(items: Vec<NestedMeta>, errors: &mut Errors) -> T {
    let (mut taken, mut value) = (Vec::new(), T::default());
    for item in items {
        taken.push(item);
        match T::from_list(&taken) {
            Ok(with_it) => value = with_it,
            Err(error) => {
                let refused = taken.pop();
                errors.refuse(refused.as_ref(), error);
            }
        }
    }
    value
}

/// The attributes of this name.
pub(crate) fn named<'a>(name: &'a str, attrs: &'a [Attribute]) -> impl Iterator<Item = &'a Attribute> {
    attrs.iter().filter(move |attr| attr.path().is_ident(name))
}

/// The doc comment: its lines without the space after `///`, blank lines at the ends left out.
pub(crate) fn docs(attrs: &[Attribute]) -> String {
    let lines = named("doc", attrs).filter_map(|attr| match &attr.meta {
        Meta::NameValue(doc) => match &doc.value {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let text: Vec<_> = lines
        .flat_map(|block| block.split('\n').map(str::to_owned).collect::<Vec<_>>())
        .map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned())
        .collect();
    text.join("\n").trim_matches('\n').to_owned()
}
