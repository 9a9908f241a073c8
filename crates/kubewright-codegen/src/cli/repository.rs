//! Generated files of this repository that no other project has.

use std::{path::Path, process::ExitCode};

use super::{print::exit_code, write::write_or_check};
use crate::{
    emit,
    explain::{page, references},
    layout::Layout,
};

/// Writes the crate of apply configurations of Kubernetes types below the root, or checks it. Exit codes as those of
/// [`run`](super::codegen::run).
pub fn run_kubernetes(root: &Path, check: bool) -> ExitCode {
    let layout = Layout::for_types_crate("k8s_openapi");
    let layout =
        Layout { client_crate: "kubewright_apply".into(), client_dir: "crates/kubewright-apply/src".into(), ..layout };
    let files = emit::kubernetes(&layout).map_err(anyhow::Error::from);
    exit_code(files.and_then(|files| write_or_check(root, &files, &layout, check)))
}

/// Writes the page of Go tags and attributes below the root, or checks it. Exit codes as those of
/// [`run`](super::codegen::run).
pub fn run_attributes(root: &Path, check: bool) -> ExitCode {
    let layout = Layout::for_types_crate("logger_derive");
    let layout = Layout { client_dir: "docs".into(), crd_dir: "docs".into(), ..layout };
    let files = [vec![page(&layout)], references(&layout)].concat();
    exit_code(write_or_check(root, &files, &layout, check))
}
