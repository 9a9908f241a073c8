//! The objects of an operator in a cluster: what is checked, and in which order they are applied and deleted.

use std::process::Stdio;

use serde_json::Value;

use super::{
    DeployError, Kubectl, Manifest, Timeout,
    cluster::{Cluster, field_manager},
    local_webhooks::ca_bundle,
    manifest::{describe, name, namespace},
    rollout, teardown,
};

/// How long the API server can take to serve a definition.
const ESTABLISH_TIMEOUT: &str = "--timeout=60s";

/// The objects of an operator in a cluster that responds.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The name of the operator.
    name: String,
    manifest: Manifest,
    cluster: Cluster,
    timeout: Timeout,
}

impl Installation {
    /// Connects to the cluster of kubectl. Nothing is written.
    ///
    /// # Errors
    /// Fails if kubectl cannot be started or the cluster is unreachable.
    pub fn new(
        name: impl Into<String>,
        manifest: Manifest,
        kubectl: Kubectl,
        timeout: Timeout,
    ) -> Result<Self, DeployError> {
        Ok(Installation { name: name.into(), manifest, cluster: Cluster::connect(kubectl)?, timeout })
    }

    /// Returns the installation for an operator outside of the cluster, whose webhooks the API server reaches at a URL.
    /// `None` if there are no webhooks.
    #[must_use]
    pub fn at_url(&self, url: &str) -> Option<Self> {
        let manifest = self.manifest.at_url(&self.name, url)?;
        Some(Installation { manifest, ..self.clone() })
    }

    /// Returns what [`deploy`](Self::deploy) applies, one object a line, after the same checks.
    ///
    /// # Errors
    /// Fails if a check fails.
    pub fn plan(&self) -> Result<Vec<String>, DeployError> {
        self.check(&self.manifest.objects())?;
        Ok(self.manifest.first().into_iter().chain(self.manifest.operator()).map(describe).collect())
    }

    /// Applies all objects, and waits until the operator is rolled out.
    ///
    /// # Errors
    /// Fails before the first write if a check fails. Fails later if kubectl fails, or if the rollout does not complete
    /// in time; the error has the reasons.
    pub fn deploy(&self) -> Result<(), DeployError> {
        self.check(&self.manifest.objects())?;
        self.apply(&self.manifest.first())?;
        self.wait_until_established()?;
        self.apply(&self.manifest.operator())?;
        let deployments = self.manifest.deployments();
        deployments.into_iter().try_for_each(|deployment| self.wait_for_rollout(deployment))
    }

    /// Applies the definitions, and returns the names of those that did not exist before.
    ///
    /// # Errors
    /// Fails before the first write if a check fails, and later if kubectl fails.
    pub fn install(&self) -> Result<Vec<String>, DeployError> {
        let definitions = self.manifest.definitions();
        let existing = self.check(&definitions)?;
        self.apply(&definitions)?;
        self.wait_until_established()?;
        let is_new = |name: &&str| !existing.iter().any(|definition| self::name(definition) == *name);
        Ok(self.definitions().into_iter().filter(is_new).map(str::to_owned).collect())
    }

    /// Applies the webhook configurations only.
    ///
    /// # Errors
    /// Fails if kubectl fails.
    pub fn install_webhooks(&self) -> Result<(), DeployError> {
        self.apply(&self.manifest.webhook_configurations())
    }

    /// Returns the CA bundle of each webhook configuration and each definition with a conversion webhook: none if the
    /// object does not exist, or has no bundle.
    ///
    /// # Errors
    /// Fails if kubectl fails.
    pub fn ca_bundles(&self) -> Result<Vec<Option<String>>, DeployError> {
        let bundle = |object: &Value| {
            let kind = object["kind"].as_str().unwrap_or_default();
            let found =
                self.cluster.kubectl.json(&["get", kind, name(object), "--ignore-not-found", "--output=json"])?;
            Ok(found.and_then(ca_bundle))
        };
        self.manifest.called().into_iter().map(bundle).collect()
    }

    /// Deletes the webhook configurations only.
    ///
    /// # Errors
    /// Fails if kubectl fails, or if they are not deleted in time.
    pub fn delete_webhooks(&self) -> Result<(), DeployError> {
        teardown::objects(&self.cluster.kubectl, &self.manifest.webhook_configurations(), &self.timeout)
    }

    /// Applies the definitions again, except for these.
    ///
    /// # Errors
    /// Fails if kubectl fails.
    pub fn restore_definitions(&self, except: &[String]) -> Result<(), DeployError> {
        let is_kept = |definition: &&Value| !except.iter().any(|deleted| name(definition) == deleted);
        let definitions: Vec<_> = self.manifest.definitions().into_iter().filter(is_kept).collect();
        self.apply(&definitions)
    }

    /// Deletes the custom resources, the operator, the definitions and the namespace, in this order. With `orphan`,
    /// custom resources and definitions are kept, and so are namespaces with custom resources, which are returned.
    ///
    /// # Errors
    /// Fails before the first write if permissions are missing or a definition belongs to another installation. Fails
    /// later if kubectl fails, or if objects are not deleted in time; the error lists them with their finalizers.
    pub fn undeploy(&self, orphan: bool) -> Result<Vec<&str>, DeployError> {
        let definitions = self.check_removal(&self.manifest.objects(), &self.definitions())?;
        if !orphan {
            teardown::custom_resources(&self.cluster.kubectl, &definitions, &self.timeout)?;
        }
        let operator = self.manifest.operator().into_iter();
        let mut operator: Vec<_> = operator.filter(|object| self.cluster.serves(object)).collect();
        // Without permissions, it would only report errors.
        operator.sort_by_key(|object| object["kind"] != "Deployment");
        teardown::objects(&self.cluster.kubectl, &operator, &self.timeout)?;
        if !orphan {
            teardown::definitions(&self.cluster.kubectl, &definitions, &self.timeout)?;
        }
        let mut kept = Vec::new();
        for namespace in self.manifest.namespaces() {
            if orphan && teardown::contains_custom_resources(&self.cluster.kubectl, &definitions, namespace)? {
                kept.push(namespace);
            } else {
                teardown::namespace(&self.cluster.kubectl, namespace, &self.timeout)?;
            }
        }
        Ok(kept)
    }

    /// Deletes the custom resources of these definitions, which an operator that runs must finalize.
    ///
    /// # Errors
    /// Fails like [`undeploy`](Self::undeploy).
    pub fn delete_custom_resources(&self, names: &[String]) -> Result<(), DeployError> {
        let definitions = self.removable(names)?;
        teardown::custom_resources(&self.cluster.kubectl, &definitions, &self.timeout)
    }

    /// Deletes these definitions, and their custom resources before.
    ///
    /// # Errors
    /// Fails like [`undeploy`](Self::undeploy).
    pub fn delete_definitions(&self, names: &[String]) -> Result<(), DeployError> {
        let definitions = self.removable(names)?;
        teardown::custom_resources(&self.cluster.kubectl, &definitions, &self.timeout)?;
        teardown::definitions(&self.cluster.kubectl, &definitions, &self.timeout)
    }

    /// Deletes all custom resources, and then the definitions.
    ///
    /// # Errors
    /// Fails like [`undeploy`](Self::undeploy).
    pub fn uninstall(&self) -> Result<(), DeployError> {
        let names: Vec<_> = self.definitions().into_iter().map(str::to_owned).collect();
        self.delete_definitions(&names)
    }

    fn removable(&self, names: &[String]) -> Result<Vec<Value>, DeployError> {
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        self.check_removal(&self.manifest.definitions(), &names)
    }

    /// Returns the names of the definitions.
    fn definitions(&self) -> Vec<&str> {
        self.manifest.definitions().into_iter().map(name).collect()
    }

    /// Checks what can prevent the application of objects, and returns the existing definitions.
    fn check(&self, objects: &[&Value]) -> Result<Vec<Value>, DeployError> {
        self.cluster.require_served(objects)?;
        self.cluster.require_permissions(&["create", "get", "patch"], objects, &[])?;
        let definitions = self.cluster.definitions(&self.definitions(), &self.name)?;
        self.dry_run(objects)?;
        Ok(definitions)
    }

    /// Checks what can prevent a removal, and returns the existing definitions.
    fn check_removal(&self, objects: &[&Value], definitions: &[&str]) -> Result<Vec<Value>, DeployError> {
        let found = self.cluster.definitions(definitions, &self.name)?;
        let resources: Vec<_> = found.iter().map(name).collect();
        self.cluster.require_permissions(&["delete", "get", "list"], objects, &resources)?;
        Ok(found)
    }

    /// Applies objects without persisting them: the API server validates them, and rejects roles with more permissions
    /// than those of the user. Objects in a namespace that does not exist yet are omitted.
    fn dry_run(&self, objects: &[&Value]) -> Result<(), DeployError> {
        let mut missing = Vec::new();
        for namespace in self.manifest.namespaces() {
            let args = ["get", "namespace", namespace, "--ignore-not-found", "--output=name"];
            if self.cluster.kubectl.run(&args)?.trim().is_empty() {
                missing.push(namespace);
            }
        }
        let exists = |object: &Value| namespace(object).is_none_or(|namespace| !missing.contains(&namespace));
        let objects: Vec<_> = objects.iter().copied().filter(|object| exists(object)).collect();
        self.apply_with(&objects, &["--dry-run=server"], Stdio::null())
    }

    fn apply(&self, objects: &[&Value]) -> Result<(), DeployError> {
        self.apply_with(objects, &[], Stdio::inherit())
    }

    /// Takes over fields that were changed by hand, such as replicas.
    fn apply_with(&self, objects: &[&Value], options: &[&str], stdout: Stdio) -> Result<(), DeployError> {
        if objects.is_empty() {
            return Ok(());
        }
        let manager = format!("--field-manager={}", field_manager(&self.name));
        let args = ["apply", "--server-side", "--force-conflicts", &manager, "--filename=-"];
        self.cluster.kubectl.with_objects(&[&args, options].concat(), objects, stdout)
    }

    fn wait_until_established(&self) -> Result<(), DeployError> {
        let definitions: Vec<_> =
            self.definitions().into_iter().map(|name| format!("customresourcedefinition/{name}")).collect();
        if definitions.is_empty() {
            return Ok(());
        }
        let mut args = vec!["wait", "--for=condition=Established", ESTABLISH_TIMEOUT];
        args.extend(definitions.iter().map(String::as_str));
        self.cluster.kubectl.run(&args).map(drop)
    }

    fn wait_for_rollout(&self, deployment: &Value) -> Result<(), DeployError> {
        match rollout::wait(&self.cluster.kubectl, deployment, &self.timeout) {
            Err(DeployError::Failed { message, .. }) => {
                // Without them, the error is still that of the rollout.
                let reasons = rollout::reasons(&self.cluster.kubectl, deployment).unwrap_or_default();
                Err(DeployError::NotRolledOut { deployment: describe(deployment), message, reasons })
            }
            result => result,
        }
    }
}
