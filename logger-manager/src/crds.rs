//! The definitions of a program: what changes in the cluster, server-side apply, and the migration of stored objects.
//!
//! ```no_run
//! # async fn apply(client: kube::Client, definitions: &str) -> Result<(), Box<dyn std::error::Error>> {
//! let plan = logger_manager::crds::Definitions::parse(definitions)?.plan(client).await?;
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
//! - an object that changes during the migration is never overwritten with an older state.

mod definition;
mod error;
mod migration;
mod plan;

use kube::Client;

use definition::Definition;
pub use error::CrdError;
pub use migration::Migration;
pub use plan::Plan;

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

    /// Compares the definitions with those of the cluster. Nothing is written.
    ///
    /// # Errors
    /// Fails if a definition of the cluster cannot be read.
    pub async fn plan(self, client: Client) -> Result<Plan, CrdError> {
        Plan::new(client, self.0).await
    }
}
