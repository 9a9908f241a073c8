//! What the name of a Rust type shows about its values and their JSON type.

use proc_macro2::{TokenStream, TokenTree};
use syn::{GenericArgument, Ident, PathArguments, PathSegment, Type};

use crate::attr::ungrouped_type;

/// The JSON type of a Rust type, as far as its name shows it.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum JsonType {
    String,
    Integer,
    Number,
    Boolean,
    List,
    Map,
}

/// Returns the JSON type of a Rust type, if its name shows it, and the type of its items.
pub(crate) fn json_type(ty: &Type) -> Option<(JsonType, Option<&Type>)> {
    let last = match ungrouped_type(ty) {
        Type::Array(array) => return Some((JsonType::List, Some(&array.elem))),
        ty => last_segment(ty)?,
    };
    let arguments = type_arguments(last);
    let some = |json_type| Some((json_type, arguments.last().copied()));
    match last.ident.to_string().as_str() {
        "Option" | "Box" | "Nullable" => json_type(arguments.first()?),
        "String" | "str" => some(JsonType::String),
        "bool" => some(JsonType::Boolean),
        "f32" | "f64" => some(JsonType::Number),
        "i8" | "i16" | "i32" | "i64" | "isize" | "u8" | "u16" | "u32" | "u64" | "usize" => some(JsonType::Integer),
        "Vec" | "VecDeque" | "BTreeSet" | "HashSet" if arguments.len() == 1 => some(JsonType::List),
        "BTreeMap" | "HashMap" if arguments.len() == 2 => some(JsonType::Map),
        _ => None,
    }
}

/// Returns the name and the limits of an integer type. Imported fields are `i32` or `i64`, with the bounds of their
/// definition, which can be wider.
pub(crate) fn integer_range(ty: &Type) -> Option<(&'static str, i128, i128)> {
    let last = last_segment(ungrouped_type(ty))?;
    if let PathArguments::AngleBracketed(arguments) = &last.arguments {
        let is_wrapper = ["Option", "Box", "Nullable"].iter().any(|name| last.ident == name);
        return match arguments.args.first()? {
            GenericArgument::Type(inner) if is_wrapper => integer_range(inner),
            _ => None,
        };
    }
    let known = [
        ("i8", i8::MIN.into(), i8::MAX.into()),
        ("i16", i16::MIN.into(), i16::MAX.into()),
        ("u8", 0, u8::MAX.into()),
        ("u16", 0, u16::MAX.into()),
        ("u32", 0, u32::MAX.into()),
        ("u64", 0, u64::MAX.into()),
    ];
    known.into_iter().find(|(name, ..)| last.ident == name)
}

/// Whether a field of the type can be absent.
pub(crate) fn can_be_absent(ty: &Type) -> bool {
    is_type_named(ty, &["Option", "Nullable"])
}

/// Whether the last segment of the path of the type is one of these names.
pub(crate) fn is_type_named(ty: &Type, names: &[&str]) -> bool {
    last_segment(ungrouped_type(ty)).is_some_and(|last| names.iter().any(|name| last.ident == name))
}

/// Returns the `T` of `Option<T>`.
pub(crate) fn inside_option(ty: &Type) -> Option<&Type> {
    first_argument(last_segment(ungrouped_type(ty)).filter(|last| last.ident == "Option")?)
}

/// Returns the `T` of `Vec<T>`.
pub(crate) fn inside_vec(ty: &Type) -> Option<&Type> {
    first_argument(last_segment(ungrouped_type(ty)).filter(|last| last.ident == "Vec")?)
}

fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

fn first_argument(segment: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(inside) => Some(inside),
        _ => None,
    }
}

/// Returns the types in the angle brackets after a name.
fn type_arguments(segment: &PathSegment) -> Vec<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return Vec::new() };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}

/// Returns the key types of all maps in a type, by the names of the maps.
pub(crate) fn map_keys(ty: &Type) -> Vec<&Type> {
    let ty = ungrouped_type(ty);
    if let Type::Array(array) = ty {
        return map_keys(&array.elem);
    }
    let Some(last) = last_segment(ty) else { return Vec::new() };
    let types = type_arguments(last);
    let is_map = ["BTreeMap", "HashMap", "IndexMap"].iter().any(|name| last.ident == name) && types.len() > 1;
    let key = types.first().copied().filter(|_| is_map);
    key.into_iter().chain(types.iter().flat_map(|ty| map_keys(ty))).collect()
}

/// Whether these tokens contain this name.
pub(crate) fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
