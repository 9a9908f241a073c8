//! `lib.rs`, or `mod.rs` for a client that is a module: the layers of the client.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{fake, source::Source};
use crate::{
    api::{Api, ClientKind, Group},
    apply,
    layout::Layout,
};

/// The modules, each with its layer.
const LAYERS: [(&str, &str); 7] = [
    ("applyconfigurations", "applyconfigurations"),
    ("clientset", "clientset"),
    ("fake", "fake"),
    ("informers", "informers"),
    ("listers", "informers"),
    ("scheme", "scheme"),
    ("typed", "clientset"),
];

/// Returns the `cfg` of the feature of a layer, if the package declares it.
pub(super) fn gate(layer: &str, layout: &Layout) -> Option<TokenStream> {
    layout.features.contains(layer).then(|| quote!(#[cfg(feature = #layer)]))
}

pub(super) fn sources(api: &Api, layout: &Layout) -> Vec<Source> {
    let has_configurations = apply::applied_groups(api).next().is_some();
    let is_generated = |module: &str| match module {
        "applyconfigurations" => has_configurations,
        "fake" => fake::is_enabled(layout),
        _ => true,
    };
    let modules = LAYERS.iter().filter(|(module, _)| is_generated(module)).map(|(module, layer)| {
        let (gate, module) = (gate(layer, layout), format_ident!("{module}"));
        quote! {
            #gate
            #[rustfmt::skip]
            pub mod #module;
        }
    });
    let (clientset, informers) = (gate("clientset", layout), gate("informers", layout));
    let items = vec![
        quote!(#(#modules)*),
        quote! {
            #clientset
            pub use clientset::Clientset;
            #informers
            pub use informers::SharedInformerFactory;
        },
    ];
    let path = if layout.has_client_module() { "mod.rs" } else { "lib.rs" };
    vec![Source::new(path, docs(api, layout), items)]
}

fn docs(api: &Api, layout: &Layout) -> String {
    let groups: Vec<_> = api.groups.iter().map(|group| format!("- {}", group.described())).collect();
    let mut docs = format!("Typed clients, listers, informers and the scheme of\n{}\n", groups.join("\n"));
    if let Some((group, kind)) = demonstrated(api) {
        let scoped =
            if kind.is_namespaced() { format!("{}()", kind.all_getter()) } else { format!("{}()", kind.getter) };
        docs += &format!(
            "\n```no_run\n# async fn example() -> Result<(), Box<dyn std::error::Error>> {{\n\
             let clientset = {}::Clientset::try_default().await?;\n\
             for object in clientset.{}().{scoped}.list(&Default::default()).await?.items {{\n    \
             println!(\"{{:?}}\", object.metadata.name);\n}}\n# Ok(())\n# }}\n```\n",
            layout.client_crate, group.module,
        );
    }
    docs
}

/// Returns the kind of the example: the first one that is not deprecated, if there is one.
fn demonstrated(api: &Api) -> Option<(&Group, &ClientKind)> {
    let kinds = || api.client_groups().flat_map(|group| group.kinds.iter().map(move |kind| (group, kind)));
    kinds().find(|(_, kind)| kind.deprecated.is_empty()).or_else(|| kinds().next())
}
