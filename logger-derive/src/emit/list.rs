//! Emits the impls of a list.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Type, spanned::Spanned};

use super::{root, wire};
use crate::model::{List, RootField};

pub(crate) fn emit(list: &List) -> TokenStream {
    let krate = &list.root.krate;
    let Some((items, item)) = list.items().zip(list.item()) else {
        return TokenStream::new();
    };
    let parts = [
        root::resource_impls(
            &list.root,
            quote!(LIST_KIND),
            quote_spanned!(item.span()=> <#item as #krate::Kind>::API_KIND.plural),
            quote_spanned!(item.span()=> <#item as #krate::k8s_openapi::Resource>::Scope),
            quote!(#krate::wire::ListMeta),
        ),
        root::root_type(&list.root, quote!(List(API_LIST)), None),
        kind_list(list, items, item),
        wire::emit(&list.root, &["metadata", &items.json_name]),
    ];
    parts.into_iter().collect()
}

/// Returns the list kind: the declared one, or that of the items by convention, or the name of the type.
fn list_kind(list: &List, item: &Type) -> TokenStream {
    let krate = &list.root.krate;
    match &list.k8s.kind {
        Some(kind) => quote!(#kind),
        None if list.is_named_after(item) => {
            quote_spanned!(item.span()=> <#item as #krate::Kind>::API_KIND.default_list_kind)
        }
        None => {
            let name = list.root.name();
            quote!(#name)
        }
    }
}

fn kind_list(list: &List, items: &RootField, item: &Type) -> TokenStream {
    let (ident, krate, docs) = (&list.root.ident, &list.root.krate, &list.root.docs);
    let metadata = list.root.metadata();
    let (list_kind, field, json_name) = (list_kind(list, item), &items.ident, &items.json_name);
    let item_kind = quote_spanned!(item.span()=> <#item as #krate::Kind>::API_KIND.kind);
    quote! {
        const LIST_KIND: &'static ::core::primitive::str = #list_kind;

        const API_LIST: #krate::meta::ApiList = #krate::meta::ApiList {
            kind: LIST_KIND,
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
            const LIST_KIND: &'static ::core::primitive::str = LIST_KIND;
        }
    }
}
