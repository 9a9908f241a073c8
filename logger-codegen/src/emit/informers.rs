//! `informers.rs` and `informers/<group>.rs`: the shared informer factory.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Source, doc, transplanted};
use crate::api::{Api, ClientKind, Group};

pub(super) fn sources(api: &Api) -> Vec<Source> {
    let groups: Vec<_> = api.client_groups().filter(|group| group.informed_kinds().next().is_some()).collect();
    let mut sources = vec![factory(&groups)];
    sources.extend(groups.into_iter().map(group));
    sources
}

fn factory(groups: &[&Group]) -> Source {
    let modules = groups.iter().map(|group| group.ident());
    let getters = groups.iter().map(|group| {
        let (getter, informers) = (group.ident(), group.type_named("Informers"));
        let docs = doc(&format!("The informers of {}.", group.described()));
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

            use logger_core::GroupVersionResource;
            use logger_runtime::{GenericInformer, InformerFactory, InformerFactoryBuilder, SyncError};

            use crate::clientset::Clientset;
        },
        quote! {
            /// Makes and runs the informers of a program: ask for those you need, then start them.
            ///
            /// There is one informer, so one watch, for each kind, however often it is asked for.
            #[derive(Clone)]
            pub struct SharedInformerFactory {
                factory: InformerFactory,
            }
        },
        quote! {
            impl SharedInformerFactory {
                /// Informers of all namespaces.
                pub fn new(clientset: &Clientset) -> Self {
                    SharedInformerFactory { factory: InformerFactory::new(clientset.client().clone()) }
                }
                /// Informers of one namespace; those of cluster kinds see the whole cluster.
                pub fn namespaced(clientset: &Clientset, namespace: &str) -> Self {
                    SharedInformerFactory { factory: InformerFactory::namespaced(clientset.client().clone(), namespace) }
                }
                /// Informers that are told more, such as
                /// `SharedInformerFactory::with(&clientset, |told| told.namespaces(["a", "b"]).labels("tier=web"))`.
                pub fn with(
                    clientset: &Clientset,
                    tell: impl FnOnce(InformerFactoryBuilder) -> InformerFactoryBuilder,
                ) -> Self {
                    let told = tell(InformerFactory::builder(clientset.client().clone()));
                    SharedInformerFactory { factory: told.build() }
                }
                /// The factory beneath, which knows no kinds: it is asked for informers by type.
                pub fn factory(&self) -> &InformerFactory {
                    &self.factory
                }
                #(#getters)*
                #for_resource
                /// Runs every informer that was asked for and does not run yet.
                pub fn start(&self) {
                    self.factory.start();
                }
                /// Waits until every informer that was asked for has synced.
                ///
                /// # Errors
                /// One has not within `deadline`: the error says which, and why.
                pub async fn wait_for_sync(&self, deadline: Duration) -> Result<(), SyncError> {
                    self.factory.wait_for_sync(deadline).await
                }
                /// Stops all informers and waits for them.
                pub async fn shutdown(&self) {
                    self.factory.shutdown().await;
                }
            }
        },
    ];
    ("informers.rs".to_owned(), "The shared informer factory.".to_owned(), items)
}

/// The informer of a resource that is known by name only.
fn for_resource(groups: &[&Group]) -> TokenStream {
    let arms = groups.iter().flat_map(|group| group.informed_kinds().map(move |kind| (group, kind)));
    let arms = arms.map(|(group, kind)| {
        let (resource, module, getter) = (super::resource_pattern(group, kind), group.ident(), &kind.getter);
        quote!(#resource => GenericInformer::new(self.#module().#getter()),)
    });
    let allowed = super::allow_deprecated(groups.iter().flat_map(|group| &group.kinds)).map(|allow| quote!(#[#allow]));
    quote! {
        /// The informer of a resource; `None` if there is none in this crate.
        #allowed
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
    (format!("informers/{}.rs", group.module), format!("Shared informers of {}.", group.described()), items)
}

fn imports(group: &Group) -> TokenStream {
    let types = super::types(group);
    quote! {
        #types
        use logger_runtime::InformerFactory;
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
        let docs = doc(&format!("The informer of {}.", kind.meta.plural));
        let (module, indexes) = (group.ident(), kind.indexes());
        let made = match indexes.is_empty() {
            true => quote!(self.factory.informer()),
            false => quote!(self.factory.indexed_informer(&[#(crate::listers::#module::#indexes),*])),
        };
        quote! {
            #docs
            #deprecated
            pub fn #getter(&self) -> #informer {
                #made
            }
        }
    });
    quote! {
        impl #informers {
            /// The informers of this group, from this factory.
            pub fn new(factory: InformerFactory) -> Self {
                #informers { factory }
            }
            #(#getters)*
        }
    }
}

fn alias(kind: &ClientKind) -> TokenStream {
    let (ty, informer, deprecated) = (&kind.ty, kind.type_named("Informer"), &kind.deprecated);
    let docs = doc(&format!("Informer of {} objects.\n\n{}", kind.linked(), transplanted(kind.meta.docs)));
    quote! {
        #docs
        #deprecated
        pub type #informer = logger_runtime::SharedInformer<#ty>;
    }
}
