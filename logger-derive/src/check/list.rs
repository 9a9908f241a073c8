//! The checks of a list, one function each.

use super::root;
use crate::{errors::Errors, model::List};

/// Checks a list. Keys and fields that the parser rejected are reported there, and not as missing here.
pub(crate) fn list(list: &List, errors: &mut Errors) {
    for attr in &list.genclient {
        errors.push(attr, "`#[genclient]` applies to kinds, not to lists; move it to the kind");
    }
    root::check_body(&list.root, errors);
    root::check_metadata(&list.root, "ListMeta", errors);
    root::check_type_meta(&list.root, errors);
    root::check_json_names(&list.root, errors);
    root::check_kind(&list.root, list.k8s.kind.as_ref(), errors);
    check_items(list, errors);
    check_no_other_fields(list, errors);
}

/// `WidgetList` must have `pub items: Vec<Widget>`.
fn check_items(list: &List, errors: &mut Errors) {
    let example = list.kind_by_name().map_or_else(|| "Kind".to_owned(), |kind| kind.to_string());
    match list.items() {
        None if list.root.has_named_fields() => {
            errors.push(&list.root.ident, format_args!("missing items of the list; add `pub items: Vec<{example}>`"))
        }
        Some(items) if items.vec_item().is_none() => {
            errors.push(&items.ty, format_args!("expected a `Vec` of the kind, such as `Vec<{example}>`"))
        }
        None | Some(_) => {}
    }
}

/// A list has no other fields.
fn check_no_other_fields(list: &List, errors: &mut Errors) {
    if let Some(other) = list.root.fields().iter().filter(|f| f.json_name != "metadata").nth(1) {
        errors
            .push(&other.ident, "unexpected field of a list: it has only `metadata` and its items; remove this field");
    }
}
