//! Adapts field sets to changed schemas (`ReconcileFieldSetWithSchema`).

use super::{
    path::{Path, PathElement},
    set::FieldSet,
    types::{Identity, List, Map, Type},
};

/// Replaces the fields of a value that has become atomic by the value. The opposite change needs no adaptation: the
/// next write owns the fields.
pub(crate) fn reconcile(set: FieldSet, type_: &Type) -> FieldSet {
    let mut atomic = FieldSet::default();
    visit(Some(&set), type_, &mut Vec::new(), false, &mut atomic);
    if atomic.is_empty() { set } else { set.recursive_difference(&atomic).union(&atomic) }
}

/// The path of a visited field, which is copied only if the field is atomic.
type Elements<'a> = Vec<&'a PathElement>;

fn insert(atomic: &mut FieldSet, path: &[&PathElement]) {
    atomic.insert(&path.iter().copied().cloned().collect::<Path>());
}

/// Visits a field. `is_leaf`: the set contains the field, but none of its descendants.
fn visit<'a>(set: Option<&'a FieldSet>, type_: &Type, path: &mut Elements<'a>, is_leaf: bool, atomic: &mut FieldSet) {
    if let Some(map) = type_.map() {
        visit_map(set, map, path, is_leaf, atomic);
    } else if let Type::List(list) = type_ {
        visit_list(set, list, path, is_leaf, atomic);
    }
}

fn visit_map<'a>(set: Option<&'a FieldSet>, map: &Map, path: &mut Elements<'a>, is_leaf: bool, atomic: &mut FieldSet) {
    let Some(set) = set.filter(|_| !map.is_deduced()) else {
        return;
    };
    if map.atomic && !is_leaf {
        return insert(atomic, path);
    }
    visit_children(set, path, atomic, |element| match element {
        PathElement::Field(name) => map.field(name),
        _ => map.field(""),
    });
}

fn visit_list<'a>(
    set: Option<&'a FieldSet>,
    list: &List,
    path: &mut Elements<'a>,
    is_leaf: bool,
    atomic: &mut FieldSet,
) {
    if list.identity == Identity::None && !is_leaf {
        return insert(atomic, path);
    }
    if let Some(set) = set {
        visit_children(set, path, atomic, |_| Some(&list.item));
    }
}

fn visit_children<'a, 'b>(
    set: &'a FieldSet,
    path: &mut Elements<'a>,
    atomic: &mut FieldSet,
    type_of: impl Fn(&PathElement) -> Option<&'b Type>,
) {
    let inner = set.children().map(|(element, _)| element).filter(|element| !set.has_member(element));
    for element in inner.chain(set.members()) {
        if let Some(type_) = type_of(element) {
            let child = set.child(element);
            path.push(element);
            visit(child, type_, path, set.has_member(element) && child.is_none(), atomic);
            path.pop();
        }
    }
}
