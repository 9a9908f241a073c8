//! The documentation of a typed client: that of its kind, and an example.

use kubewright_core::meta::ClientVerb;
use proc_macro2::TokenStream;

use super::{portable_docs::portable, source::doc};
use crate::{
    api::{ClientKind, Group},
    layout::Layout,
};

/// Returns the doc attributes of the client of a kind.
pub(super) fn client_docs(group: &Group, kind: &ClientKind, layout: &Layout) -> TokenStream {
    let docs = format!("Client of {} objects.\n\n{}", kind.linked(), portable(kind.meta.docs));
    match example_call(kind) {
        Some(call) => doc(&format!("{}\n\n{}", docs.trim_end(), example(group, kind, layout, call))),
        None => doc(&docs),
    }
}

/// Returns a call that the verbs of the client grant, if there is one.
fn example_call(kind: &ClientKind) -> Option<&'static str> {
    let calls = [
        (ClientVerb::Get, "let object = client.get(\"name\").await?;"),
        (ClientVerb::List, "let list = client.list(&Default::default()).await?;"),
        (ClientVerb::Watch, "let events = client.watch(&Default::default(), \"0\").await?;"),
        (ClientVerb::Create, "let created = client.create(&object, &Default::default()).await?;"),
        (ClientVerb::Update, "let updated = client.update(&object, &Default::default()).await?;"),
        (ClientVerb::UpdateStatus, "let updated = client.update_status(&object, &Default::default()).await?;"),
        (ClientVerb::Delete, "client.delete(\"name\", &Default::default()).await?;"),
        (ClientVerb::DeleteCollection, "client.delete_collection(&Default::default(), &Default::default()).await?;"),
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
