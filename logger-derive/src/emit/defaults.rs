//! Emits the defaults of a type for decoding, the schema and `Default`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, Data, DeriveInput, Field, LitStr, Type, ext::IdentExt, spanned::Spanned};

use crate::{
    attr::{self, defaults::Value},
    model::{
        DefaultedType, FieldDefault,
        defaults::named_fields,
        rust_type::{inside_option, mentions},
    },
};

/// Emits the type with attributes of serde, and the functions they refer to.
pub(crate) fn emit(model: &DefaultedType, krate: &TokenStream) -> TokenStream {
    let (mut item, defaults) = (model.item.clone(), &model.fields);
    add_serde_defaults(&mut item, defaults);
    item.attrs.extend(schema_bound(model, krate));
    let functions = functions(&item, defaults);
    let default = model.derives_default.then(|| impl_default(&item, default_of_struct(&item.data, defaults)));
    quote!(#item #functions #default)
}

/// Emits a rejected type without its defaults.
pub(crate) fn placeholder(model: &DefaultedType) -> TokenStream {
    let item = &model.item;
    let default = model.derives_default.then(|| impl_default(item, quote!(::core::unreachable!())));
    quote!(#item #default)
}

/// Emits the function that returns the default of a field.
fn function(default: &FieldDefault) -> Option<TokenStream> {
    let FieldDefault { variant, field, ty, cfgs, value, .. } = default;
    let function = default.function();
    let docs = match variant {
        None => format!("The default of `{}`.", field.unraw()),
        Some(variant) => format!("The default of `{}` in `{}`.", field.unraw(), variant.unraw()),
    };
    let optional = inside_option(ty);
    let mut value = emit_value(value.as_ref()?, optional.unwrap_or(ty));
    if optional.is_some() {
        value = quote!(::core::option::Option::Some(#value));
    }
    Some(quote! {
        #(#cfgs)*
        #[doc = #docs]
        #[allow(non_snake_case)]
        fn #function() -> #ty {
            #value
        }
    })
}

/// Emits the value as one of this type.
fn emit_value(value: &Value, ty: &Type) -> TokenStream {
    let at = value_span(value);
    match value {
        Value::Literal(value) => value.to_token_stream(),
        Value::From(value) => quote_spanned!(at=> <_ as ::core::convert::Into<#ty>>::into(#value)),
        Value::With(function) => quote_spanned!(at=> #function()),
    }
}

/// Returns the span for type errors, which is that of the user's value. Hygiene is still by the macro.
fn value_span(value: &Value) -> Span {
    let at = match value {
        Value::Literal(value) | Value::From(value) => value.span(),
        Value::With(function) => function.span(),
    };
    at.resolved_at(Span::call_site())
}

/// Adds `#[serde(default = "Type::function")]` to each field, for decoding by serde and the schema of schemars.
fn add_serde_defaults(input: &mut DeriveInput, defaults: &[FieldDefault]) {
    let (_, arguments, _) = input.generics.split_for_impl();
    let (ident, arguments) = (&input.ident, arguments.as_turbofish());
    for (variant, field) in named_fields(&mut input.data) {
        let is_of_field =
            |default: &&FieldDefault| default.variant == variant && Some(&default.field) == field.ident.as_ref();
        let default = defaults.iter().find(is_of_field);
        if let Some((default, value)) = default.and_then(|default| Some((default, default.value.as_ref()?))) {
            let function = default.function();
            let path = quote!(#ident #arguments::#function).to_string().replace(' ', "");
            let path = LitStr::new(&path, value_span(value));
            field.attrs.push(syn::parse_quote!(#[serde(default = #path)]));
        }
    }
}

/// Emits the functions that return the defaults.
fn functions(input: &DeriveInput, defaults: &[FieldDefault]) -> TokenStream {
    let ident = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let functions = defaults.iter().filter_map(function);
    quote! {
        #[allow(deprecated)]
        impl #impl_generics #ident #ty_generics #where_clause {
            #(#functions)*
        }
    }
}

/// Emits the impl that std's derive would, with this body.
fn impl_default(input: &DeriveInput, body: TokenStream) -> TokenStream {
    let ident = &input.ident;
    let mut generics = input.generics.clone();
    for param in generics.type_params_mut() {
        param.bounds.push(syn::parse_quote!(::core::default::Default));
    }
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        #[allow(deprecated)]
        impl #impl_generics ::core::default::Default for #ident #ty_generics #where_clause {
            fn default() -> Self {
                #body
            }
        }
    }
}

/// Emits the body of `Default` of a struct. A field without `#[default(..)]` has the default of its type.
fn default_of_struct(data: &Data, defaults: &[FieldDefault]) -> TokenStream {
    let Data::Struct(data) = data else { return TokenStream::new() };
    let fields = data.fields.iter().map(|field| {
        let Field { ident, ty, .. } = field;
        let cfgs = attr::named("cfg", &field.attrs);
        let value = match defaults.iter().find(|default| Some(&default.field) == ident.as_ref()) {
            Some(default) => {
                let function = default.function();
                quote!(Self::#function())
            }
            None => {
                let at = ty.span().resolved_at(Span::call_site());
                quote_spanned!(at=> <#ty as ::core::default::Default>::default())
            }
        };
        quote!(#(#cfgs)* #ident: #value)
    });
    quote!(Self { #(#fields),* })
}

/// Returns a bound on type parameters for schemars: without `Serialize` it silently omits a default of that type.
fn schema_bound(model: &DefaultedType, krate: &TokenStream) -> Option<Attribute> {
    let params: Vec<_> = model.item.generics.type_params().map(|param| &param.ident).collect();
    let is_generic = |default: &FieldDefault| params.iter().any(|param| mentions(default.ty.to_token_stream(), param));
    let is_bound = model.keys.iter().any(|(_, meta)| meta.path().is_ident("bound"));
    let needed = model.derives("JsonSchema") && model.fields.iter().any(is_generic) && !is_bound;
    needed.then(|| {
        let bounds = params.iter().map(|param| quote!(#param: #krate::schemars::JsonSchema + #krate::serde::Serialize));
        let bound = quote!(#(#bounds),*).to_string();
        syn::parse_quote!(#[schemars(bound = #bound)])
    })
}
