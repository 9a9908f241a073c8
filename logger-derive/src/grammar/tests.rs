//! That the table is what the parser takes, no more and no less.

use std::collections::BTreeSet;

use darling::FromMeta;
use darling::ast::NestedMeta;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Item, Macro, parse_quote};

use super::*;
use crate::attr::{CrateOnly, DefinitionMetadata, Genclient, K8s, Scale, SerdeContainer, SerdeField, Subresource};
use crate::indexes::Index;
use crate::lifecycle::Lifecycle;
use crate::methods::Method;
use crate::schema::read;
use crate::{adopt, apply, deep_copy, defaults, emit, group_version};

/// The keywords that darling lists when it meets one it does not know. Its message has no list of ten and more.
fn listed<T: FromMeta>() -> BTreeSet<String> {
    let unknown: NestedMeta = parse_quote!(no_such_keyword);
    let error = T::from_list(&[unknown]).err().expect("there is no such keyword");
    let error = error.flatten().into_iter().find(|error| error.to_string().starts_with("Unknown field"));
    let error = format!("{:?}", error.expect("it is unknown"));
    let (_, alternatives) = error.split_once("alts: {").expect("darling knows the others");
    let (alternatives, _) = alternatives.split_once('}').expect("a whole set");
    alternatives.split(", ").map(|word| word.trim_matches('"').to_owned()).collect()
}

fn words(place: &Place) -> BTreeSet<String> {
    place.keywords.iter().map(|keyword| keyword.word.to_owned()).collect()
}

#[test]
fn the_keywords_are_those_the_parser_takes() {
    let parsed = [
        (genclient::GENCLIENT, listed::<Genclient>()),
        (genclient::METHOD, listed::<Method>()),
        (genclient::INDEX, listed::<Index>()),
        (k8s::K8S, listed::<K8s>()),
        (k8s::SUBRESOURCE, listed::<Subresource>()),
        (k8s::SCALE, listed::<Scale>()),
        (k8s::METADATA, listed::<DefinitionMetadata>()),
        (k8s::LIFECYCLE, listed::<Lifecycle>()),
        (macros::DEFAULTS, listed::<CrateOnly>()),
        (fields::DEFAULT, listed::<defaults::read::Keywords>()),
        (k8s::LIST, listed::<CrateOnly>()),
        (fields::SERDE_ROOT, listed::<SerdeContainer>()),
        (fields::SERDE_FIELD, listed::<SerdeField>()),
        (fields::DEEP_COPY, listed::<deep_copy::Container>()),
        (fields::DEEP_COPY_FIELD, listed::<deep_copy::FieldAttr>()),
        (fields::APPLY, listed::<apply::Container>()),
        (fields::APPLY_FIELD, listed::<apply::FieldAttr>()),
        (macros::GROUP_VERSION, listed::<group_version::Keywords>()),
        (schema::RULE, listed::<read::Validation>()),
        (schema::FIELD_COLUMN, listed::<read::ColumnKeywords>()),
        (schema::EXTERNAL, listed::<read::ExternalDocs>()),
        (macros::ADOPT, listed::<adopt::Keywords>()),
        (macros::ADOPTED, listed::<adopt::Said>().into_iter().filter(|word| is_adopted(word)).collect()),
    ];
    for (place, keywords) in &parsed {
        assert_eq!(words(place), *keywords, "{}", place.title);
    }
    let of_schema = [&schema::SCHEMA_TYPE, &schema::SCHEMA_FIELD, &schema::SCHEMA_EACH];
    let together: BTreeSet<String> = of_schema.iter().flat_map(|place| words(place)).collect();
    assert_eq!(together, listed::<read::Facts>(), "`#[schema(..)]` in all its places");
    let others = [
        schema::SCHEMA_TYPE.title,
        schema::SCHEMA_FIELD.title,
        schema::SCHEMA_EACH.title,
        macros::DERIVES.title,
        macros::ATTRIBUTES.title,
        macros::MACROS.title,
        COLUMN.title,
        fields::SERDE_APPLIED.title,
        fields::SERDE_APPLIED_FIELD.title,
    ];
    for place in PLACES.iter().filter(|place| !others.contains(&place.title)) {
        assert!(parsed.iter().any(|(parsed, _)| parsed.title == place.title), "{} is compared", place.title);
    }
}

/// Whether this is not refused after all: what `#[genclient]` takes is parsed here too.
fn is_adopted(word: &str) -> bool {
    let form = form(None, word).or(form(Some("custom_resources"), word)).expect("it has a form");
    let form: TokenStream = form.parse().expect("a form is Rust's tokens");
    !is_refused(&adopt::expand(quote!(custom_resources = [Widget(#form)])))
}

#[test]
fn the_derives_attributes_and_macros_are_those_of_this_crate() {
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
                let words = attr.parse_args::<TokenStream>().expect("tokens").to_string().replace(['(', ')', ','], " ");
                let (derive, others) = words.split_once("attributes").expect("each derive reads some");
                derives.insert(derive.trim().to_owned());
                attributes.extend(others.split_whitespace().map(str::to_owned));
            }
        }
    }
    assert_eq!(words(&macros::DERIVES), derives);
    assert_eq!(words(&macros::ATTRIBUTES), attributes);
    assert_eq!(words(&macros::MACROS), macros);
}

#[test]
fn every_keyword_has_a_form_a_meaning_and_an_example_that_is_accepted() {
    for place in PLACES {
        for (i, keyword) in place.keywords.iter().enumerate() {
            let at = format!("{}: {}", place.title, keyword.word);
            assert!(place.keywords[..i].iter().all(|earlier| earlier.word != keyword.word), "{at} is there twice");
            assert!(keyword.form.contains(keyword.word), "{at}: {}", keyword.form);
            assert!(keyword.meaning.ends_with('.'), "{at}: {}", keyword.meaning);
            assert!(keyword.rule.is_empty() || keyword.rule.ends_with('.'), "{at}: {}", keyword.rule);
            assert!(keyword.example.contains(keyword.word), "{at}: {}", keyword.example);
            let expanded = expanded(keyword.example, place.title);
            assert!(!is_refused(&expanded), "{at}: {expanded}");
        }
    }
}

/// What becomes of an example in its place.
fn expanded(example: &str, place: &str) -> TokenStream {
    if let Ok(call) = syn::parse_str::<Macro>(example) {
        return match call.path.segments.last().expect("a macro has a name").ident.to_string().as_str() {
            "group_version" => group_version::expand(call.tokens),
            "adopt" => adopt::expand(call.tokens),
            other => panic!("no macro {other}"),
        };
    }
    let example: TokenStream = example.parse().expect("an attribute");
    let attribute: Vec<Attribute> = parse_quote!(#example);
    let name = attribute[0].path().segments.last().expect("a word").ident.to_string();
    if name == "defaults" {
        let arguments = attribute[0].meta.require_list().map(|list| list.tokens.clone()).unwrap_or_default();
        return defaults::expand(
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
    if name == "default" {
        return defaults::expand(quote!(), quote!(#[derive(Deserialize)] struct Widget { #example size: i32 }));
    }
    let is_of_field =
        place.contains("field") || ["clone", "atomic"].iter().any(|word| example.to_string().contains(word));
    let (on_type, on_field) = if is_of_field { (quote!(), example) } else { (example, quote!()) };
    if place == k8s::LIST.title {
        return emit::derive_list(parse_quote!(#on_type struct WidgetList { metadata: ListMeta, items: Vec<Widget> }));
    }
    let client = match example_says(&on_type, "unserved") {
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
        "schema" | "schemars" => crate::schema::derive(of_schema(&on_type, &on_field, place)),
        "deep_copy" => deep_copy::derive(input),
        "apply" => apply::derive(input),
        "serde" if place.contains("ApplyConfiguration") => apply::derive(input),
        _ => emit::derive_object(input),
    }
}

/// A type that an example of `#[schema(..)]` fits.
fn of_schema(on_type: &TokenStream, on_field: &TokenStream, place: &str) -> syn::DeriveInput {
    let is_of_type = place == schema::SCHEMA_TYPE.title || place == macros::ATTRIBUTES.title;
    let example = if on_type.is_empty() { on_field } else { on_type };
    let (on_type, on_field) = if is_of_type { (Some(example), None) } else { (None, Some(example)) };
    parse_quote! {
        #on_type
        struct Widget {
            #on_field
            of: Option<Unknown>,
            max_speed: Option<i32>,
            status: Option<WidgetStatus>,
        }
    }
}

fn example_says(example: &TokenStream, word: &str) -> bool {
    example.to_string().contains(word)
}

fn is_refused(expanded: &TokenStream) -> bool {
    expanded.to_string().contains("compile_error")
}

#[test]
fn what_is_read_of_serde_shows_in_an_apply_configuration() {
    let plain = apply::derive(parse_quote!(
        struct Widget {
            max_speed: i32,
        }
    ))
    .to_string();
    for (place, on_field) in [(fields::SERDE_APPLIED, false), (fields::SERDE_APPLIED_FIELD, true)] {
        for keyword in place.keywords {
            let example: TokenStream = keyword.example.parse().expect("an attribute");
            let with_it = match on_field {
                true => apply::derive(parse_quote!(struct Widget { #example max_speed: i32 })),
                false => apply::derive(parse_quote!(#example struct Widget { max_speed: i32 })),
            };
            assert_ne!(with_it.to_string(), plain, "{}", keyword.word);
        }
    }
}

#[test]
fn a_keyword_is_written_as_its_place_says() {
    assert_eq!(expected(None, "subresource"), "expected `subresource(status)`");
    assert_eq!(expected(Some("method"), "subresource"), "expected `subresource = \"scale\"`");
    assert_eq!(missing(Some("index"), "name"), "missing `name = by_state`");
    assert_eq!(expected(None, "readonly"), "expected `readonly` alone: it takes no value");
    assert_eq!(expected(None, ""), "expected a keyword, not a literal");
}
