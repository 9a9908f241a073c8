//! The command line that any project's xtask calls.

mod package;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Parser;
use logger_core::meta::ApiGroup;

use crate::crd_command::{self, Crd};
use crate::explain::{explain, page};
use crate::file::{File, Plan};
use crate::{Layout, generate, generate_kubernetes, report};

/// What a project's xtask can do about its API. An xtask with chores of its own flattens this into them
/// (`#[command(flatten)]`) and hands it back to [`Command::run`].
#[derive(Clone, Debug, clap::Subcommand)]
#[command(about = None, long_about = None)]
#[allow(clippy::large_enum_variant, reason = "made once, by clap")]
pub enum Command {
    /// Write the client crate and the CRD files, check them, or explain the attributes.
    Codegen(Args),
    /// Compare definitions: what changed, and whom it breaks.
    #[command(subcommand)]
    Crd(Crd),
}

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

/// Where a project is. What is left out is as `codegen` finds it.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Place {
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

/// A project: where it is, and what is generated for it.
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    pub(crate) layout: Layout,
}

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Program {
    #[command(subcommand)]
    command: Command,
}

/// A whole `main` for an xtask that has no other chores: `cargo xtask codegen [--check]`, `cargo xtask codegen explain`,
/// `cargo xtask crd diff`.
pub fn cli(groups: &[ApiGroup]) -> ExitCode {
    Program::parse().command.run(groups)
}

impl Command {
    /// Does it and prints what came of it. Exit codes: 0 clean or done, 1 drift or a change that is not allowed, 2 error.
    pub fn run(&self, groups: &[ApiGroup]) -> ExitCode {
        match self {
            Command::Codegen(args) => run(groups, args),
            Command::Crd(crd) => ended(crd_command::run(groups, crd)),
        }
    }
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
    let Project { root, layout } = Project::find(groups, &args.place())?;
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
    fn place(&self) -> Place {
        Place { root: self.root.clone(), client_dir: self.client_dir.clone(), crd_dir: self.crd_dir.clone() }
    }
}

impl Project {
    /// The project of a types crate, found from the current directory.
    pub(crate) fn find(groups: &[ApiGroup], place: &Place) -> Result<Self> {
        let Some(types_crate) = types_crate(groups) else {
            bail!("0 kinds: nothing to generate; list the kinds in a `group_version!` and hand its `API_GROUP` over");
        };
        let mut layout = place.layout(types_crate)?;
        let root = match &place.root {
            Some(root) => root.clone(),
            None => package::workspace_root(&std::env::current_dir().context("cannot tell the current directory")?)?,
        };
        layout.features = package::features(&package::manifest(&root, &layout)?)?;
        Ok(Project { root, layout })
    }
}

impl Place {
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

/// Prints. Where nobody listens any more (a closed pipe), the exit code still tells.
pub(crate) fn say(text: &str) {
    drop(writeln!(std::io::stdout().lock(), "{text}"));
}

/// The crate of the first kind; `None` without kinds.
fn types_crate(groups: &[ApiGroup]) -> Option<&'static str> {
    let group = groups.iter().find(|group| group.kinds().next().is_some())?;
    group.module.split("::").next()
}
