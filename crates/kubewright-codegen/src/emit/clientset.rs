//! `clientset.rs`: the typed clients of all groups.

use quote::quote;

use super::source::{Source, allow_deprecated, doc, resource_pattern};
use crate::{api::Api, names};

pub(super) fn sources(api: &Api) -> Vec<Source> {
    let getters = api.client_groups().map(|group| {
        let (getter, client) = (group.ident(), group.type_named("Client"));
        let docs = doc(&format!("Returns the clients of {}.", group.described()));
        quote! {
            #docs
            pub fn #getter(&self) -> #client {
                #client::new(self.client.clone())
            }
        }
    });
    let (modules, clients): (Vec<_>, Vec<_>) =
        api.client_groups().map(|group| (group.ident(), group.type_named("Client"))).unzip();
    let arms = api.client_groups().flat_map(|group| {
        group.kinds.iter().map(|kind| {
            let (resource, path, name) =
                (resource_pattern(group, kind), &group.path, names::ident(kind.meta.rust_name));
            quote!(#resource => GenericClient::new::<#path::#name>(client),)
        })
    });
    let arms: Vec<_> = arms.collect();
    let root = &api.client;
    let allowed = allow_deprecated(api.client_groups().flat_map(|group| &group.kinds)).map(|allow| quote!(#[#allow]));
    let items = vec![
        quote! {
            use kubewright_core::GroupVersionResource;
            use kubewright_runtime::GenericClient;
            use kubewright_runtime::kube::{Client, Error};

            #(use #root::typed::#modules::#clients;)*
        },
        quote! {
            /// The typed clients of every group and version. Cloning is cheap: all clones share one connection pool.
            #[derive(Clone)]
            pub struct Clientset {
                client: Client,
            }
        },
        quote! {
            impl Clientset {
                /// Creates a clientset that sends its requests with this client.
                pub fn new(client: Client) -> Self {
                    Clientset { client }
                }
                /// Creates a clientset for the cluster of the environment: the in-cluster configuration in a pod, or
                /// else the kubeconfig.
                ///
                /// # Errors
                /// There is no configuration, or it cannot be read.
                pub async fn try_default() -> Result<Self, Error> {
                    Client::try_default().await.map(Clientset::new)
                }
                /// Returns the underlying client, for kinds that are not part of this clientset.
                pub fn client(&self) -> &Client {
                    &self.client
                }
                #(#getters)*
                /// Returns the client of a resource by its name; `None` if it is not part of this clientset.
                #allowed
                #[inline]
                pub fn for_resource(&self, resource: &GroupVersionResource) -> Option<GenericClient> {
                    let client = self.client.clone();
                    Some(match (&*resource.group, &*resource.version, &*resource.resource) {
                        #(#arms)*
                        _ => return None,
                    })
                }
            }
        },
    ];
    vec![Source::new("clientset.rs", "The clientset: the typed clients of all groups.", items)]
}
