//! `informers.rs` and `informers/<group>.rs`: the shared informer factory.

use proc_macro2::TokenStream;
use quote::quote;

use super::{
    portable_docs::portable,
    source::{Source, allow_deprecated, doc, import_types, resource_pattern},
};
use crate::api::{Api, ClientKind, Group};

pub(super) fn sources(api: &Api) -> Vec<Source> {
    let groups: Vec<_> = api.client_groups().filter(|group| group.informed_kinds().next().is_some()).collect();
    let mut sources = vec![factory(api, &groups)];
    sources.extend(groups.into_iter().map(group));
    sources
}

fn factory(api: &Api, groups: &[&Group]) -> Source {
    let client = &api.client;
    let modules = groups.iter().map(|group| group.ident());
    let getters = groups.iter().map(|group| {
        let (getter, informers) = (group.ident(), group.type_named("Informers"));
        let docs = doc(&format!("Returns the informers of {}.", group.described()));
        quote! {
            #docs
            pub fn #getter(&self) -> #getter::#informers {
                #getter::#informers::new(self.factory.clone())
            }
        }
    });
    let for_resource = for_resource(groups);
    let items = vec![
        quote!(#(pub mod #modules;)*),
        quote! {
            use std::time::Duration;

            use kubewright_core::GroupVersionResource;
            use kubewright_runtime::{GenericInformer, InformerFactory, InformerFactoryBuilder, SyncError};

            use #client::clientset::Clientset;
        },
        quote! {
            /// Creates and runs the shared informers of a program: request those you need, then start them.
            ///
            /// Each kind has one informer, and so one watch, no matter how often it is requested.
            #[derive(Clone)]
            pub struct SharedInformerFactory {
                factory: InformerFactory,
            }
        },
        quote! {
            impl SharedInformerFactory {
                /// Creates a factory of informers of all namespaces.
                pub fn new(clientset: &Clientset) -> Self {
                    SharedInformerFactory { factory: InformerFactory::new(clientset.client().clone()) }
                }
                /// Creates a factory of informers of one namespace. Informers of cluster-scoped kinds are not
                /// restricted.
                pub fn namespaced(clientset: &Clientset, namespace: &str) -> Self {
                    SharedInformerFactory { factory: InformerFactory::namespaced(clientset.client().clone(), namespace) }
                }
                /// Creates a factory with custom options, such as
                /// `SharedInformerFactory::with(&clientset, |options| options.namespaces(["a", "b"]))`.
                pub fn with(
                    clientset: &Clientset,
                    options: impl FnOnce(InformerFactoryBuilder) -> InformerFactoryBuilder,
                ) -> Self {
                    let builder = options(InformerFactory::builder(clientset.client().clone()));
                    SharedInformerFactory { factory: builder.build() }
                }
                /// Returns the underlying factory, which returns informers by type.
                pub fn factory(&self) -> &InformerFactory {
                    &self.factory
                }
                #(#getters)*
                #for_resource
                /// Starts every requested informer that is not running yet.
                pub fn start(&self) {
                    self.factory.start();
                }
                /// Waits until every requested informer has synced.
                ///
                /// # Errors
                /// One has not synced within `deadline`: the error names it and the cause.
                pub async fn wait_for_sync(&self, deadline: Duration) -> Result<(), SyncError> {
                    self.factory.wait_for_sync(deadline).await
                }
                /// Stops all informers and waits until they have stopped.
                pub async fn shutdown(&self) {
                    self.factory.shutdown().await;
                }
            }
        },
    ];
    Source::new("informers.rs", "The shared informer factory.", items)
}

/// Returns the method that looks up an informer by resource.
fn for_resource(groups: &[&Group]) -> TokenStream {
    let arms = groups.iter().flat_map(|group| group.informed_kinds().map(move |kind| (group, kind)));
    let arms = arms.map(|(group, kind)| {
        let (resource, module, getter) = (resource_pattern(group, kind), group.ident(), &kind.getter);
        quote!(#resource => GenericInformer::new(self.#module().#getter()),)
    });
    let allowed = allow_deprecated(groups.iter().flat_map(|group| &group.kinds)).map(|allow| quote!(#[#allow]));
    quote! {
        /// Returns the informer of a resource; `None` if this crate has none for it.
        #allowed
        #[inline]
        pub fn for_resource(&self, resource: &GroupVersionResource) -> Option<GenericInformer> {
            Some(match (&*resource.group, &*resource.version, &*resource.resource) {
                #(#arms)*
                _ => return None,
            })
        }
    }
}

fn group(group: &Group) -> Source {
    let mut items = vec![imports(group), informers(group), getters(group)];
    items.extend(group.informed_kinds().map(alias));
    let docs = format!("Shared informers of {}.", group.described());
    Source::new(format!("informers/{}.rs", group.module), docs, items)
}

fn imports(group: &Group) -> TokenStream {
    let types = import_types(group);
    quote! {
        #types
        use kubewright_runtime::InformerFactory;
    }
}

fn informers(group: &Group) -> TokenStream {
    let informers = group.type_named("Informers");
    let docs = doc(&format!("The informers of {}.", group.described()));
    quote! {
        #docs
        #[derive(Clone)]
        pub struct #informers {
            factory: InformerFactory,
        }
    }
}

fn getters(group: &Group) -> TokenStream {
    let informers = group.type_named("Informers");
    let getters = group.informed_kinds().map(|kind| {
        let (getter, informer, deprecated) = (&kind.getter, kind.type_named("Informer"), &kind.deprecated);
        let docs = doc(&format!("Returns the informer of {}.", kind.meta.plural));
        let (client, module, indexes) = (&group.client, group.ident(), kind.indexes());
        let body = match indexes.is_empty() {
            true => quote!(self.factory.informer()),
            false => quote!(self.factory.indexed_informer(&[#(#client::listers::#module::#indexes),*])),
        };
        quote! {
            #docs
            #deprecated
            #[inline]
            pub fn #getter(&self) -> #informer {
                #body
            }
        }
    });
    quote! {
        impl #informers {
            /// Creates the informers of this group from this factory.
            pub fn new(factory: InformerFactory) -> Self {
                #informers { factory }
            }
            #(#getters)*
        }
    }
}

fn alias(kind: &ClientKind) -> TokenStream {
    let (ty, informer, deprecated) = (&kind.ty, kind.type_named("Informer"), &kind.deprecated);
    let docs = doc(&format!("Informer of {} objects.\n\n{}", kind.linked(), portable(kind.meta.docs)));
    quote! {
        #docs
        #deprecated
        pub type #informer = kubewright_runtime::SharedInformer<#ty>;
    }
}
