//! The objects of an operator in a cluster: what is checked, and in which order they are applied and deleted.

use std::process::Stdio;

use serde_json::Value;

use super::{
    DeployError, Kubectl, Manifest, Timeout,
    cluster::{Cluster, field_manager, own_managers},
    local_webhooks::ca_bundle,
    manifest::{describe, name, namespace},
    namespaces::{self, Creator, KeptNamespace},
    removal::Removal,
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

/// What the checks before an application have found.
struct Checked {
    /// The existing definitions.
    definitions: Vec<Value>,
    /// The webhooks that the objects to apply do not have any more.
    removals: Vec<Removal>,
    /// The namespaces that exist and that the installation did not create.
    foreign: Vec<String>,
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
        let Checked { removals, foreign, .. } = self.check(&self.manifest.objects())?;
        self.remove(&removals)?;
        for namespace in &foreign {
            println!("namespace/{namespace} exists and is not changed: the operator did not create it");
        }
        self.apply(&without_namespaces(&self.manifest.first(), &foreign))?;
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
        let checked = self.check(&definitions)?;
        self.remove(&checked.removals)?;
        self.apply(&definitions)?;
        self.wait_until_established()?;
        let is_new = |name: &&str| !checked.definitions.iter().any(|definition| self::name(definition) == *name);
        Ok(self.definitions().into_iter().filter(is_new).map(str::to_owned).collect())
    }

    /// Applies the webhook configurations only.
    ///
    /// # Errors
    /// Fails if kubectl fails.
    pub fn install_webhooks(&self) -> Result<(), DeployError> {
        let configurations = self.manifest.webhook_configurations();
        self.remove(&self.removals(&[], &configurations)?)?;
        self.apply(&configurations)
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
    /// custom resources and definitions are kept. Namespaces that the installation did not create, or that contain
    /// custom resources or workloads of others, are kept and returned.
    ///
    /// # Errors
    /// Fails before the first write if permissions are missing or a definition belongs to another installation. Fails
    /// later if kubectl fails, or if objects are not deleted in time; the error lists them with their finalizers.
    pub fn undeploy(&self, orphan: bool) -> Result<Vec<KeptNamespace>, DeployError> {
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
            match self.reason_to_keep(namespace, if orphan { &definitions } else { &[] })? {
                Some(reason) => kept.push(KeptNamespace { name: namespace.to_owned(), reason }),
                None => teardown::namespace(&self.cluster.kubectl, namespace, &self.timeout)?,
            }
        }
        Ok(kept)
    }

    /// Returns why a namespace is not deleted. The definitions are those whose objects remain.
    fn reason_to_keep(&self, namespace: &str, definitions: &[Value]) -> Result<Option<String>, DeployError> {
        let kubectl = &self.cluster.kubectl;
        match namespaces::creator(kubectl, namespace, &self.name)? {
            Creator::Missing => return Ok(None),
            Creator::Other => return Ok(Some("the operator did not create it".to_owned())),
            Creator::Installation => {}
        }
        if teardown::contains_custom_resources(kubectl, definitions, namespace)? {
            return Ok(Some("it contains custom resources".to_owned()));
        }
        let workloads = namespaces::foreign_workloads(kubectl, namespace)?;
        Ok((!workloads.is_empty()).then(|| format!("it contains {}", workloads.join(", "))))
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

    /// Checks what can prevent the application of objects.
    fn check(&self, objects: &[&Value]) -> Result<Checked, DeployError> {
        self.cluster.require_served(objects)?;
        self.cluster.require_permissions(&["create", "get", "patch"], objects, &[])?;
        let definitions = self.cluster.definitions(&self.definitions(), &self.name)?;
        let removals = self.removals(&definitions, objects)?;
        let (missing, foreign) = self.namespaces()?;
        // Before its webhooks are removed, an object without them can be invalid.
        let is_unchanged = |object: &&&Value| !removals.iter().any(|removal| removal.is_of(object));
        let unchanged: Vec<_> = objects.iter().filter(is_unchanged).copied().collect();
        self.dry_run(&without_namespaces(&unchanged, &foreign), &missing)?;
        Ok(Checked { definitions, removals, foreign })
    }

    /// Returns the namespaces that do not exist, and those that the installation did not create.
    fn namespaces(&self) -> Result<(Vec<&str>, Vec<String>), DeployError> {
        let (mut missing, mut foreign) = (Vec::new(), Vec::new());
        for namespace in self.manifest.namespaces() {
            match namespaces::creator(&self.cluster.kubectl, namespace, &self.name)? {
                Creator::Missing => missing.push(namespace),
                Creator::Installation => {}
                Creator::Other => foreign.push(namespace.to_owned()),
            }
        }
        Ok((missing, foreign))
    }

    /// Returns the webhooks of these definitions, and of the configurations of the cluster, that the objects lack.
    fn removals(&self, definitions: &[Value], objects: &[&Value]) -> Result<Vec<Removal>, DeployError> {
        let managers = own_managers(&self.name);
        let mut removals = Vec::new();
        for object in objects.iter().copied() {
            let live = match object["kind"].as_str() {
                Some("CustomResourceDefinition") => definitions.iter().find(|live| name(live) == name(object)).cloned(),
                Some(kind @ ("MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration")) => {
                    let options = ["--ignore-not-found", "--show-managed-fields", "--output=json"];
                    self.cluster.kubectl.json(&[&["get", kind, name(object)][..], &options].concat())?
                }
                _ => None,
            };
            removals.extend(live.and_then(|live| Removal::new(&live, object, &managers)));
        }
        Ok(removals)
    }

    fn remove(&self, removals: &[Removal]) -> Result<(), DeployError> {
        let manager = format!("--field-manager={}", field_manager(&self.name));
        removals.iter().try_for_each(|Removal { kind, name, patch }| {
            let patch = format!("--patch={patch}");
            self.cluster.kubectl.run(&["patch", kind, name, "--type=merge", &manager, &patch]).map(drop)
        })
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
    fn dry_run(&self, objects: &[&Value], missing: &[&str]) -> Result<(), DeployError> {
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

/// Returns the objects without these namespaces.
fn without_namespaces<'a>(objects: &[&'a Value], namespaces: &[String]) -> Vec<&'a Value> {
    let is_one =
        |object: &Value| object["kind"] == "Namespace" && namespaces.iter().any(|namespace| namespace == name(object));
    objects.iter().copied().filter(|object| !is_one(object)).collect()
}
