//! `cargo xtask deploy` and the other commands about a cluster.

use std::{
    env,
    ffi::OsString,
    process::{Command, ExitCode},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use kubewright_core::description::WebhookNames;

use super::{
    connection::{Connection, KUBECONFIG},
    writer::write_file,
};
use crate::{
    config::manager::WATCH_NAMESPACES,
    deploy::{DeployError, Installation, Kubeconfig, Kubectl, Manifest, Outcome, Program, Timeout, local_prefix},
    settings::Settings,
    workspace::{Workspace, WorkspaceError, cargo},
};

/// The kustomization of all objects, relative to the root of the project.
const CONFIGURATION: &str = "config/default";
/// The environment variable of the operator with the URL of its webhooks.
const WEBHOOK_URL: &str = "WEBHOOK_URL";
/// The variable of the operator with the time for which it accepts connections after a stop. No Service has a process
/// outside of the cluster as an endpoint.
const SHUTDOWN_DELAY: &str = "SHUTDOWN_DELAY";
/// The interval in which `run` reads the CA bundles of the webhooks.
const BUNDLE_INTERVAL: Duration = Duration::from_secs(1);
/// The file of `installer`, relative to the root of the project.
const INSTALLER: &str = "dist/install.yaml";

/// The cluster, and the limit of each wait.
#[derive(Clone, Debug, clap::Args)]
pub struct Target {
    /// The cluster.
    #[command(flatten)]
    pub connection: Connection,
    /// The limit of each wait.
    #[arg(long, value_name = "DURATION", default_value = "5m")]
    pub timeout: Timeout,
}

impl Target {
    /// Builds the objects of the project, and connects to the cluster.
    fn installation(&self, workspace: &Workspace<'_>, image: Option<&str>) -> Result<Installation, DeployError> {
        let name = workspace.settings()?.name;
        let kubectl = self.connection.kubectl();
        let mut manifest = Manifest::parse(&kubectl.kustomize(&workspace.root().join(CONFIGURATION))?)?;
        if let Some(image) = image {
            manifest.set_image(image)?;
        }
        Installation::new(name, manifest, kubectl, self.timeout.clone())
    }
}

/// Options of `deploy`.
#[derive(Clone, Debug, clap::Args)]
pub struct Deploy {
    /// The image of the operator; by default that of the settings. No file is changed.
    #[arg(long)]
    pub image: Option<String>,
    /// Check everything and list the objects, but apply none.
    #[arg(long)]
    pub dry_run: bool,
    /// The cluster.
    #[command(flatten)]
    pub target: Target,
}

impl Deploy {
    /// Applies all objects, or lists them.
    ///
    /// # Errors
    /// Fails like [`Installation::deploy`].
    pub fn run(&self, workspace: &Workspace<'_>) -> Result<(), DeployError> {
        let installation = self.target.installation(workspace, self.image.as_deref())?;
        if !self.dry_run {
            return installation.deploy();
        }
        for object in installation.plan()? {
            println!("would apply {object}");
        }
        Ok(())
    }
}

/// Options of `undeploy`.
#[derive(Clone, Debug, clap::Args)]
pub struct Undeploy {
    /// Keep custom resources and their definitions.
    #[arg(long)]
    pub orphan: bool,
    /// The cluster.
    #[command(flatten)]
    pub target: Target,
}

impl Undeploy {
    /// Deletes all objects.
    ///
    /// # Errors
    /// Fails like [`Installation::undeploy`].
    pub fn run(&self, workspace: &Workspace<'_>) -> Result<(), DeployError> {
        for namespace in self.target.installation(workspace, None)?.undeploy(self.orphan)? {
            println!("{namespace}");
        }
        Ok(())
    }
}

/// Options of `install`.
#[derive(Clone, Debug, clap::Args)]
pub struct Install {
    /// The cluster.
    #[command(flatten)]
    pub target: Target,
}

impl Install {
    /// Applies the definitions.
    ///
    /// # Errors
    /// Fails like [`Installation::install`].
    pub fn run(&self, workspace: &Workspace<'_>) -> Result<(), DeployError> {
        self.target.installation(workspace, None)?.install().map(drop)
    }
}

/// Options of `uninstall`.
#[derive(Clone, Debug, clap::Args)]
pub struct Uninstall {
    /// The cluster.
    #[command(flatten)]
    pub target: Target,
}

impl Uninstall {
    /// Deletes the custom resources and the definitions.
    ///
    /// # Errors
    /// Fails like [`Installation::uninstall`].
    pub fn run(&self, workspace: &Workspace<'_>) -> Result<(), DeployError> {
        self.target.installation(workspace, None)?.uninstall()
    }
}

/// Options of `installer`.
#[derive(Clone, Debug, clap::Args)]
pub struct Installer {
    /// The image of the operator; by default that of the settings.
    #[arg(long)]
    pub image: Option<String>,
}

impl Installer {
    /// Writes the objects as kustomize builds them, with the image if there is one. The file is complete, or as before.
    ///
    /// # Errors
    /// Fails if the objects cannot be built, or the file cannot be written.
    pub fn run(&self, workspace: &Workspace<'_>) -> Result<(), DeployError> {
        let mut text = Kubectl::from_env().kustomize(&workspace.root().join(CONFIGURATION))?;
        if let Some(image) = &self.image {
            let mut manifest = Manifest::parse(&text)?;
            manifest.set_image(image)?;
            text = manifest.to_yaml()?;
        }
        let path = workspace.root().join(INSTALLER);
        write_file(&path, &text).map_err(|source| DeployError::Write { path, source })?;
        println!("wrote {INSTALLER}");
        Ok(())
    }
}

/// Options of `run`.
#[derive(Clone, Debug, clap::Args)]
pub struct Run {
    /// The cluster.
    #[command(flatten)]
    pub target: Target,
    /// Keep the definitions that are installed. By default, those that did not exist before are deleted with their
    /// custom resources.
    #[arg(long)]
    pub keep: bool,
    /// The URL at which the API server reaches the webhooks on this machine, if there are any.
    #[arg(long, value_name = "URL", default_value = "https://127.0.0.1:9443")]
    pub webhook_url: String,
    /// The arguments of `run` of the operator; by default those of the settings.
    #[arg(last = true)]
    pub args: Vec<OsString>,
}

impl Run {
    /// Builds the operator, installs the definitions and the webhooks, and runs the operator until Ctrl-C.
    ///
    /// # Errors
    /// Fails if the operator cannot be built or fails, and like [`Installation::install`].
    pub fn run(&self, workspace: &Workspace<'_>) -> Result<(), DeployError> {
        let settings = workspace.settings()?;
        let installation = self.target.installation(workspace, None)?;
        build(&settings)?;
        let (sender, interrupts) = channel();
        ctrlc::set_handler(move || {
            // Nothing is interrupted after the end.
            let _ = sender.send(());
        })?;
        // Not before the handler is set: Ctrl-C would prevent the deletion of a temporary file.
        let kubeconfig = self.target.connection.kubeconfig()?;
        let mut command = self.command(&settings, kubeconfig.as_ref())?;
        let local = installation.at_url(&self.webhook_url);
        if local.is_some() {
            command.env(WEBHOOK_URL, &self.webhook_url);
            command.env(WebhookNames::PREFIX_VARIABLE, local_prefix(&settings.name));
        }
        let active = local.as_ref().unwrap_or(&installation);
        let mut created = active.install()?;
        if self.keep {
            created.clear();
        }
        let operated = operate(&mut command, active, local.is_some(), &created, &interrupts);
        let removed = if created.is_empty() { Ok(()) } else { installation.delete_definitions(&created) };
        // The converter of definitions that existed before has stopped.
        let restored = if local.is_some() { installation.restore_definitions(&created) } else { Ok(()) };
        operated.and(removed).and(restored)
    }

    /// Returns the command that runs the operator, with the cluster of the definitions. Variables of this process take
    /// precedence over those of the settings.
    fn command(&self, settings: &Settings, kubeconfig: Option<&Kubeconfig>) -> Result<Command, DeployError> {
        let mut command = cargo(["run", "--quiet", "--package", &settings.name, "--", "run"]);
        match self.args.is_empty() {
            true => command.args(&settings.args),
            false => command.args(&self.args),
        };
        let is_unset = |name: &str| env::var_os(name).is_none();
        if is_unset(SHUTDOWN_DELAY) {
            command.env(SHUTDOWN_DELAY, "0s");
        }
        command.envs(settings.env.iter().filter(|(name, _)| is_unset(name)));
        if settings.namespaced && is_unset(WATCH_NAMESPACES) && !settings.env.contains_key(WATCH_NAMESPACES) {
            command.env(WATCH_NAMESPACES, self.target.connection.kubectl().namespace()?);
        }
        if let Some(kubeconfig) = kubeconfig {
            command.env(KUBECONFIG, kubeconfig.variable());
        }
        Ok(command)
    }
}

/// Runs the operator until an interrupt. It is stopped after the deletion of custom resources, which it finalizes, and
/// of webhook configurations: the API server would reject requests without it.
fn operate(
    command: &mut Command,
    installation: &Installation,
    has_webhooks: bool,
    created: &[String],
    interrupts: &Receiver<()>,
) -> Result<(), DeployError> {
    let if_called = |change: fn(&Installation) -> Result<(), DeployError>| match has_webhooks {
        true => change(installation),
        false => Ok(()),
    };
    let former = if has_webhooks { installation.ca_bundles()? } else { Vec::new() };
    let mut program = Program::start(command).map_err(DeployError::Program)?;
    let installed = if_called(Installation::install_webhooks);
    let outcome = match &installed {
        Ok(()) => wait(&mut program, installation, &former, interrupts),
        Err(_) => Ok(Outcome::Interrupted),
    };
    let finalized = if created.is_empty() { Ok(()) } else { installation.delete_custom_resources(created) };
    let deleted = if_called(Installation::delete_webhooks);
    program.stop(interrupts).map_err(DeployError::Program)?;
    match outcome? {
        Outcome::Ended(status) if !status.success() => Err(DeployError::Ended(status)),
        _ => installed.and(finalized).and(deleted),
    }
}

/// Waits until the program ends, or an interrupt is received. Prints when the API server trusts the webhooks: when the
/// program has replaced the CA bundle of each, as its authority exists as long as the process.
fn wait(
    program: &mut Program,
    installation: &Installation,
    former: &[Option<String>],
    interrupts: &Receiver<()>,
) -> Result<Outcome, DeployError> {
    if !former.is_empty() {
        let is_new = |(bundle, former): (&Option<String>, &Option<String>)| bundle.is_some() && bundle != former;
        while !installation.ca_bundles()?.iter().zip(former).all(is_new) {
            if let Some(outcome) = program.wait_for(BUNDLE_INTERVAL, interrupts).map_err(DeployError::Program)? {
                return Ok(outcome);
            }
        }
        println!("the API server trusts the webhooks");
    }
    program.wait(interrupts).map_err(DeployError::Program)
}

/// Compiles the operator before anything is installed.
fn build(settings: &Settings) -> Result<(), DeployError> {
    let package = &settings.name;
    let status = cargo(["build", "--quiet", "--package", package]).status().map_err(WorkspaceError::Cargo)?;
    match status.success() {
        true => Ok(()),
        false => Err(WorkspaceError::Build { package: package.clone(), status }.into()),
    }
}

/// Returns 0 for success and 2 for an error, which is printed.
pub(super) fn exit_code(result: Result<(), DeployError>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
