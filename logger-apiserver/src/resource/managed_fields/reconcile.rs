//! Fitting what managers own to a schema that has changed since.

use super::{
    path::{Path, PathElement},
    set::FieldSet,
    types::{Identity, List, Map, Type},
};

/// What was merged and is one value now is owned as that, by all who owned a part of it. The other way round nothing has to
/// be done: who owned the whole owns the parts it writes next.
pub(crate) fn reconcile(set: FieldSet, type_: &Type) -> FieldSet {
    let mut whole = FieldSet::default();
    visit(Some(&set), type_, &mut Path::new(), false, &mut whole);
    if whole.is_empty() { set } else { set.outside(&whole).union(&whole) }
}

/// `is_leaf`: the field is owned, and nothing in it.
fn visit(set: Option<&FieldSet>, type_: &Type, path: &mut Path, is_leaf: bool, whole: &mut FieldSet) {
    if let Some(map) = type_.map() {
        visit_map(set, map, path, is_leaf, whole);
    } else if let Type::List(list) = type_ {
        visit_list(set, list, path, is_leaf, whole);
    }
}

fn visit_map(set: Option<&FieldSet>, map: &Map, path: &mut Path, is_leaf: bool, whole: &mut FieldSet) {
    let Some(set) = set.filter(|_| !map.is_deduced()) else {
        return;
    };
    if map.atomic && !is_leaf {
        return whole.insert(path);
    }
    visit_children(set, path, whole, |element| match element {
        PathElement::Field(name) => map.field(name),
        _ => map.field(""),
    });
}

fn visit_list(set: Option<&FieldSet>, list: &List, path: &mut Path, is_leaf: bool, whole: &mut FieldSet) {
    if list.identity == Identity::None && !is_leaf {
        return whole.insert(path);
    }
    if let Some(set) = set {
        visit_children(set, path, whole, |_| Some(&list.item));
    }
}

fn visit_children<'a>(
    set: &FieldSet,
    path: &mut Path,
    whole: &mut FieldSet,
    type_of: impl Fn(&PathElement) -> Option<&'a Type>,
) {
    let inner = set.children().map(|(element, _)| element).filter(|element| !set.has_member(element));
    for element in inner.chain(set.members()) {
        if let Some(type_) = type_of(element) {
            let child = set.child(element);
            path.push(element.clone());
            visit(child, type_, path, set.has_member(element) && child.is_none(), whole);
            path.pop();
        }
    }
}
