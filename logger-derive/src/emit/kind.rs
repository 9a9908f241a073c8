//! Emits the impls of a kind.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{LitStr, Path, spanned::Spanned};

use super::{conversion, indexes, lifecycle, methods, option, policy, root, wire};
use crate::{
    attr::{
        columns::PrintColumn,
        k8s::{Allow, Scale},
    },
    model::Kind,
};

pub(crate) fn emit(kind: &Kind) -> TokenStream {
    let krate = &kind.root.krate;
    let (name, plural) = (kind.kind(), kind.plural());
    let scope = match kind.is_namespaced() {
        true => quote!(#krate::k8s_openapi::NamespaceResourceScope),
        false => quote!(#krate::k8s_openapi::ClusterResourceScope),
    };
    let parts = [
        root::resource_impls(&kind.root, quote!(#name), quote!(#plural), scope, quote!(#krate::wire::ObjectMeta)),
        api_kind(kind),
        verb_markers(kind),
        wire::emit(&kind.root, &["metadata"]),
    ];
    parts.into_iter().collect()
}

/// Emits the assertion that the list of the kind is the declared one.
pub(crate) fn assert_list(kind: &Kind, list: &Path) -> TokenStream {
    let (ident, krate) = (&kind.root.ident, &kind.root.krate);
    quote_spanned! {list.span()=>
        #[allow(deprecated)]
        const _: fn(<#ident as #krate::Listed>::List) -> #list = |list| list;
    }
}

fn verb_markers(kind: &Kind) -> TokenStream {
    let (ident, krate) = (&kind.root.ident, &kind.root.krate);
    let verbs = kind.verbs().into_iter().map(|verb| format_ident!("{verb}"));
    quote!(#(#[automatically_derived] impl #krate::verbs::#verbs for #ident {})*)
}

fn api_kind(kind: &Kind) -> TokenStream {
    let (ident, krate, docs) = (&kind.root.ident, &kind.root.krate, &kind.root.docs);
    let (name, rust_name, plural) = (kind.kind(), kind.root.name(), kind.plural());
    let list_kind = format!("{name}List");
    let singular = kind.singular();
    let (short_names, categories) = (&kind.k8s.short_names, &kind.k8s.categories);
    let scope = format_ident!("{}", if kind.is_namespaced() { "Namespaced" } else { "Cluster" });
    let genclient = kind.genclient.is_some();
    let (methods, method_types) = methods::emit(kind);
    let (indexes, index_impls) = indexes::emit(kind);
    let shape = methods::shape_of(ident, krate);
    let lifecycle = lifecycle::emit(kind);
    let verbs = kind.verbs().into_iter().map(|verb| format_ident!("{verb}"));
    let status = kind.has_status();
    let scale = option(kind.k8s.subresource.scale.as_ref().map(|scale| self::scale(scale, krate)));
    let columns = kind.k8s.printcolumns.0.iter().map(|column| print_column(column, krate));
    let definition = definition(kind);
    let policies = policy::emit(&kind.policies, krate);
    let location = quote_spanned! {ident.span()=>
        #krate::meta::Location { file: ::core::file!(), line: ::core::line!() }
    };
    quote! {
        const API_KIND: #krate::meta::ApiKind = #krate::meta::ApiKind {
            kind: #name,
            default_list_kind: #list_kind,
            rust_name: #rust_name,
            plural: #plural,
            singular: #singular,
            short_names: &[#(#short_names),*],
            categories: &[#(#categories),*],
            scope: #krate::meta::Scope::#scope,
            genclient: #genclient,
            methods: #methods,
            indexes: #indexes,
            verbs: &[#(#krate::meta::ClientVerb::#verbs),*],
            status: #status,
            scale: #scale,
            columns: &[#(#columns),*],
            definition: #definition,
            policies: #policies,
            docs: #docs,
            #lifecycle,
            schema: ::core::option::Option::Some(<#ident as #krate::schema::HasSchema>::schema),
            apply: #shape,
            crd: ::core::option::Option::None,
            location: #location,
        };

        #[automatically_derived]
        impl #krate::Kind for #ident {
            const API_KIND: #krate::meta::ApiKind = API_KIND;
        }

        #[automatically_derived]
        impl #krate::verbs::Granted for #ident {
            const VERBS: &'static [#krate::meta::ClientVerb] = API_KIND.verbs;
        }
        #method_types
        #index_impls
    }
}

fn definition(kind: &Kind) -> TokenStream {
    let (k8s, krate) = (&kind.k8s, &kind.root.krate);
    let (storage, served) = (k8s.storage.is_present(), !k8s.unserved.is_present());
    let pairs = |literals: &[LitStr]| -> Vec<TokenStream> {
        let texts: Vec<String> = literals.iter().map(LitStr::value).collect();
        texts.iter().filter_map(|text| text.split_once('=')).map(|(name, value)| quote!((#name, #value))).collect()
    };
    let (annotations, labels) = (pairs(&k8s.metadata.annotations), pairs(&k8s.metadata.labels));
    let selectable_fields = &k8s.selectable_fields;
    let conversion = conversion::emit(kind);
    let Allow { status_type, status_without_subresource, version_name } = &k8s.allow;
    let allowed = [
        (status_type, "status_type"),
        (status_without_subresource, "status_without_subresource"),
        (version_name, "version_name"),
    ];
    let allowed = allowed.into_iter().filter(|(flag, _)| flag.is_present()).map(|(_, warning)| warning);
    quote! {
        #krate::meta::Definition {
            storage: #storage,
            served: #served,
            annotations: &[#(#annotations),*],
            labels: &[#(#labels),*],
            selectable_fields: &[#(#selectable_fields),*],
            conversion: #conversion,
            allow: &[#(#allowed),*],
        }
    }
}

fn scale(scale: &Scale, krate: &TokenStream) -> TokenStream {
    let Scale { spec_path, status_path, selector_path } = scale;
    let selector_path = option(selector_path.as_ref());
    quote!(#krate::meta::Scale { spec_path: #spec_path, status_path: #status_path, selector_path: #selector_path })
}

fn print_column(column: &PrintColumn, krate: &TokenStream) -> TokenStream {
    let PrintColumn { name, column_type, json_path, .. } = column;
    let (description, format) = (option(column.description.as_ref()), option(column.format.as_ref()));
    let priority = column.priority.as_ref().map_or_else(|| quote!(0), |priority| quote!(#priority));
    let column_type = column_type.to_string();
    quote! {
        #krate::meta::PrintColumn {
            name: #name,
            column_type: #column_type,
            json_path: #json_path,
            description: #description,
            format: #format,
            priority: #priority,
        }
    }
}
