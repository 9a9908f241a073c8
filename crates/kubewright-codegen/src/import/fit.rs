//! Fits the types of a module to the schemas they come from: attributes without the expected effect are removed, and the
//! remaining differences become overrides.

use std::collections::{BTreeMap, BTreeSet};

use kubewright_crd::structural::SchemaError;
use serde_json::{Map, Value, json};

use super::{
    default,
    locate::{self, Site, sites},
    model::{Body, Kind, Module, Overrides, Type, Types},
    predict::Predictor,
};
use crate::schema_path::{Pointer, path_of_pointer, pointer_of_path};

/// A keyword that the types do not generate.
struct Difference {
    pointer: Pointer,
    keyword: String,
    /// The original value; null if the keyword is generated but not in the original.
    value: Value,
}

/// Fits the types of a module. Returns a note for each schema with overrides.
pub(super) fn fit(module: &mut Module) -> Vec<String> {
    let Module { kinds, types, .. } = module;
    let differences = remove_ineffective(kinds, types);
    remove_unused(types, kinds);
    let notes = kinds.iter().zip(&differences).flat_map(|(kind, differences)| notes(kind, differences)).collect();
    add_overrides(kinds, types, &differences);
    notes
}

/// Removes attributes that the generator rejects, or that result in another schema, until none are left. Returns the
/// remaining differences of each kind.
fn remove_ineffective(kinds: &[Kind], types: &mut Types) -> Vec<Vec<Difference>> {
    loop {
        default::remove_inexpressible(types);
        let mut predictor = Predictor::new(types);
        let (mut is_changed, mut remaining) = (false, Vec::new());
        for kind in kinds {
            let found = differences(kind, types, &mut predictor);
            if remove_attributes(kind, types, &found) {
                is_changed = true;
                predictor = Predictor::new(types);
            }
            remaining.push(found.unwrap_or_default());
        }
        if !is_changed {
            return remaining;
        }
    }
}

/// Removes the attributes with these differences or errors. Returns whether there are any.
fn remove_attributes(kind: &Kind, types: &mut Types, found: &Result<Vec<Difference>, Vec<SchemaError>>) -> bool {
    let mut is_changed = false;
    match found {
        Err(errors) => {
            for error in errors {
                is_changed |= simplify(types, kind.item, &pointer_of_path(&kind.schema, &error.path));
            }
        }
        Ok(differences) => {
            for difference in differences {
                is_changed |= remove_attribute(types, kind.item, difference);
            }
        }
    }
    is_changed
}

/// Simplifies the innermost type or field at a location. Returns whether that was possible.
fn simplify(types: &mut Types, root: usize, pointer: &[String]) -> bool {
    for Site { item, field, .. } in sites(types, root, pointer).into_iter().rev() {
        let Some(field) = field else {
            if types.items[item].attributes.clear() {
                return true;
            }
            continue;
        };
        let field = &mut types.items[item].body.fields_mut()[field];
        if field.attributes.clear() || field.default.take().is_some() {
            return true;
        }
        if field.ty != Type::Json {
            field.ty = Type::Json;
            field.attributes.flags.clear();
            return true;
        }
    }
    // Nothing at the location can be simplified, so everything is.
    let mut is_changed = types.items[root].attributes.clear();
    for field in types.items[root].body.fields_mut() {
        is_changed |= field.ty != Type::Json;
        field.ty = Type::Json;
        field.attributes = Default::default();
        field.default = None;
    }
    is_changed
}

/// Removes the attribute of a keyword that results in a difference. Returns whether there is one.
fn remove_attribute(types: &mut Types, root: usize, difference: &Difference) -> bool {
    let keyword = difference.keyword.as_str();
    let sites = sites(types, root, &difference.pointer);
    let mut is_changed = false;
    for Site { item, field, rest } in sites {
        let Some(field) = field else {
            if rest.is_empty() {
                is_changed |= types.items[item].attributes.remove(keyword) || open_union(types, item, keyword);
            }
            continue;
        };
        let field = &mut types.items[item].body.fields_mut()[field];
        if rest.is_empty() && keyword == "default" {
            is_changed |= field.default.take().is_some();
        }
        let mut attributes = Some(&mut field.attributes);
        for _ in &rest {
            attributes = attributes.and_then(|attributes| attributes.each.as_deref_mut());
        }
        // A location within the type of the field has no attributes of the field.
        let is_own = rest.iter().all(|token| token == "items" || token == "additionalProperties");
        is_changed |= is_own && attributes.is_some_and(|attributes| attributes.remove(keyword));
    }
    is_changed
}

/// Replaces a union that generates another schema with a struct.
fn open_union(types: &mut Types, item: usize, keyword: &str) -> bool {
    let item = &mut types.items[item];
    let Body::Union(variants) = &mut item.body else { return false };
    if keyword == "description" {
        return false;
    }
    let mut fields = std::mem::take(variants);
    let alternatives: Vec<Value> = fields.iter().map(|field| json!({"required": [field.json]})).collect();
    fields.iter_mut().for_each(|field| field.required = false);
    item.attributes.extend.insert("oneOf".to_owned(), json!(alternatives));
    item.body = Body::Struct { fields, open: false };
    true
}

/// Returns the differences between the schema of a kind and the generated one, or the errors of the generator.
fn differences(kind: &Kind, types: &Types, predictor: &mut Predictor) -> Result<Vec<Difference>, Vec<SchemaError>> {
    let generated = predictor.schema(types, kind)?;
    let mut found = Vec::new();
    compare(&kind.schema, &generated, &mut Vec::new(), &mut found);
    // The descriptions of Kubernetes types are those of k8s-openapi.
    found.retain(|difference| {
        difference.keyword != "description" || !locate::is_in_kubernetes_struct(types, kind.item, &difference.pointer)
    });
    Ok(found)
}

fn compare(original: &Value, generated: &Value, pointer: &mut Pointer, found: &mut Vec<Difference>) {
    let nothing = Map::new();
    let (original, generated) = (original.as_object().unwrap_or(&nothing), generated.as_object().unwrap_or(&nothing));
    let added = generated.keys().filter(|key| !original.contains_key(*key));
    for keyword in original.keys().chain(added) {
        let (before, after) = (original.get(keyword), generated.get(keyword));
        match (keyword.as_str(), before, after) {
            ("properties", Some(Value::Object(before)), Some(Value::Object(after)))
                if before.keys().eq(after.keys()) =>
            {
                for (name, schema) in before {
                    pointer.extend([keyword.clone(), name.clone()]);
                    compare(schema, &after[name], pointer, found);
                    pointer.truncate(pointer.len() - 2);
                }
            }
            ("items" | "additionalProperties", Some(before @ Value::Object(_)), Some(after @ Value::Object(_))) => {
                pointer.push(keyword.clone());
                compare(before, after, pointer, found);
                pointer.pop();
            }
            _ if before == after => {}
            _ => {
                let value = before.cloned().unwrap_or_default();
                found.push(Difference { pointer: pointer.clone(), keyword: keyword.clone(), value });
            }
        }
    }
}

/// Removes types that no kind uses any more.
fn remove_unused(types: &mut Types, kinds: &mut [Kind]) {
    let mut used = BTreeSet::new();
    for kind in kinds.iter() {
        collect(types, kind.item, &mut used);
    }
    let new_index: BTreeMap<usize, usize> = used.iter().enumerate().map(|(new, old)| (*old, new)).collect();
    let mut index = 0;
    types.items.retain(|_| {
        index += 1;
        new_index.contains_key(&(index - 1))
    });
    types.omitted = std::mem::take(&mut types.omitted)
        .into_iter()
        .filter_map(|(item, name)| Some((*new_index.get(&item)?, name)))
        .collect();
    for item in &mut types.items {
        if let Body::Newtype(ty) = &mut item.body {
            renumber(ty, &new_index);
        }
        item.body.fields_mut().iter_mut().for_each(|field| renumber(&mut field.ty, &new_index));
    }
    for kind in kinds {
        kind.item = new_index[&kind.item];
    }
}

fn collect(types: &Types, item: usize, used: &mut BTreeSet<usize>) {
    if !used.insert(item) {
        return;
    }
    let mut of_type = |ty: &Type| {
        let mut ty = ty;
        while let Type::List(inner) | Type::Map(inner) = ty {
            ty = inner;
        }
        if let Type::Local(item) = ty {
            collect(types, *item, used);
        }
    };
    match &types.items[item].body {
        Body::Newtype(ty) => of_type(ty),
        body => body.fields().iter().for_each(|field| of_type(&field.ty)),
    }
}

fn renumber(ty: &mut Type, new_index: &BTreeMap<usize, usize>) {
    match ty {
        Type::Local(item) => *item = new_index[item],
        Type::List(ty) | Type::Map(ty) => renumber(ty, new_index),
        _ => {}
    }
}

fn notes(kind: &Kind, differences: &[Difference]) -> Vec<String> {
    let mut keywords: BTreeMap<&Pointer, Vec<String>> = BTreeMap::new();
    for difference in differences {
        keywords.entry(&difference.pointer).or_default().push(format!("`{}`", difference.keyword));
    }
    let note = |(pointer, keywords): (&Pointer, Vec<String>)| {
        let (shown, path) = (&kind.shown, path_of_pointer(pointer));
        format!("`{shown} {path}`: {} preserved by an override", keywords.join(", "))
    };
    keywords.into_iter().map(note).collect()
}

/// Adds an override for each difference: to the field, if all uses of the field have the same differences, or else to the
/// kind.
fn add_overrides(kinds: &mut [Kind], types: &mut Types, differences: &[Vec<Difference>]) {
    type FieldId = (usize, usize);
    let mut by_use: BTreeMap<FieldId, BTreeMap<(usize, Pointer), Overrides>> = BTreeMap::new();
    for (i, kind) in kinds.iter_mut().enumerate() {
        for Difference { pointer, keyword, value } in &differences[i] {
            let innermost = sites(types, kind.item, pointer).into_iter().rev().find_map(|site| {
                let is_struct = matches!(types.items[site.item].body, Body::Struct { .. });
                Some((site.item, site.field.filter(|_| is_struct)?, site.rest))
            });
            let keywords = match innermost {
                Some((item, field, rest)) => {
                    let used_at = pointer[..pointer.len() - rest.len()].to_vec();
                    by_use.entry((item, field)).or_default().entry((i, used_at)).or_default().entry(rest).or_default()
                }
                None => kind.overrides.entry(pointer.clone()).or_default(),
            };
            keywords.insert(keyword.clone(), value.clone());
        }
    }
    let mut uses: BTreeMap<FieldId, usize> = BTreeMap::new();
    for kind in kinds.iter() {
        locate::for_each_use(types, kind.item, &mut |item, field, _| *uses.entry((item, field)).or_default() += 1);
    }
    for ((item, field), overrides) in by_use {
        let first = overrides.values().next().cloned().unwrap_or_default();
        if overrides.len() == uses[&(item, field)] && overrides.values().all(|other| *other == first) {
            types.items[item].body.fields_mut()[field].overrides = first;
            continue;
        }
        for ((kind, used_at), overrides) in overrides {
            for (rest, keywords) in overrides {
                let pointer = [used_at.clone(), rest].concat();
                kinds[kind].overrides.entry(pointer).or_default().extend(keywords);
            }
        }
    }
}
