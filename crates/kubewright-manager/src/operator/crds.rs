//! The command `crds` of an operator.

use clap::{Args, Subcommand};
use kube::Client;
use kubewright_core::description::{ConversionWebhookDescription, WebhookNames};

use super::{
    Operator,
    output::print,
    process::{client, unused_config},
};
use crate::{
    crds::{Definitions, Plan, migrate},
    manager::BoxError,
};

/// The commands about the CRDs of an operator.
#[derive(Debug, Subcommand)]
pub(super) enum Crds {
    /// Prints the CRDs as YAML
    Print,
    /// Prints the changes of the CRDs in the cluster of the environment
    Diff(Conversion),
    /// Prints the changes of the CRDs, applies them, and migrates stored objects to the storage version
    Apply {
        /// Applies breaking changes too
        #[arg(long)]
        allow_breaking: bool,
        #[command(flatten)]
        conversion: Conversion,
    },
    /// Rewrites the stored objects of a CRD in its storage version
    Migrate {
        /// The name of the CRD, such as `widgets.example.com`
        name: String,
    },
}

/// Where the conversion webhook is, and who signs its certificate.
#[derive(Args, Debug)]
pub(super) struct Conversion {
    /// The prefix of the names of the objects of the webhooks; the name of the operator by default
    #[arg(long, env, value_name = "PREFIX")]
    name_prefix: Option<String>,
    /// The namespace and the name of a Certificate of cert-manager, if it issues the certificate of the webhooks
    #[arg(long, value_name = "NAMESPACE/NAME")]
    inject_ca_from: Option<String>,
}

impl<O: Args + Clone + Send + Sync + 'static> Operator<O> {
    /// Applies the CRDs to the API server of a test, and waits until they are established. Objects of all versions are
    /// alike there: no webhook converts them.
    ///
    /// # Errors
    /// Fails if the CRDs cannot be read, a request fails, or a CRD is not established within a minute.
    pub async fn install(&self, client: &Client) -> Result<(), BoxError> {
        let plan = Definitions::parse(&self.definitions_yaml()?)?.plan(client.clone()).await?;
        plan.apply(&self.crds_manager(), true).await?;
        Ok(())
    }

    pub(super) async fn manage_crds(&self, command: Crds) -> Result<(), BoxError> {
        match command {
            Crds::Print => print(&self.definitions_yaml()?),
            Crds::Diff(conversion) => print(&self.plan(&conversion).await?.to_string()),
            Crds::Apply { allow_breaking, conversion } => {
                let plan = self.plan(&conversion).await?;
                print(&plan.to_string())?;
                for migration in plan.apply(&self.crds_manager(), allow_breaking).await? {
                    print(&migration.to_string())?;
                }
                Ok(())
            }
            Crds::Migrate { name } => print(&migrate(client().await?, &name).await?.to_string()),
        }
    }

    /// Returns the field manager of the CRDs.
    fn crds_manager(&self) -> String {
        format!("{}-crds", self.name)
    }

    /// Compares the CRDs with those of the cluster. The webhook of the operator in the same namespace converts their
    /// objects.
    async fn plan(&self, conversion: &Conversion) -> Result<Plan, BoxError> {
        let client = client().await?;
        let names = WebhookNames::new(conversion.name_prefix.as_deref().unwrap_or(self.name));
        let definitions = Definitions::parse(&self.definitions_yaml()?)?.convert(
            &self.conversions()?,
            client.default_namespace(),
            &names,
            conversion.inject_ca_from.as_deref(),
        );
        Ok(definitions.plan(client).await?)
    }

    fn conversions(&self) -> Result<Vec<ConversionWebhookDescription>, BoxError> {
        let Some(webhooks) = &self.webhooks else { return Ok(Vec::new()) };
        Ok(webhooks(&Client::try_from(unused_config())?).describe().conversion_webhooks)
    }
}
