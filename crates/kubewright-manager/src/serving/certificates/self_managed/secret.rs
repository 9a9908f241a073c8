//! The place of certificates and keys: a Secret that is watched, or the memory of the process.

use k8s_openapi::{api::core::v1::Secret, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};
use kubewright_core::description::{Permission, PermissionScope, Verb};
use kubewright_runtime::{CancellationToken, Error, SharedInformer, informer::Config};
use parking_lot::Mutex;

use super::{
    config::{Location, SelfManagedConfig},
    error::SelfManagedError,
    material::Material,
};

/// The stored material, and the version for the next write.
#[derive(Debug, Default)]
pub(super) struct Stored {
    pub(super) material: Material,
    /// What is wrong with the Secret, without its contents.
    pub(super) problems: Vec<String>,
    /// `None` if there is no Secret.
    pub(super) version: Option<String>,
    /// The value of the annotation that revokes all authorities.
    pub(super) revocation: Option<String>,
}

/// The annotation of the Secret that revokes all authorities, each time it has another value.
const REVOKE: &str = "certificates.kubewright.dev/revoke";

/// Stores material.
pub(super) enum Store {
    Secret(Box<SecretStore>),
    Memory(Box<Mutex<Material>>),
}

/// A Secret, whose contents come from a watch of this single object.
pub(super) struct SecretStore {
    pub(super) informer: SharedInformer<Secret>,
    api: Api<Secret>,
    namespace: String,
    name: String,
    params: PatchParams,
}

impl Store {
    pub(super) fn new(client: Client, config: &SelfManagedConfig) -> Self {
        let Location::Service { namespace, .. } = &config.location else { return Store::Memory(Box::default()) };
        let (api, name) = (Api::namespaced(client, namespace), config.names.secret());
        let selector = format!("metadata.name={name}");
        let options = Config::default().name("certificates").reflector(|reflector| reflector.fields(selector));
        Store::Secret(Box::new(SecretStore {
            informer: SharedInformer::with_config([api.clone()], options),
            api,
            namespace: namespace.clone(),
            name,
            params: PatchParams::apply(&config.field_manager()).force(),
        }))
    }

    /// Returns the permissions to read and write the Secret. A server-side apply that creates an object has its name.
    pub(super) fn permissions(config: &SelfManagedConfig) -> Option<Permission> {
        let verbs = [Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Patch];
        let permission = Permission::new(PermissionScope::Certificates, "", "secrets", verbs);
        matches!(config.location, Location::Service { .. }).then(|| permission.named(&config.names.secret()))
    }

    pub(super) fn read(&self) -> Stored {
        match self {
            Store::Memory(material) => {
                let material = material.lock().clone();
                Stored { material, ..Stored::default() }
            }
            Store::Secret(secret) => secret.read(),
        }
    }

    /// Replaces the material. Returns false if it has changed since it was read.
    ///
    /// # Errors
    /// Fails if a request fails.
    pub(super) async fn write(&self, material: &Material, version: Option<String>) -> Result<bool, SelfManagedError> {
        match self {
            Store::Memory(stored) => {
                *stored.lock() = material.clone();
                Ok(true)
            }
            Store::Secret(secret) => Ok(secret.write(material, version).await?),
        }
    }

    /// Watches the Secret until cancelled.
    ///
    /// # Errors
    /// Fails if the informer fails.
    pub(super) async fn run(&self, cancelled: CancellationToken) -> Result<(), SelfManagedError> {
        match self {
            Store::Secret(secret) => {
                let result = secret.informer.run(cancelled).await;
                result.map_err(|error| SelfManagedError::Watch(error.to_string()))
            }
            Store::Memory(_) => {
                cancelled.cancelled().await;
                Ok(())
            }
        }
    }
}

impl SecretStore {
    fn read(&self) -> Stored {
        let Some(secret) = self.informer.store().get(&self.namespace, &self.name) else { return Stored::default() };
        let (material, problems) = Material::parse(secret.data.as_ref().unwrap_or(&Default::default()));
        let revocation = secret.metadata.annotations.as_ref().and_then(|annotations| annotations.get(REVOKE)).cloned();
        Stored { material, problems, version: secret.metadata.resource_version.clone(), revocation }
    }

    /// Applies the Secret at the version that was read. The list of a watch can be outdated, so that a Secret is only
    /// created if there is none.
    async fn write(&self, material: &Material, version: Option<String>) -> Result<bool, Error> {
        let error = |verb| {
            let name = &self.name;
            move |source| Error::new(verb, "secrets", name, source).with_namespace(Some(&self.namespace))
        };
        if version.is_none() && self.api.get_metadata_opt(&self.name).await.map_err(error("get"))?.is_some() {
            return Ok(false);
        }
        let secret = Secret {
            metadata: ObjectMeta {
                name: Some(self.name.clone()),
                namespace: Some(self.namespace.clone()),
                resource_version: version,
                ..ObjectMeta::default()
            },
            data: Some(material.data()),
            ..Secret::default()
        };
        match self.api.patch(&self.name, &self.params, &Patch::Apply(&secret)).await {
            Ok(_) => Ok(true),
            Err(kube::Error::Api(status)) if status.is_conflict() || status.is_already_exists() => Ok(false),
            Err(source) => Err(error("apply")(source)),
        }
    }
}
