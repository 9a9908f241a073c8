//! `clientset.rs`: the way to every group's typed clients.

use quote::quote;

use super::{Source, doc};
use crate::api::Api;
use crate::names;

pub(super) fn sources(api: &Api) -> Vec<Source> {
    let getters = api.client_groups().map(|group| {
        let (getter, client) = (group.ident(), group.type_named("Client"));
        let docs = doc(&format!("The clients of {}.", group.described()));
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
                (super::resource_pattern(group, kind), group.path(), names::ident(kind.meta.rust_name));
            quote!(#resource => GenericClient::new::<#path::#name>(client),)
        })
    });
    let arms: Vec<_> = arms.collect();
    let allowed =
        super::allow_deprecated(api.client_groups().flat_map(|group| &group.kinds)).map(|allow| quote!(#[#allow]));
    let items = vec![
        quote! {
            use logger_core::GroupVersionResource;
            use logger_runtime::GenericClient;
            use logger_runtime::kube::{Client, Error};

            #(use crate::typed::#modules::#clients;)*
        },
        quote! {
            /// The typed clients of every group and version. Cloning is cheap: all share one connection pool.
            #[derive(Clone)]
            pub struct Clientset {
                client: Client,
            }
        },
        quote! {
            impl Clientset {
                /// The clientset on this client.
                pub fn new(client: Client) -> Self {
                    Clientset { client }
                }
                /// The clientset of the cluster that the environment names: in a pod its own, else the kubeconfig's.
                ///
                /// # Errors
                /// No cluster is named, or its configuration cannot be read.
                pub async fn try_default() -> Result<Self, Error> {
                    Client::try_default().await.map(Clientset::new)
                }
                /// The client below, for kinds this clientset does not know.
                pub fn client(&self) -> &Client {
                    &self.client
                }
                #(#getters)*
                /// The client of a resource that is known by name only; `None` if it is none of this clientset's.
                #allowed
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
    vec![("clientset.rs".to_owned(), "The clientset: the way to every group's typed clients.".to_owned(), items)]
}
