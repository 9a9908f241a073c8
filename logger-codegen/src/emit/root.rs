//! `lib.rs`: the layers of the client crate.

use quote::quote;

use super::Source;
use crate::Layout;
use crate::api::Api;

pub(super) fn sources(api: &Api, layout: &Layout) -> Vec<Source> {
    let has_applied = api.applied_groups().next().is_some();
    let applyconfigurations = has_applied.then(|| {
        quote! {
            #[rustfmt::skip]
            pub mod applyconfigurations;
        }
    });
    let items = vec![
        quote! {
            #applyconfigurations
            #[rustfmt::skip]
            pub mod clientset;
            #[rustfmt::skip]
            pub mod informers;
            #[rustfmt::skip]
            pub mod listers;
            #[rustfmt::skip]
            pub mod scheme;
            #[rustfmt::skip]
            pub mod typed;
        },
        quote! {
            pub use clientset::Clientset;
            pub use informers::SharedInformerFactory;
        },
    ];
    vec![("lib.rs".to_owned(), docs(api, layout), items)]
}

fn docs(api: &Api, layout: &Layout) -> String {
    let groups: Vec<_> = api.groups.iter().map(|group| format!("- {}", group.described())).collect();
    let mut docs = format!("Typed clients, listers, informers and the scheme of\n{}\n", groups.join("\n"));
    if let Some((group, kind)) = api.client_groups().find_map(|group| Some((group, group.kinds.first()?))) {
        let scoped = if kind.is_namespaced() { format!("all_{}()", kind.getter) } else { format!("{}()", kind.getter) };
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
