//! Tests that the parser accepts every key of the table, with its example.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Item, Macro, parse_quote};

use super::*;
use crate::expand;

fn keys(section: &Section) -> BTreeSet<String> {
    section.keys.iter().map(|key| key.key.to_owned()).collect()
}

#[test]
fn table_lists_all_derives_attributes_and_macros() {
    let (mut derives, mut attributes, mut macros) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for item in syn::parse_file(include_str!("../lib.rs")).expect("it compiles").items {
        let Item::Fn(item) = item else { continue };
        let is_hidden = item.attrs.contains(&parse_quote!(#[doc(hidden)]));
        for attr in item.attrs {
            if attr.path().is_ident("proc_macro") && !is_hidden {
                macros.insert(item.sig.ident.to_string());
            } else if attr.path().is_ident("proc_macro_attribute") {
                attributes.insert(item.sig.ident.to_string());
            } else if attr.path().is_ident("proc_macro_derive") {
                let tokens =
                    attr.parse_args::<TokenStream>().expect("tokens").to_string().replace(['(', ')', ','], " ");
                let (derive, others) = tokens.split_once("attributes").expect("each derive has attributes");
                derives.insert(derive.trim().to_owned());
                attributes.extend(others.split_whitespace().map(str::to_owned));
            }
        }
    }
    assert!(attributes.remove("kube"), "it is rejected, with a suggestion");
    assert_eq!(keys(&macros::DERIVES), derives);
    assert_eq!(keys(&macros::ATTRIBUTES), attributes);
    assert_eq!(keys(&macros::MACROS), macros);
}

#[test]
fn every_key_has_syntax_description_and_an_accepted_example() {
    for section in SECTIONS {
        for (i, key) in section.keys.iter().enumerate() {
            let at = format!("{}: {}", section.title, key.key);
            assert!(section.keys[..i].iter().all(|earlier| earlier.key != key.key), "{at} is a duplicate");
            assert!(key.syntax.contains(key.key), "{at}: {}", key.syntax);
            assert!(key.description.ends_with('.'), "{at}: {}", key.description);
            assert!(key.constraints.is_empty() || key.constraints.ends_with('.'), "{at}: {}", key.constraints);
            assert!(key.example.contains(key.key), "{at}: {}", key.example);
            let expanded = expanded(key.example, section.title);
            assert!(!is_rejected(&expanded), "{at}: {expanded}");
        }
    }
}

/// Expands an example in its section.
fn expanded(example: &str, section: &str) -> TokenStream {
    if let Ok(call) = syn::parse_str::<Macro>(example) {
        return match call.path.segments.last().expect("a macro call has a path").ident.to_string().as_str() {
            "group_version" => expand::group_version(call.tokens),
            "adopt" => expand::adopt(call.tokens),
            other => panic!("unknown macro {other}"),
        };
    }
    let example: TokenStream = example.parse().expect("an attribute");
    let attribute: Vec<Attribute> = parse_quote!(#example);
    let name = attribute[0].path().segments.last().expect("an attribute has a path").ident.to_string();
    if name == "defaults" {
        let arguments = attribute[0].meta.require_list().map(|list| list.tokens.clone()).unwrap_or_default();
        return expand::defaults(
            arguments,
            quote!(
                #[derive(Deserialize)]
                struct Widget {
                    #[default(30)]
                    size: i32,
                }
            ),
        );
    }
    if name == "convert" || section.contains("derives Convert") {
        return expand::derive(&convert_input(&example, section), &[expand::convert]);
    }
    if name == "default" {
        return expand::defaults(quote!(), quote!(#[derive(Deserialize)] struct Widget { #example size: i32 }));
    }
    let is_of_field =
        section.contains("field") || ["clone", "atomic"].iter().any(|word| example.to_string().contains(word));
    let (on_type, on_field) = if is_of_field { (quote!(), example) } else { (example, quote!()) };
    if section == k8s::LIST.title {
        let list = parse_quote!(#on_type struct WidgetList { metadata: ListMeta, items: Vec<Widget> });
        return expand::derive(&list, &[expand::object_list]);
    }
    let client = match mentions(&on_type, "unserved") {
        true => quote!(#[k8s(scope = "Namespaced")]),
        false => quote!(#[genclient]),
    };
    let input = parse_quote! {
        #client
        #on_type
        struct Widget {
            metadata: ObjectMeta,
            #on_field
            max_speed: Option<i32>,
            status: Option<WidgetStatus>,
        }
    };
    match name.as_str() {
        "schema" | "schemars" => expand::derive(&schema_input(&on_type, &on_field, section), &[expand::schema]),
        "deep_copy" => expand::derive(&input, &[expand::deep_copy]),
        "apply" => applied(&input),
        "derive" => quote!(),
        "serde" if section.contains("ApplyConfiguration") => applied(&input),
        _ if mentions(&on_type, "list = ") => expand::api_object(&input),
        _ => expand::derive(&input, &[expand::object]),
    }
}

/// Returns a type that accepts the example of `#[schema(..)]`.
fn schema_input(on_type: &TokenStream, on_field: &TokenStream, section: &str) -> syn::DeriveInput {
    let is_of_type = section == schema::SCHEMA_TYPE.title || section == macros::ATTRIBUTES.title;
    let example = if on_type.is_empty() { on_field } else { on_type };
    let (on_type, on_field) = if is_of_type { (Some(example), None) } else { (None, Some(example)) };
    parse_quote! {
        #on_type
        struct Widget {
            #on_field
            size: Option<Unknown>,
            max_speed: Option<i32>,
            status: Option<WidgetStatus>,
        }
    }
}

/// Returns a type that accepts the example of `#[convert(..)]`.
fn convert_input(example: &TokenStream, section: &str) -> syn::DeriveInput {
    if section == convert::CONVERT_VARIANT.title {
        return parse_quote!(#[convert(hub = v2::Widget)] enum Widget { #example Memory, Tape });
    }
    match section == convert::CONVERT_FIELD.title || section == convert::SERDE_CONVERTED_FIELD.title {
        true => parse_quote!(#[convert(hub = v2::Widget)] struct Widget { #example max_speed: i32 }),
        false if mentions(example, "tag") => parse_quote!(#[convert(hub = v2::Widget)] #example enum Widget { Memory }),
        false if mentions(example, "convert") => parse_quote!(#example struct Widget { max_speed: i32 }),
        false => parse_quote!(#[convert(hub = v2::Widget)] #example struct Widget { max_speed: i32 }),
    }
}

fn applied(input: &syn::DeriveInput) -> TokenStream {
    expand::derive(input, &[expand::apply])
}

fn mentions(example: &TokenStream, word: &str) -> bool {
    example.to_string().contains(word)
}

fn is_rejected(expanded: &TokenStream) -> bool {
    expanded.to_string().contains("compile_error")
}

#[test]
fn supported_serde_attributes_change_the_apply_configuration() {
    let plain = applied(&parse_quote!(
        struct Widget {
            max_speed: i32,
        }
    ))
    .to_string();
    for (section, on_field) in [(fields::SERDE_APPLIED, false), (fields::SERDE_APPLIED_FIELD, true)] {
        for key in section.keys {
            let example: TokenStream = key.example.parse().expect("an attribute");
            let with_it = match on_field {
                true => applied(&parse_quote!(struct Widget { #example max_speed: i32 })),
                false => applied(&parse_quote!(#example struct Widget { max_speed: i32 })),
            };
            assert_ne!(with_it.to_string(), plain, "{}", key.key);
        }
    }
}

#[test]
fn messages_show_the_syntax_of_the_section() {
    assert_eq!(expected(None, "subresource"), "expected `subresource(status)`");
    assert_eq!(expected(Some("method"), "subresource"), "expected `subresource = \"scale\"`");
    assert_eq!(missing(Some("index"), "name"), "missing `name = by_state`");
    assert_eq!(expected(None, "readonly"), "expected `readonly`: the key takes no value");
    assert_eq!(expected(None, ""), "expected a key, not a literal");
}

/// The table of the book has the rows of the code, and the errors in the same columns.
#[test]
fn table_of_serde_is_the_one_of_the_book() {
    use self::serde::{Place, SERDE, Support};
    let place = |places: &[Place]| match places {
        [Place::Struct, Place::Enum] => "type",
        [Place::Struct] => "struct",
        [Place::Enum] => "enum",
        [Place::Variant] => "variant",
        [Place::Field] => "field",
        _ => panic!("a row has one of these places"),
    };
    let is_rejected = |support: Support| matches!(support, Support::Rejected(_));
    let expected = SERDE.iter().map(|row| {
        let columns = [row.schema, row.apply, row.convert].map(is_rejected);
        (row.key.to_owned(), row.is_split, place(row.places).to_owned(), columns)
    });
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("Cargo runs the test");
    let page = std::path::Path::new(&package).join("../docs/reference/serde.md");
    let page = std::fs::read_to_string(page).expect("the book has the page");
    let found = page.lines().filter(|line| line.starts_with("| `")).map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let syntax = cells[0].trim_matches('`');
        let key: String = syntax.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
        let columns = [2, 3, 4].map(|column| cells[column].starts_with("Error"));
        (key, syntax.contains('('), cells[1].to_owned(), columns)
    });
    assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}
