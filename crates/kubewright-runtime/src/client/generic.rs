//! Client of a resource whose kind is known at run time only, as a generated `for_resource` returns it.

use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    core::{ApiResource, DynamicObject, ObjectList},
};
use kubewright_core::{
    meta::{ClientVerb, HasScope, Scope},
    verbs::Granted,
};
use serde_json::Value;

use crate::{error::Error, object::ApiObject};

/// Reads and writes the objects of a resource whose kind the caller does not know at compile time.
///
/// Guarantees:
/// - a verb that the kind does not grant is rejected before a request is sent;
/// - every error contains the request, the cause and, where one is known, a suggestion.
#[derive(Clone)]
pub struct GenericClient {
    client: Client,
    resource: ApiResource,
    scope: Scope,
    verbs: &'static [ClientVerb],
}

impl GenericClient {
    /// Creates the client of the kind's resource, with the verbs that the kind grants.
    pub fn new<K: ApiObject<Scope: HasScope> + Granted>(client: Client) -> Self {
        let scope = <K::Scope as HasScope>::SCOPE;
        GenericClient { client, resource: ApiResource::erase::<K>(&()), scope, verbs: K::VERBS }
    }

    /// Returns the group, version, kind and plural name of the resource.
    pub fn resource(&self) -> &ApiResource {
        &self.resource
    }

    /// Returns the scope: namespaced or cluster-scoped.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Returns the granted verbs.
    pub fn verbs(&self) -> &'static [ClientVerb] {
        self.verbs
    }

    /// Reads an object. The namespace is `None` for a cluster-scoped kind.
    ///
    /// # Errors
    /// Fails if the object does not exist, the verb is not granted, or the request fails.
    pub async fn get(&self, namespace: Option<&str>, name: &str) -> Result<DynamicObject, Error> {
        self.require_granted(ClientVerb::Get, "get", name)?;
        self.api(namespace).get(name).await.map_err(self.request_error("get", namespace, name))
    }

    /// Lists all objects that match the selectors, in one namespace or in all.
    ///
    /// # Errors
    /// Fails if the verb is not granted or the request fails.
    pub async fn list(&self, namespace: Option<&str>, params: &ListParams) -> Result<ObjectList<DynamicObject>, Error> {
        self.require_granted(ClientVerb::List, "list", "")?;
        self.api(namespace).list(params).await.map_err(self.request_error("list", namespace, ""))
    }

    /// Creates an object.
    ///
    /// # Errors
    /// Fails if the object exists or is invalid, the verb is not granted, or the request fails.
    pub async fn create(
        &self,
        namespace: Option<&str>,
        object: &DynamicObject,
        params: &PostParams,
    ) -> Result<DynamicObject, Error> {
        let name = object.metadata.name.as_deref().unwrap_or_default();
        self.require_granted(ClientVerb::Create, "create", name)?;
        self.api(namespace).create(params, object).await.map_err(self.request_error("create", namespace, name))
    }

    /// Replaces an object. The update is rejected if the object was changed since the resource version it carries.
    ///
    /// # Errors
    /// Fails if the object has no name, does not exist, was changed (a conflict) or is invalid, the verb is not
    /// granted, or the request fails.
    pub async fn update(
        &self,
        namespace: Option<&str>,
        object: &DynamicObject,
        params: &PostParams,
    ) -> Result<DynamicObject, Error> {
        let name = object.metadata.name.as_deref().unwrap_or_default();
        self.require_granted(ClientVerb::Update, "update", name)?;
        if name.is_empty() {
            return Err(Error::missing_name("update", self.resource_name()));
        }
        self.api(namespace).replace(name, params, object).await.map_err(self.request_error("update", namespace, name))
    }

    /// Patches an object.
    ///
    /// # Errors
    /// Fails if the object does not exist or the result is invalid, the verb is not granted, or the request
    /// fails.
    pub async fn patch(
        &self,
        namespace: Option<&str>,
        name: &str,
        patch: &Patch<Value>,
        params: &PatchParams,
    ) -> Result<DynamicObject, Error> {
        self.require_granted(ClientVerb::Patch, "patch", name)?;
        self.api(namespace).patch(name, params, patch).await.map_err(self.request_error("patch", namespace, name))
    }

    /// Deletes an object. An object with finalizers is only marked for deletion until they are removed.
    ///
    /// # Errors
    /// Fails if the object does not exist, a precondition is not met, the verb is not granted, or the request
    /// fails.
    pub async fn delete(&self, namespace: Option<&str>, name: &str, params: &DeleteParams) -> Result<(), Error> {
        self.require_granted(ClientVerb::Delete, "delete", name)?;
        let deleted = self.api(namespace).delete(name, params).await;
        deleted.map(drop).map_err(self.request_error("delete", namespace, name))
    }

    fn api(&self, namespace: Option<&str>) -> Api<DynamicObject> {
        let client = self.client.clone();
        match (self.scope, namespace) {
            (Scope::Namespaced, Some(namespace)) => Api::namespaced_with(client, namespace, &self.resource),
            (Scope::Namespaced, None) | (Scope::Cluster, _) => Api::all_with(client, &self.resource),
        }
    }

    fn require_granted(&self, verb: ClientVerb, verb_name: &'static str, name: &str) -> Result<(), Error> {
        match self.verbs.contains(&verb) {
            true => Ok(()),
            false => Err(Error::verb_not_granted(verb_name, self.resource_name(), name)),
        }
    }

    fn request_error(
        &self,
        verb: &'static str,
        namespace: Option<&str>,
        name: &str,
    ) -> impl Fn(kube::Error) -> Error + use<> {
        let (resource, name, namespace) = (self.resource_name(), name.to_owned(), namespace.map(str::to_owned));
        move |source| Error::new(verb, resource.clone(), &name, source).with_namespace(namespace.as_deref())
    }

    /// Returns the full resource name, such as `loggers.example.com`.
    fn resource_name(&self) -> String {
        match self.resource.group.as_str() {
            "" => self.resource.plural.clone(),
            group => format!("{}.{group}", self.resource.plural),
        }
    }
}
