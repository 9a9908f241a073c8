//! `#[defaults]`: emits the defaults of a type for decoding, the schema and `Default`.

pub(crate) mod parse;

use darling::ast::NestedMeta;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, Data, DeriveInput, Field, Fields, Ident, LitStr, Type, ext::IdentExt, spanned::Spanned};

use crate::{
    attr::{
        self,
        defaults::{CrateOnly, Value},
    },
    crate_path::crate_path,
    errors::Errors,
    model::rust_type::{inside_option, mentions},
};

/// Expands the item to itself with serde attributes, and the functions they refer to. All errors are reported at once.
pub(crate) fn expand(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = NestedMeta::parse_meta_list(args).unwrap_or_else(|error| {
        errors.extend(error);
        Vec::new()
    });
    let krate = match crate_path(attr::parse_keys::<CrateOnly>(args, &mut errors).krate.as_ref()) {
        Ok(krate) => krate,
        Err(error) => return [error.into_compile_error(), item].into_iter().collect(),
    };
    let Ok(mut input) = syn::parse2::<DeriveInput>(item.clone()) else {
        let message = "`#[kubewright::defaults]` applies to a struct or an enum with derives; move it there";
        errors.extend(syn::Error::new(Span::call_site(), message));
        return [errors.into_compile_errors(), item].into_iter().collect();
    };
    let defaults = parse::defaults(&mut input, &mut errors);
    let derives_default = matches!(input.data, Data::Struct(_)) && parse::take_default(&mut input.attrs);
    let is_rejected = !errors.is_empty();
    let default = derives_default.then(|| match is_rejected {
        true => impl_default(&input, quote!(::core::unreachable!())),
        false => impl_default(&input, default_of_struct(&input.data, &defaults)),
    });
    let functions = (!is_rejected).then(|| {
        add_serde_defaults(&mut input, &defaults);
        input.attrs.extend(schema_bound(&input, &defaults, &krate));
        functions(&input, &defaults)
    });
    let errors = errors.into_compile_errors();
    quote!(#errors #input #functions #default)
}

/// Reports `#[default(..)]` on a type without `#[defaults]`, where it would have no effect. Called by other derives.
pub(crate) fn check_defaults_attribute(input: &DeriveInput, errors: &mut Errors) {
    // An attribute below the derive reports its wrong position itself.
    if input.attrs.iter().any(|attr| attr.path().segments.last().is_some_and(|last| last.ident == "defaults")) {
        return;
    }
    let fields: Vec<&Fields> = match &input.data {
        Data::Struct(data) => vec![&data.fields],
        Data::Enum(data) => data.variants.iter().map(|variant| &variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    };
    for attr in fields.into_iter().flatten().flat_map(|field| attr::named("default", &field.attrs)) {
        errors.push(
            attr,
            "`#[default(..)]` has no effect without `#[kubewright::defaults]`; add that above the derives of the type",
        );
    }
}

/// A field with a default.
struct FieldDefault {
    /// The variant of the field, in an enum.
    variant: Option<Ident>,
    field: Ident,
    ty: Type,
    /// The `cfg` attributes of the field.
    cfgs: Vec<Attribute>,
    value: Value,
}

impl FieldDefault {
    /// Returns the name of the function that returns the default.
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
        let optional = inside_option(ty);
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
    /// Emits the value as one of this type.
    fn emit(&self, ty: &Type) -> TokenStream {
        let at = self.span();
        match self {
            Value::Literal(value) => value.to_token_stream(),
            Value::From(value) => quote_spanned!(at=> <_ as ::core::convert::Into<#ty>>::into(#value)),
            Value::With(function) => quote_spanned!(at=> #function()),
        }
    }

    /// Returns the span for type errors, which is that of the user's value. Hygiene remains that of the macro.
    fn span(&self) -> Span {
        let at = match self {
            Value::Literal(value) | Value::From(value) => value.span(),
            Value::With(function) => function.span(),
        };
        at.resolved_at(Span::call_site())
    }
}

/// Adds `#[serde(default = "Type::function")]` to each field, for decoding by serde and the schema of schemars.
fn add_serde_defaults(input: &mut DeriveInput, defaults: &[FieldDefault]) {
    let (_, arguments, _) = input.generics.split_for_impl();
    let (ident, arguments) = (&input.ident, arguments.as_turbofish());
    for (variant, field) in parse::named_fields(&mut input.data) {
        let is_of_field =
            |default: &&FieldDefault| default.variant == variant && Some(&default.field) == field.ident.as_ref();
        if let Some(default) = defaults.iter().find(is_of_field) {
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
fn schema_bound(input: &DeriveInput, defaults: &[FieldDefault], krate: &TokenStream) -> Option<Attribute> {
    let params: Vec<_> = input.generics.type_params().map(|param| &param.ident).collect();
    let is_generic = |default: &FieldDefault| params.iter().any(|param| mentions(default.ty.to_token_stream(), param));
    let is_bound = ["schemars", "serde"]
        .iter()
        .any(|name| attr::keys(name, &input.attrs).iter().any(|meta| meta.path().is_ident("bound")));
    let has_schema = attr::derives(&input.attrs).iter().any(|path| attr::is_named(path, "JsonSchema"));
    let needed = has_schema && defaults.iter().any(is_generic) && !is_bound;
    needed.then(|| {
        let bounds = params.iter().map(|param| quote!(#param: #krate::schemars::JsonSchema + #krate::serde::Serialize));
        let bound = quote!(#(#bounds),*).to_string();
        syn::parse_quote!(#[schemars(bound = #bound)])
    })
}
