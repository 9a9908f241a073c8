//! The typed client of a kind: one method per granted verb. Also generic clients, server-side apply and preconditions.

mod apply;
mod extension;
mod generic;
mod preconditions;

use std::fmt::Debug;

use futures::{StreamExt, TryStreamExt, future::BoxFuture, stream::BoxStream};
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::{
    Api, Client, Resource,
    api::{DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    core::Request,
};
use kubewright_core::{Listed, verbs};
use serde::Serialize;

pub use apply::FieldManager;
pub use extension::ResponseFuture;
pub use generic::GenericClient;
pub use preconditions::Preconditions;

use crate::{
    error::Error,
    object::{ApiObject, resource_name},
};

/// Reads and writes the objects of one kind, in one namespace or cluster-wide.
///
/// Guarantees:
/// - a call of a verb that `#[genclient]` does not grant is a compile error that names the verb;
/// - every returned object is the server's, including its resource version;
/// - every error contains the request, the cause and, where one is known, a suggestion.
///
/// Cloning is cheap. Each verb returns a boxed future, so that rustc reports a verb that is not granted once, at the
/// call, and not again where the future is awaited.
#[derive(Clone, Debug)]
pub struct TypedClient<K> {
    api: Api<K>,
}

/// Reads the objects of a namespaced kind in all namespaces. Writes need the client of one namespace.
#[derive(Clone, Debug)]
pub struct AllNamespaces<K>(TypedClient<K>);

/// The events of a watch, until the server closes it.
pub type EventStream<K> = BoxStream<'static, Result<WatchEvent<K>, Error>>;

/// A kind whose objects have an [`Api`], whether namespaced or cluster-scoped.
pub trait ScopedObject: ApiObject {
    /// Returns the API of the objects in one namespace, or of all objects.
    fn api(client: Client, namespace: Option<&str>) -> Api<Self>;
}

impl<K: ApiObject<Scope = S>, S: ApiScope> ScopedObject for K {
    fn api(client: Client, namespace: Option<&str>) -> Api<K> {
        S::api(client, namespace)
    }
}

/// A resource scope: namespaced or cluster-scoped.
pub trait ApiScope: Sized {
    /// Returns the API of the objects in one namespace, or of all objects.
    fn api<K: Resource<DynamicType = (), Scope = Self>>(client: Client, namespace: Option<&str>) -> Api<K>;
}

impl ApiScope for NamespaceResourceScope {
    fn api<K: Resource<DynamicType = (), Scope = Self>>(client: Client, namespace: Option<&str>) -> Api<K> {
        match namespace {
            Some(namespace) => Api::namespaced(client, namespace),
            None => Api::all(client),
        }
    }
}

impl ApiScope for ClusterResourceScope {
    fn api<K: Resource<DynamicType = (), Scope = Self>>(client: Client, _: Option<&str>) -> Api<K> {
        Api::all(client)
    }
}

impl<K: ApiObject<Scope = NamespaceResourceScope>> TypedClient<K> {
    /// Creates the client of one namespace.
    pub fn namespaced(client: Client, namespace: &str) -> Self {
        TypedClient { api: Api::namespaced(client, namespace) }
    }
}

impl<K: ApiObject<Scope = ClusterResourceScope>> TypedClient<K> {
    /// Creates the client of a cluster-scoped kind.
    pub fn cluster(client: Client) -> Self {
        TypedClient { api: Api::all(client) }
    }
}

impl<K: ScopedObject> TypedClient<K> {
    /// Creates the client of one namespace, or of a cluster-scoped kind, for which it is ignored.
    pub fn scoped(client: Client, namespace: &str) -> Self {
        TypedClient { api: K::api(client, (!namespace.is_empty()).then_some(namespace)) }
    }
}

impl<K: ApiObject<Scope = NamespaceResourceScope>> AllNamespaces<K> {
    /// Creates the client of all namespaces.
    pub fn new(client: Client) -> Self {
        AllNamespaces(TypedClient { api: Api::all(client) })
    }
}

impl<K: ApiObject> TypedClient<K> {
    pub(crate) fn api(&self) -> &Api<K> {
        &self.api
    }

    /// Adds the request to an error of kube's client.
    pub(crate) fn request_error(&self, verb: &'static str, name: &str) -> impl Fn(kube::Error) -> Error + use<K> {
        let (name, namespace) = (name.to_owned(), self.api.namespace().map(str::to_owned));
        move |source| Error::new(verb, resource_name::<K>(), &name, source).with_namespace(namespace.as_deref())
    }
}

impl<K: ApiObject> TypedClient<K> {
    /// Creates an object.
    ///
    /// # Errors
    /// Fails if the object exists or is invalid, or the request fails.
    pub fn create<'a>(&'a self, object: &'a K, params: &'a PostParams) -> BoxFuture<'a, Result<K, Error>>
    where
        K: verbs::Create,
    {
        Box::pin(async move {
            let name = object.meta().name.as_deref().unwrap_or_default();
            self.api.create(params, object).await.map_err(self.request_error("create", name))
        })
    }

    /// Replaces an object. The update is rejected if the object was changed since the resource version it carries.
    ///
    /// # Errors
    /// Fails if the object has no name, does not exist, was changed (a conflict) or is invalid, or the request fails.
    pub fn update<'a>(&'a self, object: &'a K, params: &'a PostParams) -> BoxFuture<'a, Result<K, Error>>
    where
        K: verbs::Update,
    {
        Box::pin(async move {
            let name = name_of("update", object)?;
            self.api.replace(name, params, object).await.map_err(self.request_error("update", name))
        })
    }

    /// Replaces the status of an object and nothing else. The update is rejected if the object was changed since the
    /// resource version it carries.
    ///
    /// # Errors
    /// Fails if the object has no name, does not exist, was changed (a conflict) or is invalid, or the request fails.
    pub fn update_status<'a>(&'a self, object: &'a K, params: &'a PostParams) -> BoxFuture<'a, Result<K, Error>>
    where
        K: verbs::UpdateStatus,
    {
        Box::pin(async move {
            let on_status = |error: Error| error.with_subresource(Some("status"));
            let name = name_of("update", object).map_err(on_status)?;
            let updated = self.api.replace_status(name, params, object).await;
            updated.map_err(self.request_error("update", name)).map_err(on_status)
        })
    }

    /// Deletes an object. An object with finalizers is only marked for deletion until they are removed.
    ///
    /// # Errors
    /// Fails if the object does not exist or a precondition is not met, or the request fails.
    pub fn delete<'a>(&'a self, name: &'a str, params: &'a DeleteParams) -> BoxFuture<'a, Result<(), Error>>
    where
        K: verbs::Delete,
    {
        Box::pin(
            async move { self.api.delete(name, params).await.map(drop).map_err(self.request_error("delete", name)) },
        )
    }

    /// Deletes all objects that match the selectors.
    ///
    /// # Errors
    /// Fails if the request fails.
    pub fn delete_collection<'a>(
        &'a self,
        params: &'a DeleteParams,
        selector: &'a ListParams,
    ) -> BoxFuture<'a, Result<(), Error>>
    where
        K: verbs::DeleteCollection,
    {
        Box::pin(async move {
            self.api.delete_collection(params, selector).await.map(drop).map_err(self.request_error("delete", ""))
        })
    }

    /// Reads an object.
    ///
    /// # Errors
    /// Fails if the object does not exist or the request fails.
    pub fn get<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<K, Error>>
    where
        K: verbs::Get,
    {
        Box::pin(async move { self.api.get(name).await.map_err(self.request_error("get", name)) })
    }

    /// Reads an object at a version that need not be the latest: with the resource version `"0"` the server responds
    /// with any version in its cache.
    ///
    /// # Errors
    /// Fails if the object does not exist or the request fails.
    pub fn get_with<'a>(&'a self, name: &'a str, params: &'a GetParams) -> BoxFuture<'a, Result<K, Error>>
    where
        K: verbs::Get,
    {
        Box::pin(async move { self.api.get_with(name, params).await.map_err(self.request_error("get", name)) })
    }

    /// Reads an object that may not exist.
    ///
    /// # Errors
    /// Fails if the server does not serve the kind or the request fails.
    pub fn get_opt<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<K>, Error>>
    where
        K: verbs::Get,
    {
        Box::pin(async move {
            match self.get(name).await {
                Ok(object) => Ok(Some(object)),
                Err(error) if error.is_not_found() && !error.is_resource_not_served() => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    /// Lists all objects that match the selectors.
    ///
    /// # Errors
    /// Fails if the request fails.
    pub fn list<'a>(&'a self, selector: &'a ListParams) -> BoxFuture<'a, Result<K::List, Error>>
    where
        K: verbs::List + Listed,
    {
        Box::pin(async move {
            let request = Request::new(self.api.resource_url()).list(selector).map_err(kube::Error::BuildRequest);
            let response = async { self.api.clone().into_client().request(request?).await };
            response.await.map_err(self.request_error("list", ""))
        })
    }

    /// Watches the objects that match the selectors, from a resource version on. `"0"` starts with the existing
    /// objects.
    ///
    /// The stream ends when the server closes the watch, after some minutes. An informer resumes the watch by itself.
    ///
    /// # Errors
    /// Fails if the request fails. Later errors are items of the stream.
    pub fn watch<'a>(
        &'a self,
        selector: &'a WatchParams,
        resource_version: &'a str,
    ) -> BoxFuture<'a, Result<EventStream<K>, Error>>
    where
        K: verbs::Watch,
    {
        Box::pin(async move {
            let events = self.api.watch(selector, resource_version).await.map_err(self.request_error("watch", ""))?;
            Ok(events.map_err(self.request_error("watch", "")).boxed())
        })
    }

    /// Patches an object.
    ///
    /// # Errors
    /// Fails if the object does not exist or the result is invalid, or the request fails.
    pub fn patch<'a, P: Serialize + Debug + Sync>(
        &'a self,
        name: &'a str,
        patch: &'a Patch<P>,
        params: &'a PatchParams,
    ) -> BoxFuture<'a, Result<K, Error>>
    where
        K: verbs::Patch,
    {
        Box::pin(async move { self.api.patch(name, params, patch).await.map_err(self.request_error("patch", name)) })
    }
}

impl<K: ApiObject> AllNamespaces<K> {
    /// Lists all objects that match the selectors. See [`TypedClient::list`].
    ///
    /// # Errors
    /// Fails if the request fails.
    pub fn list<'a>(&'a self, selector: &'a ListParams) -> BoxFuture<'a, Result<K::List, Error>>
    where
        K: verbs::List + Listed,
    {
        self.0.list(selector)
    }

    /// Watches the objects that match the selectors. See [`TypedClient::watch`].
    ///
    /// # Errors
    /// Fails if the request fails. Later errors are items of the stream.
    pub fn watch<'a>(
        &'a self,
        selector: &'a WatchParams,
        resource_version: &'a str,
    ) -> BoxFuture<'a, Result<EventStream<K>, Error>>
    where
        K: verbs::Watch,
    {
        self.0.watch(selector, resource_version)
    }
}

fn name_of<'a, K: ApiObject>(verb: &'static str, object: &'a K) -> Result<&'a str, Error> {
    object.meta().name.as_deref().ok_or_else(|| Error::missing_name(verb, resource_name::<K>()))
}
