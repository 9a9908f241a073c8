//! The command line that any project's xtask calls.

mod package;
mod settings;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Parser;
use logger_core::meta::ApiGroup;

pub use settings::Settings;

use crate::crd::{self, patch, size};
use crate::crd_command::{self, Crd};
use crate::explain::{explain, page};
use crate::file::{self, File, Plan};
use crate::{CrdOptions, Layout, generate, generate_kubernetes, reference, report};

/// What a project's xtask can do about its API. An xtask with chores of its own flattens this into them
/// (`#[command(flatten)]`) and hands it back to [`Command::run`].
#[derive(Clone, Debug, clap::Subcommand)]
#[command(about = None, long_about = None)]
#[allow(clippy::large_enum_variant, reason = "made once, by clap")]
pub enum Command {
    /// Write the client crate and the CRD files, check them, or explain the attributes.
    Codegen(Args),
    /// Check definitions by the API server's rules, or compare them: what changed, and whom it breaks.
    #[command(subcommand)]
    Crd(Crd),
    /// Write the API reference, a Markdown page for each version of each group, or check it.
    Docs(Docs),
}

/// What `docs` does.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Docs {
    /// Compare only: name missing, changed and stray pages; exit with 1 if there are any.
    #[arg(long)]
    pub check: bool,
    /// Where the project is.
    #[command(flatten)]
    pub place: Place,
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
    /// Print the CRDs as one stream of YAML; write nothing.
    #[arg(long, conflicts_with_all = ["check", "sizes", "schema_patch"])]
    pub stdout: bool,
    /// Tell how many bytes each field of a CRD takes; write nothing.
    #[arg(long, conflicts_with_all = ["check", "schema_patch"])]
    pub sizes: bool,
    /// Put the schemas into the CRDs that stand in the files of this directory, below the root; all else in these files
    /// stays as it is, and nothing else is written.
    #[arg(long, value_name = "DIR")]
    pub schema_patch: Option<String>,
    /// How files are written.
    #[command(flatten)]
    pub settings: Settings,
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
/// `cargo xtask crd check`, `cargo xtask crd diff`, `cargo xtask docs`.
pub fn cli(groups: &[ApiGroup]) -> ExitCode {
    Program::parse().command.run(groups)
}

impl Command {
    /// Does it and prints what came of it. Exit codes: 0 clean or done, 1 drift or a change that is not allowed, 2 error.
    pub fn run(&self, groups: &[ApiGroup]) -> ExitCode {
        match self {
            Command::Codegen(args) => run(groups, args),
            Command::Crd(crd) => ended(crd_command::run(groups, crd)),
            Command::Docs(args) => ended(docs(groups, args)),
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

const NOTHING_WRITTEN: &str = "nothing was written, because it cannot all be generated";

fn codegen(groups: &[ApiGroup], args: &Args) -> Result<ExitCode> {
    let Project { root, layout } = Project::with(groups, &args.place(), &args.settings)?;
    if let Some(directory) = &args.schema_patch {
        return schema_patch(groups, &root, &layout, directory, args.check);
    }
    if args.sizes || args.stdout {
        say(&if args.sizes { sizes(groups, &layout)? } else { stream(groups, &layout)? });
        return Ok(ExitCode::SUCCESS);
    }
    let files = generate(groups, &layout).context(NOTHING_WRITTEN)?;
    put(&root, &files, &layout, args)
}

fn docs(groups: &[ApiGroup], args: &Docs) -> Result<ExitCode> {
    let Project { root, layout } = Project::find(groups, &args.place)?;
    let files = reference(groups, &layout).context(NOTHING_WRITTEN)?;
    let directory = layout.docs_dir.clone();
    let layout = Layout { client_dir: directory.clone(), crd_dir: directory, ..layout };
    settle(&Plan::new(&root, &files, &layout)?, files.len(), args.check, "docs")
}

/// The bytes of each field of each CRD.
fn sizes(groups: &[ApiGroup], layout: &Layout) -> Result<String> {
    let definitions = crd::definitions(groups, layout)?;
    let max_bytes = layout.crd.max_bytes;
    let report = |definition: &crd::Definition| {
        let name = definition.crd["metadata"]["name"].as_str().unwrap_or_default();
        size::report(name, &definition.crd, max_bytes)
    };
    Ok(definitions.values().map(report).collect::<Vec<_>>().join("\n").trim_end().to_owned())
}

/// The CRDs as documents of one text.
fn stream(groups: &[ApiGroup], layout: &Layout) -> Result<String> {
    let options = CrdOptions { kustomization: false, ..layout.crd.clone() };
    let files = crd::files(groups, &Layout { crd: options, ..layout.clone() })?;
    Ok(files.iter().map(|file| file.contents.as_str()).collect::<Vec<_>>().join("---\n").trim_end().to_owned())
}

/// Puts the schemas into the files of a directory, or tells which lack them.
fn schema_patch(groups: &[ApiGroup], root: &Path, layout: &Layout, directory: &str, check: bool) -> Result<ExitCode> {
    let schemas = patch::schemas(groups, layout).context(NOTHING_WRITTEN)?;
    let directory = directory.trim_end_matches('/');
    let mut files = Vec::new();
    for (name, text) in file::manifests(&root.join(directory))? {
        let path = format!("{directory}/{name}");
        let patched = patch::patched(&text, &schemas).with_context(|| format!("{path}: {NOTHING_WRITTEN}"))?;
        files.extend(patched.map(|contents| File { path, contents }));
    }
    if files.is_empty() {
        let names = schemas.keys().cloned().collect::<Vec<_>>().join(", ");
        bail!("no file of {directory} defines one of {names}");
    }
    settle(&Plan::of_these(root, &files), files.len(), check, &format!("codegen --schema-patch {directory}"))
}

/// Writes the files, or compares them with the tree.
fn put(root: &Path, files: &[File], layout: &Layout, args: &Args) -> Result<ExitCode> {
    let plan = Plan::new(root, files, layout)?;
    if layout.crd.kustomization {
        plan.spare(&crd::kustomization::path(layout), layout)?;
    }
    settle(&plan, files.len(), args.check, "codegen")
}

/// Makes the tree as generated, or tells how it differs and which command mends that.
fn settle(plan: &Plan<'_>, files: usize, check: bool, command: &str) -> Result<ExitCode> {
    if check {
        let drift = plan.drift()?;
        say(&report::drift(&drift, files, command));
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
        Self::with(groups, place, &Settings::default())
    }

    /// The same, with settings of which those here count before those of its manifests.
    fn with(groups: &[ApiGroup], place: &Place, settings: &Settings) -> Result<Self> {
        let Some(types_crate) = types_crate(groups) else {
            bail!("0 kinds: nothing to generate; list the kinds in a `group_version!` and hand its `API_GROUP` over");
        };
        let mut layout = place.layout(types_crate)?;
        let root = match &place.root {
            Some(root) => root.clone(),
            None => package::workspace_root(&std::env::current_dir().context("cannot tell the current directory")?)?,
        };
        let client = package::Manifest::of_client(&root, &layout)?;
        layout.features = client.features();
        let types = package::Manifest::of_types(&root, &layout)?;
        settings.clone().or(package::settings(&client, types.as_ref())?).put_into(&mut layout, &root)?;
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
