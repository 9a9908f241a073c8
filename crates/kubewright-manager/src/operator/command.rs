//! The command line of an operator.

use std::time::Duration;

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use kube::Config;
use kubewright_runtime::metrics::Metrics;

use super::{Operator, ProcessOptions, crds::Crds, output::print};
use crate::{
    manager::{BoxError, Manager, Replicas},
    telemetry::Telemetry,
};

impl<O: Args + Clone + Send + Sync + 'static> Operator<O> {
    /// Returns the commands of the operator.
    pub(super) fn clap_command(&self) -> Command {
        let process = |name: &'static str, about: &'static str| {
            ProcessOptions::augment_args(O::augment_args(Command::new(name).about(about)))
        };
        let mut command = Command::new(self.name)
            .version(self.version)
            .about(self.about)
            .subcommand_required(self.embedded.is_none())
            .arg_required_else_help(self.embedded.is_none())
            .subcommand(process("run", "Runs the operator in the cluster of the environment"))
            .subcommand(process("manifests", "Prints what the operator needs from a cluster, as JSON"))
            .subcommand(Crds::augment_subcommands(
                Command::new("crds").about("Manages the CRDs of the operator").subcommand_required(true),
            ))
            .subcommand(Command::new("version").about("Prints the version"));
        if self.embedded.is_some() {
            let local = Command::new("local").about("Runs the operator on an API server in this process (the default)");
            command = command.subcommand(O::augment_args(local));
        }
        for (name, about, _) in &self.commands {
            command = command.subcommand(Command::new(*name).about(*about));
        }
        command
    }

    /// Runs the command.
    pub(super) async fn execute(&self, matches: &ArgMatches) -> Result<(), BoxError> {
        let Some((name, matches)) = matches.subcommand() else {
            return self.run_embedded(self.default_options()?).await;
        };
        match name {
            "run" => self.run(O::from_arg_matches(matches)?, &ProcessOptions::from_arg_matches(matches)?).await,
            "manifests" => {
                let process = ProcessOptions::from_arg_matches(matches)?;
                let description = self.describe(O::from_arg_matches(matches)?, &process)?;
                print(&serde_json::to_string_pretty(&description)?)
            }
            "crds" => self.manage_crds(Crds::from_arg_matches(matches)?).await,
            "version" => print(&format!("{} {}", self.name, self.version)),
            "local" => self.run_embedded(O::from_arg_matches(matches)?).await,
            other => match self.commands.iter().find(|(name, ..)| *name == other) {
                Some((.., text)) => print(&text()?),
                None => Err(format!("unknown command `{other}`").into()),
            },
        }
    }

    async fn run(&self, options: O, process: &ProcessOptions) -> Result<(), BoxError> {
        let telemetry = Telemetry::new().log_format(process.log_format).install()?;
        let manager = self.process_manager(Config::infer().await?, options, process, false)?;
        let manager = manager.add(Replicas::All, "telemetry", telemetry).build()?;
        Ok(manager.run_until_signal().await?)
    }

    /// Returns the options of a command line without flags: those of the environment, or the defaults.
    fn default_options(&self) -> Result<O, BoxError> {
        let command = O::augment_args(Command::new(self.name).no_binary_name(true));
        Ok(O::from_arg_matches(&command.try_get_matches_from([""; 0])?)?)
    }

    async fn run_embedded(&self, options: O) -> Result<(), BoxError> {
        let embedded = self.embedded.as_ref().ok_or("there is no embedded API server")?;
        let telemetry = Telemetry::new().install()?;
        let definitions = self.definitions_yaml()?;
        let (client, add_server) = embedded.start(&definitions)?;
        let manager = Manager::builder(client);
        let manager = add_server(self.add_to(manager, options, Vec::new(), Metrics::default())?);
        // No Service has the process as an endpoint.
        let manager = manager.shutdown_delay(Duration::ZERO).add(Replicas::All, "telemetry", telemetry).build()?;
        Ok(manager.run_until_signal().await?)
    }

    /// Returns the CRDs as YAML; empty without CRDs.
    pub(super) fn definitions_yaml(&self) -> Result<String, BoxError> {
        self.definitions.as_ref().map_or_else(|| Ok(String::new()), |generate| generate())
    }
}
