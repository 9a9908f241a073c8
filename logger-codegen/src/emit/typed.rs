//! `typed/<group>.rs`: the clients of a group's kinds.

use logger_core::meta::Verb;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{Source, doc, methods, modules, transplanted};
use crate::Layout;
use crate::api::{Api, ClientKind, Group};

pub(super) fn sources(api: &Api, layout: &Layout) -> Vec<Source> {
    let groups: Vec<_> = api.client_groups().collect();
    let mut sources = vec![modules("typed.rs", "Typed clients, one module for each group and version.", &groups)];
    sources.extend(groups.into_iter().map(|group| self::group(group, layout)));
    sources
}

fn group(group: &Group, layout: &Layout) -> Source {
    let mut items = vec![imports(group), client(group), getters(group)];
    items.extend(group.kinds.iter().flat_map(|kind| clients(group, kind, layout)));
    (format!("typed/{}.rs", group.module), format!("Typed clients of {}.", group.described()), items)
}

fn imports(group: &Group) -> TokenStream {
    let (types, methods) = (super::types(group), methods::imports(&group.kinds));
    quote! {
        #types
        #methods
        use logger_runtime::kube::Client;
    }
}

fn client(group: &Group) -> TokenStream {
    let client = group.type_named("Client");
    let docs = doc(&format!("The clients of {}.", group.described()));
    quote! {
        #docs
        #[derive(Clone)]
        pub struct #client {
            client: Client,
        }
    }
}

fn getters(group: &Group) -> TokenStream {
    let client = group.type_named("Client");
    let getters = group.kinds.iter().map(kind_getters);
    quote! {
        impl #client {
            /// The clients of this group on this client.
            pub fn new(client: Client) -> Self {
                #client { client }
            }
            #(#getters)*
        }
    }
}

fn kind_getters(kind: &ClientKind) -> TokenStream {
    let (ty, getter, client) = (&kind.ty, &kind.getter, kind.type_named("Client"));
    let deprecated = &kind.deprecated;
    if !kind.is_namespaced() {
        let docs = doc(&format!("The {} of the cluster.", kind.meta.plural));
        return quote! {
            #docs
            #deprecated
            pub fn #getter(&self) -> #client {
                #client::cluster(self.client.clone())
            }
        };
    }
    let docs = doc(&format!("The {} of a namespace.", kind.meta.plural));
    let all = has_all_namespaces(kind).then(|| {
        let (docs, all) =
            (doc(&format!("The {} of all namespaces, to read.", kind.meta.plural)), format_ident!("all_{getter}"));
        quote! {
            #docs
            #deprecated
            pub fn #all(&self) -> logger_runtime::AllNamespaces<#ty> {
                logger_runtime::AllNamespaces::new(self.client.clone())
            }
        }
    });
    quote! {
        #docs
        #deprecated
        pub fn #getter(&self, namespace: &str) -> #client {
            #client::namespaced(self.client.clone(), namespace)
        }
        #all
    }
}

fn has_all_namespaces(kind: &ClientKind) -> bool {
    kind.is_namespaced() && (kind.meta.grants(Verb::List) || kind.meta.grants(Verb::Watch))
}

/// The client of a kind: the generic one, or a type of its own around it where there are further methods.
fn clients(group: &Group, kind: &ClientKind, layout: &Layout) -> Vec<TokenStream> {
    match kind.meta.methods {
        [] => vec![alias(group, kind, layout)],
        _ => methods::client(group, kind, layout),
    }
}

fn alias(group: &Group, kind: &ClientKind, layout: &Layout) -> TokenStream {
    let (ty, client, deprecated) = (&kind.ty, kind.type_named("Client"), &kind.deprecated);
    let docs = docs(group, kind, layout);
    quote! {
        #docs
        #deprecated
        pub type #client = logger_runtime::TypedClient<#ty>;
    }
}

/// Docs of a kind's client: the kind's own, and how one comes by it.
pub(super) fn docs(group: &Group, kind: &ClientKind, layout: &Layout) -> TokenStream {
    let docs = format!("Client of {} objects.\n\n{}", kind.linked(), transplanted(kind.meta.docs));
    match call(kind) {
        Some(call) => doc(&format!("{}\n\n{}", docs.trim_end(), example(group, kind, layout, call))),
        None => doc(&docs),
    }
}

/// What the client of a kind can do, if anything, as one would write it.
fn call(kind: &ClientKind) -> Option<&'static str> {
    let calls = [
        (Verb::Get, "let object = client.get(\"name\").await?;"),
        (Verb::List, "let list = client.list(&Default::default()).await?;"),
        (Verb::Watch, "let events = client.watch(&Default::default(), \"0\").await?;"),
        (Verb::Create, "let created = client.create(&object, &Default::default()).await?;"),
        (Verb::Update, "let updated = client.update(&object, &Default::default()).await?;"),
        (Verb::UpdateStatus, "let updated = client.update_status(&object, &Default::default()).await?;"),
        (Verb::Delete, "client.delete(\"name\", &Default::default()).await?;"),
        (Verb::DeleteCollection, "client.delete_collection(&Default::default(), &Default::default()).await?;"),
    ];
    calls.into_iter().find_map(|(verb, call)| kind.meta.grants(verb).then_some(call))
}

fn example(group: &Group, kind: &ClientKind, layout: &Layout, call: &str) -> String {
    let (krate, module, getter) = (&layout.client_crate, &group.module, &kind.getter);
    let (namespace, ty) = (if kind.is_namespaced() { "\"default\"" } else { "" }, kind.meta.rust_name);
    let object = match call.contains("&object") {
        true => format!(", object: {}::{ty}", group.meta.module),
        false => String::new(),
    };
    format!(
        "```no_run\n# async fn example(clientset: {krate}::Clientset{object}) -> Result<(), Box<dyn std::error::Error>> {{\n\
         let client = clientset.{module}().{getter}({namespace});\n{call}\n# Ok(())\n# }}\n```"
    )
}
