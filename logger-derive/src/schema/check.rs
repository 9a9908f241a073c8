//! Whether facts stand where they belong, agree with each other and fit the type of their field.

use std::collections::BTreeSet;

use darling::ast::NestedMeta;
use proc_macro2::Span;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Field, GenericArgument, Ident, LitStr, Path, PathArguments, Token, Type};

use super::read::{Declared, Each, Facts, Names, Number, Validation, serde_says};
use crate::attr;
use crate::errors::Errors;
use crate::grammar::{self, Place};

/// The facts of a type.
pub(super) fn of_type(input: &DeriveInput, facts: &Facts, errors: &mut Errors) {
    for item in items(&input.attrs) {
        stands_in(&grammar::SCHEMA_TYPE, "a type", &item, errors);
    }
    if let Data::Enum(data) = &input.data {
        for attr in data.variants.iter().flat_map(|variant| attr::named("schema", &variant.attrs)) {
            errors.push(attr, "nothing is said of a variant; put it on a field of it, or on the enum");
        }
    }
    agree(facts, errors);
}

/// The facts of a field.
pub(super) fn of_field(field: &Field, is_tuple: bool, facts: &Facts, errors: &mut Errors) {
    let items = items(&field.attrs);
    for attr in attr::named("schema", &field.attrs).filter(|_| !items.is_empty()) {
        if is_tuple {
            errors.push(attr, "a field without a name has no schema of its own; put it on the type");
        } else if serde_says(&field.attrs, "flatten") {
            errors
                .push(attr, "a flattened field has no schema of its own; put it on its type, or on the fields of that");
        }
    }
    for item in &items {
        stands_in(&grammar::SCHEMA_FIELD, "a field", item, errors);
    }
    agree(facts, errors);
    let is_absent = is_option(&field.ty) || serde_says(&field.attrs, "default");
    if facts.required.is_present() && !is_absent {
        errors.extend(syn::Error::new(facts.required.span(), "a field that is no `Option` is required; remove this"));
    }
    fits(&field.ty, facts, errors);
}

/// The keywords of all `#[schema(..)]`, as far as they can be read.
fn items(attrs: &[Attribute]) -> Vec<NestedMeta> {
    attr::named("schema", attrs)
        .filter_map(|attr| attr.parse_args_with(Punctuated::<NestedMeta, Token![,]>::parse_terminated).ok())
        .flatten()
        .collect()
}

/// A keyword that is known, but not here.
fn stands_in(place: &Place, name: &str, item: &NestedMeta, errors: &mut Errors) {
    let NestedMeta::Meta(meta) = item else { return };
    let takes = |place: &Place| place.keywords.iter().any(|keyword| meta.path().is_ident(keyword.word));
    if takes(place) {
        return;
    }
    let others = [("a type", &grammar::SCHEMA_TYPE), ("a field", &grammar::SCHEMA_FIELD)];
    let other = others.iter().find(|(_, other)| takes(other)).map(|(other, _)| *other);
    // What no place takes, the parser has refused.
    if let Some(other) = other {
        let word = meta.path().to_token_stream();
        errors.push(meta.path(), format_args!("`{word}` belongs on {other}, not on {name}; move it there"));
    }
}

/// Facts that exclude or need each other.
fn agree(facts: &Facts, errors: &mut Errors) {
    if let (Some(min), Some(max)) = (&facts.min, &facts.max)
        && min.value > max.value
    {
        errors.push(&max.written, "nothing is in this range: `max` is below `min`");
    }
    for (flag, bound, word) in [(&facts.exclusive_min, &facts.min, "min"), (&facts.exclusive_max, &facts.max, "max")] {
        if flag.is_present() && bound.is_none() {
            let message = format!("which bound is excluded? add `{word} = ..`");
            errors.extend(syn::Error::new(flag.span(), message));
        }
    }
    if let Some(Number { written, .. }) = facts.multiple_of.as_ref().filter(|of| of.value <= 0.0) {
        errors.push(written, "a multiple of a number above 0 is expected");
    }
    if facts.no_format.is_present() && facts.format.is_some() {
        errors.extend(syn::Error::new(facts.no_format.span(), "`format` names one; keep one of the two"));
    }
    topology(facts, errors);
    facts.validation.iter().for_each(|validation| rule(validation, errors));
    if let Some(Each(facts, items)) = &facts.each {
        items.iter().for_each(|item| stands_in(&grammar::SCHEMA_EACH, "each item", item, errors));
        agree(facts, errors);
    }
    for priority in facts.column.iter().filter_map(|column| column.0.priority.as_ref()) {
        if priority.base10_parse::<i32>().is_err() {
            errors.push(priority, "expected a whole number: 0 is shown always, more only with `-o wide`");
        }
    }
    if let Some(depth) =
        facts.depth.as_ref().filter(|depth| !depth.base10_parse().is_ok_and(|of: u32| (1..=16).contains(&of)))
    {
        errors.push(depth, "expected a depth from 1 to 16: each level is written out");
    }
}

/// How lists and maps are merged.
fn topology(facts: &Facts, errors: &mut Errors) {
    let Facts { list_type, list_map_keys, map_type, struct_type, .. } = facts;
    for (said, words) in [
        (list_type, &["atomic", "set", "map"][..]),
        (map_type, &["atomic", "granular"]),
        (struct_type, &["atomic", "granular"]),
        (&facts.via, &["cel", "schema"]),
    ] {
        one_of(said.as_ref(), words, errors);
    }
    let is_map = list_type.as_ref().is_some_and(|of| of.is_ident("map"));
    match (list_type, list_map_keys.first()) {
        (Some(of), None) if is_map => {
            errors.push(of, "which fields tell its items apart? add `list_map_keys = [\"name\"]`")
        }
        (_, Some(key)) if !is_map => errors.push(key, "only items of a list with `list_type = map` have keys; add it"),
        _ => {}
    }
    let mut seen = BTreeSet::new();
    for key in list_map_keys.iter().filter(|key| !seen.insert(key.value())) {
        errors.push(key, "given twice; keep one");
    }
    if let (Some(_), Some(of)) = (map_type, struct_type) {
        errors.push(of, "`map_type` says this already; keep one of the two");
    }
}

fn one_of(said: Option<&Path>, words: &[&str], errors: &mut Errors) {
    if let Some(said) = said.filter(|said| !words.iter().any(|word| said.is_ident(word))) {
        let words = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        errors.push(said, format_args!("expected one of {words}"));
    }
}

/// What the API server asks of a rule, but for its expression.
fn rule(validation: &Validation, errors: &mut Errors) {
    const REASONS: [&str; 4] =
        ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"];
    let Validation { rule, message, message_expression, reason, field_path, optional_old_self } = validation;
    if rule.value().trim().is_empty() {
        errors.push(rule, "expected a rule in CEL, such as `self.min <= self.max`");
    }
    let has_lines = |text: &LitStr| text.value().contains(['\n', '\r']);
    if has_lines(rule) && message.is_none() {
        errors.push(rule, "a rule of several lines needs a `message`: the server shows no such rule");
    }
    for text in [message, message_expression].into_iter().flatten() {
        if text.value().trim().is_empty() {
            errors.push(text, "this says nothing; remove it or say what is wrong with the value");
        }
    }
    if let Some(message) = message.as_ref().filter(|message| has_lines(message)) {
        errors.push(message, "a message is one line");
    }
    if let Some(reason) = reason.as_ref().filter(|reason| !REASONS.contains(&&*reason.value())) {
        errors.push(reason, format_args!("expected one of {}", REASONS.map(|of| format!("`\"{of}\"`")).join(", ")));
    }
    if let Some(path) = field_path.as_ref().filter(|path| !path.value().starts_with(['.', '['])) {
        errors.push(path, "expected the path of a field below, such as `.size`");
    }
    if optional_old_self.is_present() && !rule.value().contains("oldSelf") {
        let message = "the rule does not name `oldSelf`; remove this, or compare with it";
        errors.extend(syn::Error::new(optional_old_self.span(), message));
    }
}

/// Fields of unions are fields of the type that may be absent, two at least.
pub(super) fn unions(declared: &Declared, input: &DeriveInput, errors: &mut Errors) {
    let Facts { exactly_one_of, at_most_one_of, at_least_one_of, via, .. } = &declared.facts;
    let unions: Vec<&Names> = exactly_one_of.iter().chain(at_most_one_of).chain(at_least_one_of).collect();
    if let Some(via) = via.as_ref().filter(|_| unions.is_empty()) {
        errors.push(via, "this says how `exactly_one_of` and its like are checked, and there is none");
    }
    let Data::Struct(data) = &input.data else {
        for Names(names) in unions {
            errors.push(
                names.first(),
                "only a struct has fields to choose from; remove this: an enum is one of its variants",
            );
        }
        return;
    };
    for Names(names) in unions {
        if names.len() < 2 {
            errors.extend(syn::Error::new(
                names.first().map_or(Span::call_site(), Ident::span),
                "a choice needs two fields at least",
            ));
        }
        for (i, name) in names.iter().enumerate() {
            let field = data.fields.iter().find(|field| field.ident.as_ref() == Some(name));
            match field {
                None => errors.push(name, "there is no such field"),
                Some(_) if names[..i].contains(name) => errors.push(name, "given twice; keep one"),
                Some(field) if !is_option(&field.ty) => {
                    errors.push(name, "this field is always there; make it an `Option`")
                }
                Some(_) => {}
            }
        }
    }
}

/// What is known of a type by its name.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Text,
    Whole,
    Float,
    Bool,
    List,
    Map,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Text => "a text",
            Form::Whole => "a whole number",
            Form::Float => "a number",
            Form::Bool => "a truth value",
            Form::List => "a list",
            Form::Map => "a map",
        }
    }
}

/// Facts about another type than the field's; a type that is not known by its name is judged by its schema later.
fn fits(ty: &Type, facts: &Facts, errors: &mut Errors) {
    let Some((form, item)) = form(ty) else { return };
    let mut about = |said: bool, word: &str, forms: &[Form]| {
        if said && !forms.contains(&form) {
            let way_out = match form {
                Form::List | Form::Map => "; for what is in it, `each(..)`",
                _ => "",
            };
            let message = format!("`{word}` says nothing of {}{way_out}", form.name());
            errors.push(ty, message);
        }
    };
    let numbers = &[Form::Whole, Form::Float];
    about(facts.min.is_some(), "min", numbers);
    about(facts.max.is_some(), "max", numbers);
    about(facts.multiple_of.is_some(), "multiple_of", numbers);
    about(facts.length.is_some(), "length", &[Form::Text]);
    about(facts.pattern.is_some(), "pattern", &[Form::Text]);
    about(facts.items.is_some(), "items", &[Form::List]);
    about(facts.list_type.is_some(), "list_type", &[Form::List]);
    about(facts.properties.is_some(), "properties", &[Form::Map]);
    about(facts.map_type.is_some(), "map_type", &[Form::Map]);
    about(facts.struct_type.is_some(), "struct_type", &[]);
    about(facts.each.is_some(), "each", &[Form::List, Form::Map]);
    about(facts.embedded_resource.is_present(), "embedded_resource", &[Form::Map]);
    about(facts.column.is_some(), "column", &[Form::Text, Form::Whole, Form::Float, Form::Bool]);
    about(facts.selectable.is_present(), "selectable", &[Form::Text, Form::Whole, Form::Bool]);
    if let Some(number) = [&facts.min, &facts.max].into_iter().flatten().find(|number| number.whole.is_none())
        && form == Form::Whole
    {
        errors.push(&number.written, "the field is a whole number; so is its bound");
    }
    if let (Some(item), Some(Each(facts, _))) = (item, &facts.each) {
        fits(item, facts, errors);
    }
}

/// What a type is, if its name tells, and the type of what is in it.
fn form(ty: &Type) -> Option<(Form, Option<&Type>)> {
    let last = match ty {
        Type::Group(group) => return form(&group.elem),
        Type::Paren(paren) => return form(&paren.elem),
        Type::Array(array) => return Some((Form::List, Some(&array.elem))),
        Type::Path(path) => path.path.segments.last()?,
        _ => return None,
    };
    let arguments: Vec<&Type> = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => {
            let types = arguments.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            types.collect()
        }
        _ => Vec::new(),
    };
    let form_of = |form| Some((form, arguments.last().copied()));
    match last.ident.to_string().as_str() {
        "Option" | "Box" | "Nullable" => form(arguments.first()?),
        "String" | "str" => form_of(Form::Text),
        "bool" => form_of(Form::Bool),
        "f32" | "f64" => form_of(Form::Float),
        "i8" | "i16" | "i32" | "i64" | "isize" | "u8" | "u16" | "u32" | "u64" | "usize" => form_of(Form::Whole),
        "Vec" | "VecDeque" | "BTreeSet" | "HashSet" if arguments.len() == 1 => form_of(Form::List),
        "BTreeMap" | "HashMap" if arguments.len() == 2 => form_of(Form::Map),
        _ => None,
    }
}

fn is_option(ty: &Type) -> bool {
    match ty {
        Type::Group(group) => is_option(&group.elem),
        Type::Path(path) => {
            path.path.segments.last().is_some_and(|last| last.ident == "Option" || last.ident == "Nullable")
        }
        _ => false,
    }
}
