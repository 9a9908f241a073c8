//! The changes of definitions in a cluster, and their application.

use std::{fmt, time::Duration};

use kube::{
    Client,
    api::{Patch, PatchParams},
};
use kubewright_crd::diff::{Change, Class, compare};
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::{
    CrdError, Definition,
    definition::definitions,
    migration::{Migration, Ownership, migrate},
};

/// How long the API server can take to serve a definition.
const ESTABLISH_TIMEOUT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Definitions with their changes since those of the cluster. It is displayed as one line for each change.
pub struct Plan {
    client: Client,
    updates: Vec<Update>,
}

/// The creation or the update of one definition.
struct Update {
    current: Option<Definition>,
    new: Definition,
    /// The most severe first.
    changes: Vec<Change>,
}

impl Update {
    /// Old stored versions are no obstacle, because objects are migrated before their version is removed.
    fn new(current: Option<Definition>, new: Definition) -> Result<Self, CrdError> {
        let mut changes = match &current {
            Some(current) => compare(&current.migrated()?, new.object()),
            None => Vec::new(),
        };
        changes.sort_by_key(|change| std::cmp::Reverse(change.class));
        Ok(Update { current, new, changes })
    }

    /// Returns the current definition if it has a stored version that the new one lacks.
    fn removes_stored_version_of(&self) -> Option<&Definition> {
        self.current.as_ref().filter(|current| current.stored_versions().any(|version| !self.new.has_version(version)))
    }

    /// Whether the current definition serves a version that the new one does not serve.
    fn stops_serving(&self) -> bool {
        let current = self.current.as_ref();
        current.is_some_and(|current| current.served_versions().any(|version| !self.new.serves(version)))
    }

    /// Whether a webhook converts the objects from now on. The program that serves it can be installed after the
    /// definitions, so that it may not run yet.
    fn introduces_webhook(&self) -> bool {
        self.new.has_webhook() && self.current.as_ref().is_some_and(|current| !current.has_webhook())
    }

    /// Whether a webhook does not convert the objects any more.
    fn drops_webhook(&self) -> bool {
        !self.new.has_webhook() && self.current.as_ref().is_some_and(Definition::has_webhook)
    }

    /// Migrates the objects of a definition of the cluster. Returns `None` if no object had to be written.
    async fn migrate(&self, client: &Client, definition: &Definition) -> Result<Option<Migration>, CrdError> {
        let migration = migrate(client, definition, &Ownership::new(definition, &self.new)).await?;
        Ok(Some(migration).filter(|migration| !migration.from.is_empty() || migration.cleaned > 0))
    }
}

impl Plan {
    pub(super) async fn new(client: Client, new: Vec<Definition>) -> Result<Self, CrdError> {
        let mut updates = Vec::new();
        for new in new {
            let current = Definition::read(&client, new.name()).await?;
            updates.push(Update::new(current, new)?);
        }
        Ok(Plan { client, updates })
    }

    /// Returns the changes with the names of their definitions.
    pub fn changes(&self) -> impl Iterator<Item = (&str, &Change)> {
        self.updates.iter().flat_map(|update| update.changes.iter().map(move |change| (update.new.name(), change)))
    }

    /// Applies the definitions as this field manager, waits until they are established, and migrates objects that can
    /// be stored in an old version. Can be repeated after any failure.
    ///
    /// Objects that a webhook converts for the first time are not migrated while all their versions are served, because
    /// its program may not run yet: the next application migrates them, or [`migrate`](super::migrate).
    ///
    /// # Errors
    /// Fails before the first write if a change is impossible, or breaking unless `allow_breaking`. Fails later if a
    /// request fails, a definition is not established in time, or other clients interfere with the migration.
    pub async fn apply(&self, field_manager: &str, allow_breaking: bool) -> Result<Vec<Migration>, CrdError> {
        self.check(allow_breaking)?;
        let mut migrations = Vec::new();
        for update in &self.updates {
            if let Some(current) = update.removes_stored_version_of() {
                migrations.extend(update.migrate(&self.client, current).await?);
            }
            let name = update.new.name();
            let params = PatchParams::apply(field_manager).force();
            let api = definitions(self.client.clone());
            if update.drops_webhook() {
                // The program that writes the CA bundle can own it: an apply alone leaves a part of the webhook.
                let none = json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}});
                let dropped = api.patch(name, &PatchParams::default(), &Patch::Merge(none)).await;
                dropped.map_err(CrdError::request("drop the conversion of the definition", name))?;
            }
            let applied = api.patch(name, &params, &Patch::Apply(update.new.object())).await;
            applied.map_err(CrdError::request("apply the definition", name))?;
            let established = self.established(name).await?;
            let is_outdated = !established.old_versions()?.is_empty() && !update.introduces_webhook();
            if is_outdated || update.stops_serving() {
                migrations.extend(update.migrate(&self.client, &established).await?);
            }
        }
        Ok(migrations)
    }

    fn check(&self, allow_breaking: bool) -> Result<(), CrdError> {
        let limit = if allow_breaking { Class::Rejected } else { Class::Breaking };
        let changes = self.changes().filter(|(_, change)| change.class >= limit);
        let changes: Vec<_> = changes.map(|(name, change)| format!("{name}: {change}")).collect();
        if changes.is_empty() { Ok(()) } else { Err(CrdError::Incompatible { changes }) }
    }

    /// Waits until the definition is served, and returns it.
    async fn established(&self, name: &str) -> Result<Definition, CrdError> {
        let poll = async {
            loop {
                if let Some(definition) = Definition::read(&self.client, name).await? {
                    if let Some(("False", message)) = definition.condition("NamesAccepted") {
                        let (name, message) = (name.to_owned(), message.to_owned());
                        return Err(CrdError::NamesNotAccepted { name, message });
                    }
                    if let Some(("True", _)) = definition.condition("Established") {
                        return Ok(definition);
                    }
                }
                sleep(POLL_INTERVAL).await;
            }
        };
        let not_established = |_| Err(CrdError::NotEstablished { name: name.to_owned(), timeout: ESTABLISH_TIMEOUT });
        timeout(ESTABLISH_TIMEOUT, poll).await.unwrap_or_else(not_established)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Update { current, new, changes } in &self.updates {
            let summary = match (current, changes.len()) {
                (None, _) => "new",
                (Some(_), 0) => "no change",
                (Some(_), _) => "changed",
            };
            writeln!(f, "{}: {summary}", new.name())?;
            for change in changes {
                writeln!(f, "  {change}")?;
            }
        }
        Ok(())
    }
}
