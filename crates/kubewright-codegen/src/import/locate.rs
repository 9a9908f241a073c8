//! Finds the types and fields at a location of a schema.

use super::model::{Body, Type, Types};
use crate::schema_path::Pointer;

/// A type or field on the way to a location.
#[derive(Debug, PartialEq)]
pub(super) struct Site {
    pub(super) item: usize,
    /// The index of the field; `None` for the type itself.
    pub(super) field: Option<usize>,
    /// The rest of the location below it.
    pub(super) rest: Pointer,
}

/// Returns the types and fields on the way to a location, the outermost first.
pub(super) fn sites(types: &Types, root: usize, pointer: &[String]) -> Vec<Site> {
    let mut sites = Vec::new();
    in_item(types, root, pointer, &mut sites);
    sites
}

fn in_item(types: &Types, item: usize, pointer: &[String], sites: &mut Vec<Site>) {
    sites.push(Site { item, field: None, rest: pointer.to_vec() });
    let body = &types.items[item].body;
    if let Body::Newtype(ty) = body {
        return in_type(types, ty, pointer, sites);
    }
    let [keyword, name, rest @ ..] = pointer else { return };
    let Some(field) = body.fields().iter().position(|field| keyword == "properties" && field.json == *name) else {
        return;
    };
    sites.push(Site { item, field: Some(field), rest: rest.to_vec() });
    in_type(types, &body.fields()[field].ty, rest, sites);
}

fn in_type(types: &Types, ty: &Type, pointer: &[String], sites: &mut Vec<Site>) {
    match (ty, pointer) {
        (Type::Local(item), pointer) => in_item(types, *item, pointer, sites),
        (Type::List(ty), [keyword, rest @ ..]) if keyword == "items" => in_type(types, ty, rest, sites),
        (Type::Map(ty), [keyword, rest @ ..]) if keyword == "additionalProperties" => in_type(types, ty, rest, sites),
        _ => {}
    }
}

/// Whether a location is that of a Kubernetes struct or within one.
pub(super) fn is_in_kubernetes_struct(types: &Types, root: usize, pointer: &[String]) -> bool {
    let sites = sites(types, root, pointer);
    let Some(Site { item, field, rest }) = sites.last() else { return false };
    let body = &types.items[*item].body;
    let ty = match (field, body) {
        (Some(field), body) => &body.fields()[*field].ty,
        (None, Body::Newtype(ty)) => ty,
        (None, _) => return false,
    };
    let innermost = rest.iter().fold(ty, |ty, _| match ty {
        Type::List(ty) | Type::Map(ty) => ty,
        ty => ty,
    });
    matches!(innermost, Type::Kubernetes(known) if known.is_struct)
}

/// Calls the function with every use of a field below a type: the type, the field, and the location of the use.
pub(super) fn for_each_use(types: &Types, root: usize, visit: &mut impl FnMut(usize, usize, &Pointer)) {
    uses_in_item(types, root, &mut Vec::new(), visit);
}

fn uses_in_item(types: &Types, item: usize, pointer: &mut Pointer, visit: &mut impl FnMut(usize, usize, &Pointer)) {
    let body = &types.items[item].body;
    if let Body::Newtype(ty) = body {
        uses_in_type(types, ty, pointer, visit);
    }
    for (index, field) in body.fields().iter().enumerate() {
        pointer.extend(["properties".to_owned(), field.json.clone()]);
        visit(item, index, pointer);
        uses_in_type(types, &field.ty, pointer, visit);
        pointer.truncate(pointer.len() - 2);
    }
}

fn uses_in_type(types: &Types, ty: &Type, pointer: &mut Pointer, visit: &mut impl FnMut(usize, usize, &Pointer)) {
    let (keyword, ty) = match ty {
        Type::Local(item) => return uses_in_item(types, *item, pointer, visit),
        Type::List(ty) => ("items", ty),
        Type::Map(ty) => ("additionalProperties", ty),
        _ => return,
    };
    pointer.push(keyword.to_owned());
    uses_in_type(types, ty, pointer, visit);
    pointer.pop();
}
