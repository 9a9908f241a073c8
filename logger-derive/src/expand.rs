//! Expands each macro: its input is parsed into a model, the model is checked, and its impls are emitted; those of a
//! rejected model are placeholders.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Fields};

use crate::{
    attr::{
        self, adopt::AdoptKeys, convert::is_converted, defaults::CrateOnly, group_version::GroupVersionKeys,
        ungroup_attributes,
    },
    check,
    crate_path::{self, crate_path},
    emit::{self, in_const_block, placeholder, root::root_type},
    errors::Errors,
    grammar::macros::{ADOPT, DEFAULTS, GROUP_VERSION},
    model::{
        Adoption, ApiType, AppliedType, ConvertType, CopiedType, Declaration, DefaultedType, Kind, List, SchemaType,
    },
};

/// The output of one derive.
#[derive(Default)]
pub(crate) struct Expanded {
    errors: Errors,
    /// The impls; placeholders of them if there are errors.
    items: TokenStream,
}

impl Expanded {
    fn into_tokens(self) -> TokenStream {
        [self.errors.into_compile_errors(), self.items].into_iter().collect()
    }
}

/// Expands one derive, with the path of `kubewright_core`.
pub(crate) type Derive = fn(&DeriveInput, &TokenStream) -> Expanded;

/// The derives of every type in a kind.
const PARTS: [Derive; 3] = [schema, deep_copy, apply];

/// Expands derives of one type. The errors of all are reported at once, and an error that several find only once.
pub(crate) fn derive(input: &DeriveInput, derives: &[Derive]) -> TokenStream {
    let mut input = input.clone();
    ungroup_attributes(&mut input);
    let krate = match crate_path::of_type(&input.attrs) {
        Ok(krate) => krate,
        Err(error) => return error.into_compile_error(),
    };
    let mut all = Expanded::default();
    for derive in derives {
        let Expanded { errors, items } = derive(&input, &krate);
        all.items.extend(items);
        all.errors.append_new(errors);
    }
    all.into_tokens()
}

/// Expands `#[derive(ApiType)]`.
pub(crate) fn api_type(input: &DeriveInput) -> TokenStream {
    derive(input, &[&[nested_type as Derive][..], &PARTS, convert_part(input)].concat())
}

/// Expands `#[derive(ApiObject)]`.
pub(crate) fn api_object(input: &DeriveInput) -> TokenStream {
    // An apply configuration of a type that cannot be a kind would have other requirements.
    let is_struct = matches!(&input.data, Data::Struct(data) if matches!(data.fields, Fields::Named(_)));
    match is_struct {
        true => {
            derive(input, &[&[object_with_list as Derive, unused_convert][..], &PARTS, convert_part(input)].concat())
        }
        false => derive(input, &[object_with_list, schema, deep_copy]),
    }
}

/// Returns the derive of the conversion, if the type declares one.
fn convert_part(input: &DeriveInput) -> &'static [Derive] {
    if is_converted(&input.attrs) { &[convert] } else { &[] }
}

/// Reports what a nested type cannot have.
fn nested_type(input: &DeriveInput, _: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    check::api_type(&ApiType::new(input), &mut errors);
    Expanded { errors, items: TokenStream::new() }
}

/// Reports the attributes of a conversion that is not declared.
fn unused_convert(input: &DeriveInput, _: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    check::unused_convert(&ApiType::new(input), &mut errors);
    Expanded { errors, items: TokenStream::new() }
}

/// Expands `#[derive(Object)]`. All errors are reported at once.
pub(crate) fn object(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let kind = Kind::parse(input, "Object", krate, &mut errors);
    check::kind(&kind, &mut errors);
    let impls = kind_impls(&kind, errors.is_empty(), root_type(&kind.root, quote!(Kind(API_KIND)), None));
    Expanded { errors, items: impls }
}

/// Expands the part of `#[derive(ApiObject)]` that is `Object`, and the list of the kind.
fn object_with_list(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let kind = Kind::parse(input, "ApiObject", krate, &mut errors);
    check::kind(&kind, &mut errors);
    let is_accepted = errors.is_empty();
    let (root_type, list) = match &kind.k8s.list {
        Some(list) => (root_type(&kind.root, quote!(Kind(API_KIND)), None), emit::kind::assert_list(&kind, list)),
        // A generic kind is rejected.
        None if kind.root.is_generic() => (TokenStream::new(), TokenStream::new()),
        None => {
            let list = kind.list_name();
            let meta = quote!(KindWithList(API_KIND, <#list as #krate::KindList>::API_LIST));
            (root_type(&kind.root, meta, Some(&list)), emit::generated_list::emit(input, &kind, !is_accepted))
        }
    };
    let impls = kind_impls(&kind, is_accepted, root_type);
    Expanded { errors, items: quote!(#impls #list) }
}

/// Expands `#[derive(ObjectList)]`. All errors are reported at once.
pub(crate) fn object_list(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let list = List::parse(input, krate, &mut errors);
    check::list(&list, &mut errors);
    let items = match errors.is_empty() {
        true => in_const_block(emit::list::emit(&list)),
        false => placeholder::list(&list),
    };
    Expanded { errors, items }
}

/// Reports the attributes of kinds on a type that is neither a kind nor a list.
pub(crate) fn kind_attributes(input: &DeriveInput, _: &TokenStream) -> Expanded {
    let (model, mut errors) = (ApiType::new(input), Errors::default());
    if !model.has_metadata {
        check::kind_attributes(&model, &mut errors);
    }
    Expanded { errors, items: TokenStream::new() }
}

/// Expands `#[derive(CrdSchema)]`. All errors are reported at once.
pub(crate) fn schema(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let model = SchemaType::parse(input, &mut errors);
    check::schema(&model, &mut errors);
    let items = match errors.is_empty() {
        true => emit::schema::emit(input, &model, krate),
        false => emit::schema::placeholder(input, krate),
    };
    Expanded { errors, items }
}

/// Expands `#[derive(Convert)]`. All errors are reported at once.
pub(crate) fn convert(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let model = ConvertType::parse(input, krate, &mut errors);
    check::convert(&model, &mut errors);
    let items = match model.is_convertible() {
        true => emit::convert::emit(&model, !errors.is_empty()),
        false => TokenStream::new(),
    };
    Expanded { errors, items }
}

fn kind_impls(kind: &Kind, is_accepted: bool, root_type: TokenStream) -> TokenStream {
    match is_accepted {
        true => {
            let impls = emit::kind::emit(kind);
            in_const_block(quote!(#impls #root_type))
        }
        false => placeholder::kind(kind),
    }
}

/// Expands `#[derive(DeepCopy)]`.
pub(crate) fn deep_copy(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let model = CopiedType::parse(input, krate, &mut errors);
    check::deep_copy(&model, &mut errors);
    Expanded { errors, items: emit::deep_copy::emit(&model) }
}

/// Expands `#[derive(ApplyConfiguration)]`.
pub(crate) fn apply(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let model = AppliedType::parse(input, krate, &mut errors);
    check::apply(&model, &mut errors);
    let items = match errors.is_empty() {
        true => emit::apply::emit(&model),
        false => emit::apply::placeholder(&model),
    };
    Expanded { errors, items }
}

/// Expands `#[kubewright::defaults]`.
pub(crate) fn defaults(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let arguments = attr::parse_items(arguments, &mut errors);
    let krate = match crate_path(attr::parse_keys::<CrateOnly>(&DEFAULTS, arguments, &mut errors).krate.as_ref()) {
        Ok(krate) => krate,
        Err(error) => return [error.into_compile_error(), item].into_iter().collect(),
    };
    let Ok(mut input) = syn::parse2::<DeriveInput>(item.clone()) else {
        let message = "`#[kubewright::defaults]` applies to a struct or an enum with derives; move it there";
        errors.extend(syn::Error::new(Span::call_site(), message));
        return Expanded { errors, items: item }.into_tokens();
    };
    ungroup_attributes(&mut input);
    let model = DefaultedType::parse(input, &mut errors);
    check::defaults(&model, &mut errors);
    let items = match errors.is_empty() {
        true => emit::defaults::emit(&model, &krate),
        false => emit::defaults::placeholder(&model),
    };
    Expanded { errors, items }.into_tokens()
}

/// Expands `group_version!`.
pub(crate) fn group_version(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let items = attr::parse_items(input, &mut errors);
    let keys: GroupVersionKeys = attr::parse_keys(&GROUP_VERSION, items.clone(), &mut errors);
    let krate = match crate_path(keys.krate.as_ref()) {
        Ok(krate) => krate,
        Err(error) => return error.into_compile_error(),
    };
    let declaration = Declaration::new(keys, &items, krate);
    check::group_version(&declaration, &mut errors);
    let items = match errors.is_empty() {
        true => emit::group_version::emit(&declaration),
        false => emit::group_version::placeholder(&declaration),
    };
    Expanded { errors, items }.into_tokens()
}

/// Expands `adopt!`.
pub(crate) fn adopt(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let items = attr::parse_items(input, &mut errors);
    let keys: AdoptKeys = attr::parse_keys(&ADOPT, items, &mut errors);
    let krate = match crate_path(keys.krate.as_ref()) {
        Ok(krate) => krate,
        Err(error) => return error.into_compile_error(),
    };
    let adoption = Adoption::new(keys, krate, &mut errors);
    check::adopt(&adoption, &mut errors);
    let items = emit::adopt::emit(&adoption, errors.is_empty());
    Expanded { errors, items }.into_tokens()
}
