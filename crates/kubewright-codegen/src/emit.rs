//! The sources of the client crate, one emitter per layer.
//!
//! Functions that instantiate the generic code of the runtime for a kind are inline: a program compiles the clients and
//! informers that it uses, and the client crate compiles none.

mod applyconfigurations;
mod client_docs;
mod clientset;
mod fake;
mod informers;
mod listers;
mod methods;
mod portable_docs;
mod root;
mod scheme;
mod source;
mod typed;

use kubewright_core::meta::ApiGroup;

use crate::{
    api::Api,
    crd::{self, Definitions},
    diagnostic::{Diagnostics, RustItem},
    layout::Layout,
    output::File,
};
use source::Source;

/// Returns all sources of the client crate.
pub(crate) fn client(api: &Api, layout: &Layout) -> Result<Vec<File>, Diagnostics> {
    let mut errors = Diagnostics::default();
    let sources = [
        root::sources(api, layout),
        applyconfigurations::sources(api, &mut errors),
        clientset::sources(api),
        fake::sources(api, layout),
        typed::sources(api, layout),
        listers::sources(api),
        informers::sources(api),
        scheme::sources(api),
    ];
    let files = files(sources.into_iter().flatten(), layout)?;
    errors.or(files)
}

/// Returns the file with the definitions of the fake clientset, if there is one.
pub(crate) fn fake_definitions(
    groups: &[ApiGroup],
    definitions: &Definitions,
    layout: &Layout,
) -> Result<Option<File>, Diagnostics> {
    if !fake::is_enabled(layout) {
        return Ok(None);
    }
    let path = format!("{}/{}", layout.client_dir, fake::DEFINITIONS);
    crd::without_descriptions(path, &crd::served(groups, definitions, layout)?, layout).map(Some)
}

/// Returns all files of the crate of apply configurations of Kubernetes types.
pub(crate) fn kubernetes(layout: &Layout) -> Result<Vec<File>, Diagnostics> {
    files(applyconfigurations::kubernetes(), layout)
}

fn files(sources: impl IntoIterator<Item = Source>, layout: &Layout) -> Result<Vec<File>, Diagnostics> {
    let file = |Source { path, docs, items }: Source| {
        let path = format!("{}/{path}", layout.client_dir);
        File::rust(path.clone(), layout, &docs, items)
            .map_err(|error| RustItem::from(path).diagnostic(format!("a name is not a Rust identifier: {error}")))
    };
    sources.into_iter().map(file).collect::<Result<_, _>>().map_err(Diagnostics::from)
}
