//! The command line that any project's xtask calls.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Parser;
use logger_core::meta::ApiGroup;

use crate::explain::{explain, page};
use crate::file::{File, Plan};
use crate::{Layout, generate, generate_kubernetes, report};

/// Writes the client crate and the CRD files, or tells how the tree differs from them.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    /// What to do instead of generating, if anything.
    #[command(subcommand)]
    pub action: Option<Action>,
    /// Compare only: name missing, changed and stray files; exit with 1 if there are any.
    #[arg(long)]
    pub check: bool,
    /// Root of the workspace; by default the nearest directory above with a `[workspace]` in its Cargo.toml.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Sources of the client crate, below the root; by default `my-client/src` for a crate `my_types`.
    #[arg(long, value_name = "DIR")]
    pub client_dir: Option<String>,
    /// CRD files, below the root; by default `config/crd/bases`.
    #[arg(long, value_name = "DIR")]
    pub crd_dir: Option<String>,
}

/// What `codegen` does beside generating.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Action {
    /// Tell what may be written in attributes: all of it, or what has the word in its name or in its Go tag.
    Explain {
        /// A keyword or a Go tag, such as `only_verbs`, `nonNamespaced`, `+groupName` or `--plural-exceptions`.
        #[arg(allow_hyphen_values = true)]
        word: Option<String>,
    },
}

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Command {
    /// Write the client crate and the CRD files, or explain the attributes.
    Codegen(Args),
}

/// A whole `main` for an xtask that has no other chores: `cargo xtask codegen [--check]`, `cargo xtask codegen explain`.
pub fn cli(groups: &[ApiGroup]) -> ExitCode {
    let Command::Codegen(args) = Command::parse();
    run(groups, &args)
}

/// Runs `codegen` and prints what came of it. Exit codes: 0 clean, written or explained, 1 drift, 2 error.
pub fn run(groups: &[ApiGroup], args: &Args) -> ExitCode {
    ended(match &args.action {
        None => codegen(groups, args),
        Some(Action::Explain { word }) => explain(word.as_deref()).map(|text| {
            say(&text);
            ExitCode::SUCCESS
        }),
    })
}

/// Writes or checks the crate of apply configurations of Kubernetes' own types, below the root. Exit codes as those of
/// [`run`].
pub fn run_kubernetes(root: &Path, args: &Args) -> ExitCode {
    let layout = Layout::for_types_crate("k8s_openapi");
    let layout = Layout { client_crate: "logger_apply".into(), client_dir: "logger-apply/src".into(), ..layout };
    ended(generate_kubernetes(&layout).map_err(Into::into).and_then(|files| put(root, &files, &layout, args)))
}

/// Writes or checks the page of Go tags and attributes, below the root. Exit codes as those of [`run`].
pub fn run_attributes(root: &Path, args: &Args) -> ExitCode {
    let layout = Layout::for_types_crate("logger_derive");
    let layout = Layout { client_dir: "docs".into(), crd_dir: "docs".into(), ..layout };
    ended(put(root, &[page(&layout)], &layout, args))
}

fn ended(result: Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}

fn codegen(groups: &[ApiGroup], args: &Args) -> Result<ExitCode> {
    let Some(types_crate) = types_crate(groups) else {
        bail!("0 kinds: nothing to generate; list the kinds in a `group_version!` and hand its `API_GROUP` over");
    };
    let mut layout = args.layout(types_crate)?;
    let root = match &args.root {
        Some(root) => root.clone(),
        None => workspace_root(&std::env::current_dir().context("cannot tell the current directory")?)?,
    };
    layout.features = features(&manifest(&root, &layout)?)?;
    let files = generate(groups, &layout).context("nothing was written, because it cannot all be generated")?;
    put(&root, &files, &layout, args)
}

/// Writes the files, or compares them with the tree.
fn put(root: &Path, files: &[File], layout: &Layout, args: &Args) -> Result<ExitCode> {
    let plan = Plan::new(root, files, layout)?;
    if args.check {
        let drift = plan.drift()?;
        say(&report::drift(&drift, files.len()));
        return Ok(ExitCode::from(u8::from(!drift.is_empty())));
    }
    say(&report::written(&plan.write()?));
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn layout(&self, types_crate: &str) -> Result<Layout> {
        let mut layout = Layout::for_types_crate(types_crate);
        if let Some(directory) = &self.client_dir {
            let directory = directory.trim_end_matches('/');
            let package = directory.strip_suffix("/src").unwrap_or(directory).rsplit('/').next().unwrap_or_default();
            if package.is_empty() || package == "src" {
                bail!("--client-dir {directory} is in no package; give the sources of one, such as `my-client/src`");
            }
            layout.client_crate = package.replace('-', "_");
            layout.client_dir = directory.to_owned();
        }
        if let Some(directory) = &self.crd_dir {
            layout.crd_dir = directory.trim_end_matches('/').to_owned();
        }
        Ok(layout)
    }
}

/// The manifest of the client's package, which must be there: files in no package would be built by nobody.
fn manifest(root: &Path, layout: &Layout) -> Result<PathBuf> {
    let package = root.join(layout.client_dir.strip_suffix("/src").unwrap_or(&layout.client_dir));
    let manifest = package.join("Cargo.toml");
    if !manifest.is_file() {
        let package = package.display();
        bail!(
            "there is no package in {package}: make it (an empty library crate), or name its sources with --client-dir"
        );
    }
    Ok(manifest)
}

/// The cargo features that a package declares.
fn features(manifest: &Path) -> Result<BTreeSet<String>> {
    let named = || format!("cannot read {}", manifest.display());
    let text = std::fs::read_to_string(manifest).with_context(named)?;
    let package: toml::Table = text.parse().with_context(named)?;
    let features = package.get("features").and_then(toml::Value::as_table);
    Ok(features.into_iter().flat_map(toml::Table::keys).cloned().collect())
}

/// Prints. Where nobody listens any more (a closed pipe), the exit code still tells.
fn say(text: &str) {
    drop(writeln!(std::io::stdout().lock(), "{text}"));
}

/// The crate of the first kind; `None` without kinds.
fn types_crate(groups: &[ApiGroup]) -> Option<&'static str> {
    let group = groups.iter().find(|group| group.kinds().next().is_some())?;
    group.module.split("::").next()
}

fn workspace_root(from: &Path) -> Result<PathBuf> {
    let is_root = |directory: &&Path| {
        std::fs::read_to_string(directory.join("Cargo.toml"))
            .is_ok_and(|manifest| manifest.lines().any(|line| line.trim_start().starts_with("[workspace")))
    };
    let root = from.ancestors().find(is_root).context("no Cargo.toml with `[workspace]` here or above; give --root")?;
    Ok(root.to_owned())
}
