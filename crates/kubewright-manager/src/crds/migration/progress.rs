//! The progress of a migration, in an annotation of the definition: a process that is killed is continued by the next.

use kube::{
    Client,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::crds::{
    CrdError,
    definition::{Definition, definitions},
};

/// The token with which the list of objects continues, until all of them are migrated.
pub(super) struct Progress<'a> {
    client: &'a Client,
    definition: &'a Definition,
    storage: &'a str,
    annotation: String,
    /// Whether the definition has the annotation.
    is_recorded: bool,
}

impl<'a> Progress<'a> {
    pub(super) fn new(client: &'a Client, definition: &'a Definition, storage: &'a str) -> Self {
        let annotation = format!("{}/storage-migration", definition.group());
        let is_recorded = definition.annotation(&annotation).is_some();
        Progress { client, definition, storage, annotation, is_recorded }
    }

    /// Returns the token that was recorded. All objects before it were migrated, unless the definition has changed.
    pub(super) fn token(&self) -> Option<String> {
        let text = self.definition.annotation(&self.annotation)?;
        let recorded: Value = serde_json::from_str(text).ok()?;
        let is_same = recorded["to"] == self.storage && recorded["generation"].as_i64() == self.definition.generation();
        recorded["continue"].as_str().filter(|_| is_same).map(str::to_owned)
    }

    /// Records that all objects before a token are migrated.
    pub(super) async fn record(&mut self, token: &str) -> Result<(), CrdError> {
        let generation = self.definition.generation();
        let recorded = json!({"to": self.storage, "generation": generation, "continue": token});
        self.is_recorded = true;
        self.annotate(&json!(recorded.to_string())).await
    }

    /// Removes the annotation.
    pub(super) async fn remove(&mut self) -> Result<(), CrdError> {
        if !self.is_recorded {
            return Ok(());
        }
        self.is_recorded = false;
        self.annotate(&Value::Null).await
    }

    async fn annotate(&self, value: &Value) -> Result<(), CrdError> {
        let name = self.definition.name();
        let patch = Patch::Merge(json!({"metadata": {"annotations": {(self.annotation.as_str()): value}}}));
        let api = definitions(self.client.clone());
        let patched = api.patch_metadata(name, &PatchParams::default(), &patch).await;
        patched.map(drop).map_err(CrdError::request("record the progress of the migration of", name))
    }
}
