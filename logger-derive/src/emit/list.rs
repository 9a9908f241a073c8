//! Emits the impls of a list.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Ident, Type, spanned::Spanned};

use super::wire;
use crate::model::{List, RootField};

pub(super) fn emit(list: &List) -> TokenStream {
    let krate = &list.root.krate;
    let Some((items, item)) = list.items().and_then(|items| Some((items, items.vec_item()?))) else {
        return TokenStream::new();
    };
    let parts = [
        list.root.resource_impls(
            quote_spanned!(item.span()=> <#item as #krate::Kind>::API_KIND.plural),
            quote_spanned!(item.span()=> <#item as #krate::k8s_openapi::Resource>::Scope),
            quote!(#krate::wire::ListMeta),
        ),
        list.root.api_type(quote!(#krate::meta::TypeMeta::List(API_LIST))),
        kind_list(list, items, item),
        wire::emit(&list.root, &["metadata", &items.json_name]),
    ];
    parts.into_iter().collect()
}

impl List {
    /// Returns the field other than the metadata.
    pub(crate) fn items(&self) -> Option<&RootField> {
        self.root.fields().iter().find(|field| field.json_name != "metadata")
    }

    /// Returns `Widget` for `WidgetList`, with the span of the latter.
    pub(crate) fn kind_by_name(&self) -> Option<Ident> {
        let name = self.root.name();
        let kind = name.strip_suffix("List").filter(|kind| !kind.is_empty())?;
        Some(Ident::new(kind, self.root.ident.span()))
    }
}

fn kind_list(list: &List, items: &RootField, item: &Type) -> TokenStream {
    let (ident, krate, docs) = (&list.root.ident, &list.root.krate, &list.root.docs);
    let metadata = list.root.metadata();
    let (name, field, json_name) = (list.root.name(), &items.ident, &items.json_name);
    let item_kind = quote_spanned!(item.span()=> <#item as #krate::Kind>::API_KIND.kind);
    quote! {
        const API_LIST: #krate::meta::ApiList = #krate::meta::ApiList {
            kind: #name,
            item: #item_kind,
            items: #json_name,
            docs: #docs,
        };

        #[automatically_derived]
        impl #krate::KindList for #ident {
            type Item = #item;
            const API_LIST: #krate::meta::ApiList = API_LIST;
            #[inline]
            fn metadata(&self) -> &#krate::wire::ListMeta {
                &self.#metadata
            }
            #[inline]
            fn items(&self) -> &[Self::Item] {
                &self.#field
            }
            #[inline]
            fn into_items(self) -> ::std::vec::Vec<Self::Item> {
                self.#field
            }
        }

        #[automatically_derived]
        impl #krate::Listed for #item {
            type List = #ident;
        }

        #[automatically_derived]
        impl #krate::k8s_openapi::ListableResource for #item {
            const LIST_KIND: &'static ::core::primitive::str = #name;
        }
    }
}
