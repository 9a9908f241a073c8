//! Clients, listers and informers of a resource that is known by name only: what a `for_resource` returns.

#[cfg(feature = "informers")]
mod informer;

use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, DynamicObject, ObjectList};
use kube::{Api, Client};
use logger_core::meta::{HasScope, Scope, Verb};
use logger_core::verbs::Granted;
use serde_json::Value;

#[cfg(feature = "informers")]
pub use informer::{GenericInformer, GenericLister};

use crate::error::Error;
use crate::object::ApiObject;

/// Reads and writes the objects of a resource, whose kind is not known to the caller.
///
/// It promises:
/// - a verb that the kind does not grant is refused before anything is sent;
/// - every error names the request, the cause and, where one is known, the way out.
#[derive(Clone)]
pub struct GenericClient {
    client: Client,
    resource: ApiResource,
    scope: Scope,
    verbs: &'static [Verb],
}

impl GenericClient {
    /// The client of the resource of this kind, with the verbs it grants.
    pub fn new<K: ApiObject<Scope: HasScope> + Granted>(client: Client) -> Self {
        let scope = <K::Scope as HasScope>::SCOPE;
        GenericClient { client, resource: ApiResource::erase::<K>(&()), scope, verbs: K::VERBS }
    }

    /// What is known of the resource.
    pub fn resource(&self) -> &ApiResource {
        &self.resource
    }

    /// Where its objects live.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// What it can do.
    pub fn verbs(&self) -> &'static [Verb] {
        self.verbs
    }

    /// Reads an object. The namespace is that of a namespaced kind, and none for one of the cluster.
    ///
    /// # Errors
    /// It is not there, the verb is not granted, or the request failed.
    pub async fn get(&self, namespace: Option<&str>, name: &str) -> Result<DynamicObject, Error> {
        self.granted(Verb::Get, "get", name)?;
        self.api(namespace).get(name).await.map_err(self.failed("get", namespace, name))
    }

    /// Reads all objects that are selected, of a namespace or of all.
    ///
    /// # Errors
    /// The verb is not granted, or the request failed.
    pub async fn list(
        &self,
        namespace: Option<&str>,
        selected: &ListParams,
    ) -> Result<ObjectList<DynamicObject>, Error> {
        self.granted(Verb::List, "list", "")?;
        self.api(namespace).list(selected).await.map_err(self.failed("list", namespace, ""))
    }

    /// Makes a new object.
    ///
    /// # Errors
    /// It exists, breaks a rule of its schema, the verb is not granted, or the request failed.
    pub async fn create(
        &self,
        namespace: Option<&str>,
        object: &DynamicObject,
        params: &PostParams,
    ) -> Result<DynamicObject, Error> {
        let name = object.metadata.name.as_deref().unwrap_or_default();
        self.granted(Verb::Create, "create", name)?;
        self.api(namespace).create(params, object).await.map_err(self.failed("create", namespace, name))
    }

    /// Replaces an object, if nobody changed it since: its resourceVersion tells.
    ///
    /// # Errors
    /// It has no name, is not there, was changed (a conflict), breaks a rule, the verb is not granted, or the request
    /// failed.
    pub async fn update(
        &self,
        namespace: Option<&str>,
        object: &DynamicObject,
        params: &PostParams,
    ) -> Result<DynamicObject, Error> {
        let name = object.metadata.name.as_deref().unwrap_or_default();
        self.granted(Verb::Update, "update", name)?;
        if name.is_empty() {
            return Err(Error::unnamed("update", self.name()));
        }
        self.api(namespace).replace(name, params, object).await.map_err(self.failed("update", namespace, name))
    }

    /// Changes parts of an object.
    ///
    /// # Errors
    /// It is not there, the result breaks a rule, the verb is not granted, or the request failed.
    pub async fn patch(
        &self,
        namespace: Option<&str>,
        name: &str,
        patch: &Patch<Value>,
        params: &PatchParams,
    ) -> Result<DynamicObject, Error> {
        self.granted(Verb::Patch, "patch", name)?;
        self.api(namespace).patch(name, params, patch).await.map_err(self.failed("patch", namespace, name))
    }

    /// Removes an object. With finalizers it stays, marked, until they are done.
    ///
    /// # Errors
    /// It is not there, a precondition does not hold, the verb is not granted, or the request failed.
    pub async fn delete(&self, namespace: Option<&str>, name: &str, params: &DeleteParams) -> Result<(), Error> {
        self.granted(Verb::Delete, "delete", name)?;
        let deleted = self.api(namespace).delete(name, params).await;
        deleted.map(drop).map_err(self.failed("delete", namespace, name))
    }

    fn api(&self, namespace: Option<&str>) -> Api<DynamicObject> {
        let client = self.client.clone();
        match (self.scope, namespace) {
            (Scope::Namespaced, Some(namespace)) => Api::namespaced_with(client, namespace, &self.resource),
            (Scope::Namespaced, None) | (Scope::Cluster, _) => Api::all_with(client, &self.resource),
        }
    }

    fn granted(&self, verb: Verb, name_of_verb: &'static str, name: &str) -> Result<(), Error> {
        match self.verbs.contains(&verb) {
            true => Ok(()),
            false => Err(Error::not_granted(name_of_verb, self.name(), name)),
        }
    }

    fn failed(&self, verb: &'static str, namespace: Option<&str>, name: &str) -> impl Fn(kube::Error) -> Error + use<> {
        let (resource, name, namespace) = (self.name(), name.to_owned(), namespace.map(str::to_owned));
        move |source| Error::new(verb, resource.clone(), &name, source).in_namespace(namespace.as_deref())
    }

    /// Such as `loggers.example.com`.
    fn name(&self) -> String {
        match self.resource.group.as_str() {
            "" => self.resource.plural.clone(),
            group => format!("{}.{group}", self.resource.plural),
        }
    }
}
