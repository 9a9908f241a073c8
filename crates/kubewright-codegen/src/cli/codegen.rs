//! `codegen`: writes the client crate and the CRD files, or checks them for drift.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, bail};
use kubewright_core::meta::ApiGroup;

use super::{
    declared::check_all_passed,
    print::{exit_code, print, warn},
    project::{Project, ProjectDirs},
    settings::Settings,
    write::{write_or_check, write_or_check_plan},
};
use crate::{
    crd::{self, patch, size},
    explain::explain,
    generate::generate_with_warnings,
    layout::{CrdOptions, Layout},
    output::{File, Plan, read_manifests},
};

/// Options of `codegen`.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    /// A command other than generating.
    #[command(subcommand)]
    pub action: Option<Action>,
    /// Compare the tree with the generated files without writing: list missing, changed and stray files; exit with 1 if
    /// there are any.
    #[arg(long)]
    pub check: bool,
    /// Root of the workspace [default: the nearest parent directory whose Cargo.toml has a `[workspace]`].
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Source directory of the client crate, relative to the root [default: `my-client/src` for the crate `my_types`].
    /// A directory below `src` of the package of the types is that of a module.
    #[arg(long, value_name = "DIR")]
    pub client_dir: Option<String>,
    /// Directory of the CRD files, relative to the root [default: `config/crd/bases`].
    #[arg(long, value_name = "DIR")]
    pub crd_dir: Option<String>,
    /// Print the CRDs as a YAML stream without writing any file.
    #[arg(long, conflicts_with_all = ["check", "sizes", "schema_patch"])]
    pub stdout: bool,
    /// Print the size of each field of each CRD without writing any file.
    #[arg(long, conflicts_with_all = ["check", "schema_patch"])]
    pub sizes: bool,
    /// Replace the schemas in the existing CRD files of this directory, relative to the root. Everything else in these
    /// files is preserved, and no other files are written.
    #[arg(long, value_name = "DIR")]
    pub schema_patch: Option<String>,
    /// Options for the contents of generated files.
    #[command(flatten)]
    pub settings: Settings,
}

/// Commands of `codegen` other than generating.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Action {
    /// Print the documentation of attributes: all of them, or those whose key or Go tag contains a word.
    Explain {
        /// An attribute key or a Go tag, such as `only_verbs`, `nonNamespaced`, `+groupName` or `--plural-exceptions`.
        #[arg(allow_hyphen_values = true)]
        word: Option<String>,
    },
}

/// Runs `codegen` and prints its result. Exit codes: 0 success or no drift, 1 drift, 2 error.
pub fn run(groups: &[ApiGroup], args: &Args) -> ExitCode {
    exit_code(match &args.action {
        None => codegen(groups, args),
        Some(Action::Explain { word }) => explain(word.as_deref()).map(|text| {
            print(&text);
            ExitCode::SUCCESS
        }),
    })
}

fn codegen(groups: &[ApiGroup], args: &Args) -> Result<ExitCode> {
    let project = Project::with_settings(groups, &args.dirs(), &args.settings)?;
    let Project { root, layout, .. } = &project;
    let own_groups = layout.own_groups(groups);
    if let Some(directory) = &args.schema_patch {
        return patch_schemas(&own_groups, root, layout, directory, args.check);
    }
    if args.sizes {
        print(&sizes(&own_groups, layout)?);
        return Ok(ExitCode::SUCCESS);
    }
    if args.stdout {
        print(&yaml_stream(&own_groups, layout)?);
        return Ok(ExitCode::SUCCESS);
    }
    project.require_client()?;
    // A project can generate some of its versions on purpose, so this is a warning.
    if let Some(directory) = &project.types_dir
        && let Err(error) = check_all_passed(directory, groups)
    {
        eprintln!("warning: {error:#}");
    }
    let generated = generate_with_warnings(groups, layout)?;
    warn(&generated.warnings);
    write_or_check(root, &generated.files, layout, args.check)
}

/// Returns the size of each field of each CRD.
fn sizes(groups: &[ApiGroup], layout: &Layout) -> Result<String> {
    let definitions = crd::definitions(groups, layout)?;
    let max_bytes = layout.crd.max_bytes;
    let report = |definition: &crd::Definition| {
        let name = definition.crd["metadata"]["name"].as_str().unwrap_or_default();
        size::report(name, &definition.crd, max_bytes)
    };
    Ok(definitions.values().map(report).collect::<Vec<_>>().join("\n").trim_end().to_owned())
}

/// Returns the CRDs as one YAML stream.
fn yaml_stream(groups: &[ApiGroup], layout: &Layout) -> Result<String> {
    let options = CrdOptions { kustomization: false, ..layout.crd.clone() };
    let crds = crd::files(groups, &Layout { crd: options, ..layout.clone() })?;
    warn(&crds.warnings);
    Ok(crds.files.iter().map(|file| file.contents.as_str()).collect::<Vec<_>>().join("---\n").trim_end().to_owned())
}

/// Replaces the schemas in the files of a directory, or checks them.
fn patch_schemas(groups: &[ApiGroup], root: &Path, layout: &Layout, directory: &str, check: bool) -> Result<ExitCode> {
    let (schemas, warnings) = patch::schemas(groups, layout)?;
    warn(&warnings);
    let directory = directory.trim_end_matches('/');
    let mut files = Vec::new();
    for (name, text) in read_manifests(&root.join(directory))? {
        let path = format!("{directory}/{name}");
        let patched = patch::patched(&text, &schemas).with_context(|| format!("nothing was written: {path}"))?;
        files.extend(patched.map(|contents| File { path, contents }));
    }
    if files.is_empty() {
        let names = schemas.keys().cloned().collect::<Vec<_>>().join(", ");
        bail!("no file in {directory} defines one of {names}");
    }
    let plan = Plan::in_place(root, &files);
    write_or_check_plan(&plan, files.len(), check, &format!("codegen --schema-patch {directory}"))
}

impl Args {
    fn dirs(&self) -> ProjectDirs {
        ProjectDirs { root: self.root.clone(), client_dir: self.client_dir.clone(), crd_dir: self.crd_dir.clone() }
    }
}
