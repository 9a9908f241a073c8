//! Tests that the table lists exactly the keys that the parser accepts.

use std::collections::BTreeSet;

use darling::{FromMeta, ast::NestedMeta};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Item, Macro, parse_quote};

use super::*;
use crate::{
    attr::{
        self,
        genclient::{Genclient, Index, Method},
        k8s::{Conversion, DefinitionMetadata, K8s, K8sList, Lifecycle, Scale, Subresource},
        policy::{ParamsKeys, PolicyKeys},
        serde::{SerdeContainer, SerdeField},
    },
    expand,
};

/// Returns the keys that darling lists for an unknown one. Its message omits the list if it has ten or more.
fn parsed_keys<T: FromMeta>() -> BTreeSet<String> {
    let unknown: NestedMeta = parse_quote!(no_such_key);
    let error = T::from_list(&[unknown]).err().expect("the key is unknown");
    let error = error.flatten().into_iter().find(|error| error.to_string().starts_with("Unknown field"));
    let error = format!("{:?}", error.expect("one error is about the unknown key"));
    let (_, alternatives) = error.split_once("alts: {").expect("darling lists the alternatives");
    let (alternatives, _) = alternatives.split_once('}').expect("the set is closed");
    alternatives.split(", ").map(|word| word.trim_matches('"').to_owned()).collect()
}

fn keys(section: &Section) -> BTreeSet<String> {
    section.keys.iter().map(|key| key.key.to_owned()).collect()
}

#[test]
fn table_matches_the_parser() {
    let parsed = [
        (genclient::GENCLIENT, parsed_keys::<Genclient>()),
        (genclient::METHOD, parsed_keys::<Method>()),
        (genclient::INDEX, parsed_keys::<Index>()),
        (k8s::K8S, parsed_keys::<K8s>()),
        (k8s::SUBRESOURCE, parsed_keys::<Subresource>()),
        (k8s::SCALE, parsed_keys::<Scale>()),
        (k8s::METADATA, parsed_keys::<DefinitionMetadata>()),
        (k8s::CONVERSION, parsed_keys::<Conversion>()),
        (k8s::LIFECYCLE, parsed_keys::<Lifecycle>()),
        (macros::DEFAULTS, parsed_keys::<attr::defaults::CrateOnly>()),
        (fields::DEFAULT, parsed_keys::<attr::defaults::DefaultKeys>()),
        (k8s::LIST, parsed_keys::<K8sList>()),
        (super::policy::POLICY, parsed_keys::<PolicyKeys>()),
        (super::policy::PARAMS, parsed_keys::<ParamsKeys>()),
        (fields::SERDE_ROOT, parsed_keys::<SerdeContainer>()),
        (fields::SERDE_FIELD, parsed_keys::<SerdeField>()),
        (fields::DEEP_COPY, parsed_keys::<attr::deep_copy::TypeAttr>()),
        (fields::DEEP_COPY_FIELD, parsed_keys::<attr::deep_copy::FieldAttr>()),
        (fields::APPLY, parsed_keys::<attr::apply::TypeAttr>()),
        (fields::APPLY_FIELD, parsed_keys::<attr::apply::FieldAttr>()),
        (convert::CONVERT, parsed_keys::<attr::convert::TypeAttr>()),
        (convert::CONVERT_FIELD, parsed_keys::<attr::convert::FieldAttr>()),
        (convert::CONVERT_VARIANT, parsed_keys::<attr::convert::VariantAttr>()),
        (macros::GROUP_VERSION, parsed_keys::<attr::group_version::GroupVersionKeys>()),
        (schema::RULE, parsed_keys::<attr::schema::Validation>()),
        (schema::KEYS, parsed_keys::<attr::schema::EachKey>()),
        (schema::FIELD_COLUMN, parsed_keys::<attr::schema::ColumnKeys>()),
        (schema::EXTERNAL, parsed_keys::<attr::schema::ExternalDocs>()),
        (macros::ADOPT, parsed_keys::<attr::adopt::AdoptKeys>()),
        (
            macros::ADOPTED,
            parsed_keys::<attr::adopt::CustomResourceKeys>()
                .into_iter()
                .filter(|key| is_accepted_by_adopt(key))
                .collect(),
        ),
    ];
    for (section, expected) in &parsed {
        assert_eq!(keys(section), *expected, "{}", section.title);
    }
    let schema_sections = [&schema::SCHEMA_TYPE, &schema::SCHEMA_FIELD, &schema::SCHEMA_EACH];
    let together: BTreeSet<String> = schema_sections.iter().flat_map(|section| keys(section)).collect();
    assert_eq!(together, parsed_keys::<attr::schema::SchemaAttr>(), "`#[schema(..)]` in all its places");
    let not_parsed_by_darling = [
        schema::SCHEMA_TYPE.title,
        schema::SCHEMA_FIELD.title,
        schema::SCHEMA_EACH.title,
        macros::DERIVES.title,
        macros::ATTRIBUTES.title,
        macros::MACROS.title,
        COLUMN.title,
        fields::SERDE_APPLIED.title,
        fields::SERDE_APPLIED_FIELD.title,
        convert::SERDE_CONVERTED.title,
        convert::SERDE_CONVERTED_FIELD.title,
    ];
    for section in SECTIONS.iter().filter(|section| !not_parsed_by_darling.contains(&section.title)) {
        assert!(parsed.iter().any(|(parsed, _)| parsed.title == section.title), "{} is not compared", section.title);
    }
}

/// Whether `adopt!` accepts the key: its parser flattens all keys of `#[genclient]`, some of which are rejected later.
fn is_accepted_by_adopt(key: &str) -> bool {
    let syntax = syntax(None, key).or(syntax(Some("custom_resources"), key)).expect("the key is in the table");
    let syntax: TokenStream = syntax.parse().expect("the syntax consists of Rust tokens");
    !is_rejected(&expand::adopt(quote!(custom_resources = [Widget(#syntax)])))
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
