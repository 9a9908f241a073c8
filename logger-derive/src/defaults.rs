//! `#[defaults]`: the defaults of a type, written once for decoding, the schema and `Default`.

pub(crate) mod read;

use darling::ast::NestedMeta;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Field, Fields, Ident, LitStr, Type};

use crate::attr::{self, CrateOnly};
use crate::errors::Errors;
use crate::model::crate_path;
use read::Value;

/// One item in, the same with serde's attributes and the functions they name out; every error at once.
pub(crate) fn expand(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = NestedMeta::parse_meta_list(args).unwrap_or_else(|error| {
        errors.extend(error);
        Vec::new()
    });
    let krate = crate_path(attr::keywords::<CrateOnly>(args, &mut errors).krate.as_ref());
    let Ok(mut input) = syn::parse2::<DeriveInput>(item.clone()) else {
        let message = "`#[logger_core::defaults]` belongs on a struct or an enum with `#[derive(..)]`s; move it there";
        errors.extend(syn::Error::new(Span::call_site(), message));
        return [errors.into_compile_errors(), item].into_iter().collect();
    };
    let defaults = read::defaults(&mut input, &mut errors);
    let derives_default = matches!(input.data, Data::Struct(_)) && read::take_default(&mut input.attrs);
    let refused = !errors.is_empty();
    let default = derives_default.then(|| match refused {
        true => impl_default(&input, quote!(::core::unreachable!())),
        false => impl_default(&input, of_struct(&input.data, &defaults)),
    });
    let functions = (!refused).then(|| {
        mark(&mut input, &defaults);
        input.attrs.extend(schema_bound(&input, &defaults, &krate));
        functions(&input, &defaults)
    });
    let errors = errors.into_compile_errors();
    quote!(#errors #input #functions #default)
}

/// Where `#[defaults]` is missing, a derive that knows of it says so: `#[default(..)]` alone would do nothing.
pub(crate) fn are_read(input: &DeriveInput, errors: &mut Errors) {
    // It stands below the derive then, and says that itself.
    if input.attrs.iter().any(|attr| attr.path().segments.last().is_some_and(|last| last.ident == "defaults")) {
        return;
    }
    let fields: Vec<&Fields> = match &input.data {
        Data::Struct(data) => vec![&data.fields],
        Data::Enum(data) => data.variants.iter().map(|variant| &variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    };
    for attr in fields.into_iter().flatten().flat_map(|field| attr::named("default", &field.attrs)) {
        errors.push(attr, "nothing reads this: put `#[logger_core::defaults]` above the derives of the type");
    }
}

/// A field that has a default.
struct FieldDefault {
    /// The variant of an enum that the field is of.
    variant: Option<Ident>,
    field: Ident,
    ty: Type,
    /// The conditions on which the field is there.
    cfgs: Vec<Attribute>,
    value: Value,
}

impl FieldDefault {
    /// The name of the function that makes it.
    fn function(&self) -> Ident {
        let field = self.field.unraw();
        match &self.variant {
            None => format_ident!("__default_{field}"),
            Some(variant) => format_ident!("__default_{}__{field}", variant.unraw()),
        }
    }

    fn emit(&self) -> TokenStream {
        let FieldDefault { ty, cfgs, value, .. } = self;
        let function = self.function();
        let docs = match &self.variant {
            None => format!("The default of `{}`.", self.field.unraw()),
            Some(variant) => format!("The default of `{}` in `{}`.", self.field.unraw(), variant.unraw()),
        };
        let optional = read::inside_option(ty);
        let mut value = value.emit(optional.unwrap_or(ty));
        if optional.is_some() {
            value = quote!(::core::option::Option::Some(#value));
        }
        quote! {
            #(#cfgs)*
            #[doc = #docs]
            #[allow(non_snake_case)]
            fn #function() -> #ty {
                #value
            }
        }
    }
}

impl Value {
    /// The value, as one of this type.
    fn emit(&self, ty: &Type) -> TokenStream {
        let at = self.span();
        match self {
            Value::Literal(value) => value.to_token_stream(),
            Value::From(value) => quote_spanned!(at=> <_ as ::core::convert::Into<#ty>>::into(#value)),
            Value::With(function) => quote_spanned!(at=> #function()),
        }
    }

    /// Where rustc reports that it is of another type: on what the user wrote. Names stay those of the macro.
    fn span(&self) -> Span {
        let at = match self {
            Value::Literal(value) | Value::From(value) => value.span(),
            Value::With(function) => function.span(),
        };
        at.resolved_at(Span::call_site())
    }
}

/// `#[serde(default = "Type::function")]` on each field: serde reads it on decode, and schemars for the schema.
fn mark(input: &mut DeriveInput, defaults: &[FieldDefault]) {
    let (_, arguments, _) = input.generics.split_for_impl();
    let (ident, arguments) = (&input.ident, arguments.as_turbofish());
    for (variant, field) in read::named_fields(&mut input.data) {
        let of_field =
            |default: &&FieldDefault| default.variant == variant && Some(&default.field) == field.ident.as_ref();
        if let Some(default) = defaults.iter().find(of_field) {
            let function = default.function();
            let path = quote!(#ident #arguments::#function).to_string().replace(' ', "");
            let path = LitStr::new(&path, default.value.span());
            field.attrs.push(syn::parse_quote!(#[serde(default = #path)]));
        }
    }
}

fn functions(input: &DeriveInput, defaults: &[FieldDefault]) -> TokenStream {
    let ident = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let functions = defaults.iter().map(FieldDefault::emit);
    quote! {
        #[allow(deprecated)]
        impl #impl_generics #ident #ty_generics #where_clause {
            #(#functions)*
        }
    }
}

/// What std's derive would implement, with this for a body.
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

/// A field without a default of its own has that of its type.
fn of_struct(data: &Data, defaults: &[FieldDefault]) -> TokenStream {
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

/// schemars asks for no `Serialize` of a type parameter, and then leaves a default of that type out without a word.
fn schema_bound(input: &DeriveInput, defaults: &[FieldDefault], krate: &TokenStream) -> Option<Attribute> {
    let params: Vec<_> = input.generics.type_params().map(|param| &param.ident).collect();
    let is_generic =
        |default: &FieldDefault| params.iter().any(|param| read::mentions(default.ty.to_token_stream(), param));
    let is_bound = ["schemars", "serde"]
        .iter()
        .any(|name| read::nested(name, &input.attrs).iter().any(|meta| meta.path().is_ident("bound")));
    let has_schema = read::derived(&input.attrs).iter().any(|path| read::is_named(path, "JsonSchema"));
    let needed = has_schema && defaults.iter().any(is_generic) && !is_bound;
    needed.then(|| {
        let bounds = params.iter().map(|param| quote!(#param: #krate::schemars::JsonSchema + #krate::serde::Serialize));
        let bound = quote!(#(#bounds),*).to_string();
        syn::parse_quote!(#[schemars(bound = #bound)])
    })
}
