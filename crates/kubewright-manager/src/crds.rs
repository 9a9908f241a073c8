//! The definitions of a program: what changes in the cluster, server-side apply, and the migration of stored objects.
//!
//! ```no_run
//! # async fn apply(client: kube::Client, definitions: &str) -> Result<(), Box<dyn std::error::Error>> {
//! let plan = kubewright_manager::crds::Definitions::parse(definitions)?.plan(client).await?;
//! print!("{plan}");
//! for migration in plan.apply("my-operator", false).await? {
//!     println!("{migration}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Guarantees:
//! - all definitions are compared before the first is applied;
//! - changes that the API server rejects are errors, and so are breaking changes unless they are allowed;
//! - a stored version is removed from the status only after every object was rewritten in the storage version;
//! - an object that changes during the migration is never overwritten with an older state;
//! - a migration that is interrupted continues where it has stopped.

mod definition;
mod error;
mod migration;
mod plan;

use kube::Client;
use kubewright_core::description::{ConversionWebhookDescription, WebhookNames};
use serde_json::json;

use definition::Definition;
pub use error::CrdError;
pub use migration::Migration;
use migration::Ownership;
pub use plan::Plan;

/// Migrates the objects of a definition of the cluster to its storage version, and then removes all other versions from
/// `status.storedVersions`. Managed fields of versions that are not served are moved to a served one, or removed if a
/// webhook converts between the versions. Can be repeated after any failure.
///
/// A cluster that serves `storagemigration.k8s.io` migrates the objects. Otherwise, and without the permission to
/// create a StorageVersionMigration, this process writes each object, and records its progress in an annotation of the
/// definition.
///
/// ```no_run
/// # async fn migrate(client: kube::Client) -> Result<(), kubewright_manager::crds::CrdError> {
/// println!("{}", kubewright_manager::crds::migrate(client, "widgets.example.com").await?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Fails if the definition does not exist or has no served version, if a request fails, if the definition is changed
/// meanwhile, or if other clients interfere with the migration.
pub async fn migrate(client: Client, definition: &str) -> Result<Migration, CrdError> {
    let found = Definition::read(&client, definition).await?;
    let definition = found.ok_or_else(|| CrdError::NotFound { name: definition.to_owned() })?;
    migration::migrate(&client, &definition, &Ownership::new(&definition, &definition)).await
}

/// CustomResourceDefinitions of a program.
#[derive(Clone, Debug)]
pub struct Definitions(Vec<Definition>);

impl Definitions {
    /// Parses a stream of YAML documents or a JSON object, such as the files of `config/crd/bases`.
    ///
    /// # Errors
    /// Fails if the text is not YAML, or if a document is not a CustomResourceDefinition of `apiextensions.k8s.io/v1`.
    pub fn parse(text: &str) -> Result<Self, CrdError> {
        let options = serde_saphyr::options! { with_snippet: false, legacy_octal_numbers: true };
        let documents: Vec<serde_json::Value> = serde_saphyr::from_multiple_with_options(text, options)
            .map_err(|error| CrdError::Syntax(Box::new(error)))?;
        documents.into_iter().map(Definition::new).collect::<Result<_, _>>().map(Definitions)
    }

    /// Lets webhooks convert the objects of definitions: those behind the Service of these names in a namespace. A
    /// definition with the location of a webhook, which `#[k8s(conversion(service = ".."))]` declares, retains it.
    /// Their CA bundles are written by others: by
    /// [`SelfManaged`](crate::serving::SelfManaged), or by cert-manager, if `ca_from` is the namespace and the name of
    /// a Certificate, such as `system/serving-cert`.
    #[must_use]
    pub fn convert(
        mut self,
        webhooks: &[ConversionWebhookDescription],
        namespace: &str,
        names: &WebhookNames,
        ca_from: Option<&str>,
    ) -> Self {
        for webhook in webhooks {
            let name = format!("{}.{}", webhook.plural, webhook.group);
            let service = json!({"name": names.service(), "namespace": namespace, "path": webhook.path});
            for definition in self.0.iter_mut().filter(|definition| definition.name() == name) {
                definition.set_conversion(&service, ca_from);
            }
        }
        self
    }

    /// Whether a definition has this version of this resource, and the version has a status subresource.
    pub(crate) fn has_status(&self, group: &str, plural: &str, version: &str) -> bool {
        let name = format!("{plural}.{group}");
        let found = self.0.iter().find(|definition| definition.name() == name);
        found.is_some_and(|definition| definition.has_status(version))
    }

    /// Compares the definitions with those of the cluster. Nothing is written.
    ///
    /// # Errors
    /// Fails if a definition of the cluster cannot be read.
    pub async fn plan(self, client: Client) -> Result<Plan, CrdError> {
        Plan::new(client, self.0).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn definition(name: &str) -> Value {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": name},
            "spec": {"scope": "Namespaced"},
        })
    }

    #[test]
    fn a_declared_location_is_retained() {
        let webhook = json!({"clientConfig": {"service": {"name": "other", "namespace": "elsewhere"}}});
        let mut declared = definition("widgets.example.org");
        declared["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": webhook});
        let webhooks = [ConversionWebhookDescription::new("example.org", "Widget", "widgets")];
        let definitions = Definitions::parse(&declared.to_string()).unwrap();
        let names = WebhookNames::new("my");
        let Definitions(converted) = definitions.convert(&webhooks, "system", &names, Some("system/my-cert"));
        assert_eq!(converted[0].object()["spec"], declared["spec"]);
        assert_eq!(converted[0].annotation(WebhookNames::CA_FROM), Some("system/my-cert"));

        declared["spec"]["conversion"] = json!({"strategy": "None"});
        let definitions = Definitions::parse(&declared.to_string()).unwrap();
        let Definitions(converted) = definitions.convert(&webhooks, "system", &names, None);
        assert_eq!(converted[0].object()["spec"]["conversion"]["strategy"], "Webhook");
    }

    #[test]
    fn only_definitions_with_a_webhook_are_converted() {
        let text = format!("{}\n---\n{}\n", definition("widgets.example.org"), definition("gadgets.example.org"));
        let webhooks = [ConversionWebhookDescription::new("example.org", "Widget", "widgets")];
        let convert = |ca_from| {
            let definitions = Definitions::parse(&text).unwrap();
            let Definitions(converted) = definitions.convert(&webhooks, "system", &WebhookNames::new("my"), ca_from);
            converted.iter().map(|definition| definition.object().clone()).collect::<Vec<_>>()
        };
        let converted = convert(None);
        let service = json!({"name": "my-webhook-service", "namespace": "system", "path": webhooks[0].path});
        assert_eq!(converted[0]["spec"]["conversion"]["webhook"]["clientConfig"], json!({"service": service}));
        assert_eq!(converted[0]["metadata"], json!({"name": "widgets.example.org"}));
        assert_eq!(converted[1], definition("gadgets.example.org"));
        let annotations = json!({"cert-manager.io/inject-ca-from": "system/my-serving-cert"});
        assert_eq!(convert(Some("system/my-serving-cert"))[0]["metadata"]["annotations"], annotations);
    }
}
