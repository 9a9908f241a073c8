//! Emits the impls of a list.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Ident, Type, spanned::Spanned};

use super::wire;
use crate::{
    attr,
    model::{List, RootField},
};

pub(super) fn emit(list: &List) -> TokenStream {
    let krate = &list.root.krate;
    let Some((items, item)) = list.items().and_then(|items| Some((items, items.vec_item()?))) else {
        return TokenStream::new();
    };
    let parts = [
        list.root.resource_impls(
            quote!(LIST_KIND),
            quote_spanned!(item.span()=> <#item as #krate::Kind>::API_KIND.plural),
            quote_spanned!(item.span()=> <#item as #krate::k8s_openapi::Resource>::Scope),
            quote!(#krate::wire::ListMeta),
        ),
        list.root.root_type(quote!(List(API_LIST)), None),
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

    /// Whether its name is that of the type of its items and `List`.
    fn is_named_after(&self, item: &Type) -> bool {
        let Type::Path(item) = attr::ungrouped_type(item) else { return false };
        self.kind_by_name().is_some_and(|kind| attr::is_named(&item.path, &kind.to_string()))
    }

    /// Returns the list kind: the declared one, or that of the items by convention, or the name of the type.
    fn list_kind(&self, item: &Type) -> TokenStream {
        let krate = &self.root.krate;
        match &self.k8s.kind {
            Some(kind) => quote!(#kind),
            None if self.is_named_after(item) => {
                quote_spanned!(item.span()=> <#item as #krate::Kind>::API_KIND.default_list_kind)
            }
            None => {
                let name = self.root.name();
                quote!(#name)
            }
        }
    }
}

fn kind_list(list: &List, items: &RootField, item: &Type) -> TokenStream {
    let (ident, krate, docs) = (&list.root.ident, &list.root.krate, &list.root.docs);
    let metadata = list.root.metadata();
    let (list_kind, field, json_name) = (list.list_kind(item), &items.ident, &items.json_name);
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
