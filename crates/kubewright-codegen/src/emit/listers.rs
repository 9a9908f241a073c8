//! `listers/<group>.rs`: listers, which read the store of an informer.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::{
    portable_docs::portable,
    source::{Source, doc, import_types},
};
use crate::api::{Api, ClientKind, Group};

pub(super) fn sources(api: &Api) -> Vec<Source> {
    let groups: Vec<_> = api.client_groups().filter(|group| group.listed_kinds().next().is_some()).collect();
    let mut sources =
        vec![Source::from_modules("listers.rs", "Listers, one module for each group and version.", &groups)];
    sources.extend(groups.into_iter().map(group));
    sources
}

fn group(group: &Group) -> Source {
    let mut items = vec![import_types(group)];
    items.extend(group.listed_kinds().flat_map(aliases));
    items.extend(group.listed_kinds().flat_map(indexes));
    Source::new(format!("listers/{}.rs", group.module), format!("Listers of {}.", group.described()), items)
}

fn aliases(kind: &ClientKind) -> Vec<TokenStream> {
    let (ty, lister, of_namespace) = (&kind.ty, kind.type_named("Lister"), kind.type_named("NamespaceLister"));
    let deprecated = &kind.deprecated;
    let docs = doc(&format!(
        "Lister of {} objects in the store of an informer.\n\n{}",
        kind.linked(),
        portable(kind.meta.docs)
    ));
    let namespaced = kind.is_namespaced().then(|| {
        let docs =
            doc(&format!("Lister of the {} objects of one namespace in the store of an informer.", kind.linked()));
        quote! {
            #docs
            #deprecated
            pub type #of_namespace = kubewright_runtime::NamespaceLister<#ty>;
        }
    });
    let lister = quote! {
        #docs
        #deprecated
        pub type #lister = kubewright_runtime::Lister<#ty>;
    };
    [Some(lister), namespaced].into_iter().flatten().collect()
}

fn indexes(kind: &ClientKind) -> Vec<TokenStream> {
    let ty = &kind.ty;
    let names = kind.indexes().into_iter().zip(kind.meta.indexes).enumerate();
    let index = |(i, (constant, name)): (usize, (_, &&str))| {
        let index = Literal::usize_unsuffixed(i);
        let docs = doc(&format!("Index `{name}` of {} objects, which their informer maintains.", kind.linked()));
        quote! {
            #docs
            pub const #constant: kubewright_runtime::Index<#ty> =
                kubewright_runtime::Index::new(#name, <#ty as kubewright_core::IndexedBy<#index>>::values);
        }
    };
    names.map(index).collect()
}
