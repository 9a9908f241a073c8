//! The typed client of a kind: each verb a method, there only if the kind grants it.

use std::fmt::Debug;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::api::{DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::core::Request;
use kube::{Api, Client, Resource};
use logger_core::Listed;
use logger_core::verbs;
use serde::Serialize;

use crate::error::Error;
use crate::object::{ApiObject, resource};

/// Reads and writes the objects of one kind, in one namespace or in the cluster.
///
/// It promises:
/// - a verb that `#[genclient]` does not grant is no method that can be called: a compile error says so;
/// - every object it returns is as the server has it, with its resourceVersion;
/// - every error names the request, the cause and, where one is known, the way out.
///
/// Cloning is cheap. Each verb returns a boxed future: so rustc reports a verb that is not granted once, where it is
/// called, and not again where it is awaited.
#[derive(Clone, Debug)]
pub struct TypedClient<K> {
    api: Api<K>,
}

/// Reads the objects of a namespaced kind in all namespaces. To write, name a namespace.
#[derive(Clone, Debug)]
pub struct AllNamespaces<K>(TypedClient<K>);

/// What a watch yields until the server ends it.
pub type EventStream<K> = BoxStream<'static, Result<WatchEvent<K>, Error>>;

/// How the objects of a kind are addressed: those in namespaces and those of the cluster.
pub trait Addressed: ApiObject {
    /// The objects in a namespace, or all there are.
    fn api(client: Client, namespace: Option<&str>) -> Api<Self>;
}

impl<K: ApiObject<Scope = S>, S: ScopeApi> Addressed for K {
    fn api(client: Client, namespace: Option<&str>) -> Api<K> {
        S::api(client, namespace)
    }
}

/// A scope of resources.
pub trait ScopeApi: Sized {
    /// The objects in a namespace, or all there are.
    fn api<K: Resource<DynamicType = (), Scope = Self>>(client: Client, namespace: Option<&str>) -> Api<K>;
}

impl ScopeApi for NamespaceResourceScope {
    fn api<K: Resource<DynamicType = (), Scope = Self>>(client: Client, namespace: Option<&str>) -> Api<K> {
        match namespace {
            Some(namespace) => Api::namespaced(client, namespace),
            None => Api::all(client),
        }
    }
}

impl ScopeApi for ClusterResourceScope {
    fn api<K: Resource<DynamicType = (), Scope = Self>>(client: Client, _: Option<&str>) -> Api<K> {
        Api::all(client)
    }
}

impl<K: ApiObject<Scope = NamespaceResourceScope>> TypedClient<K> {
    /// The client of a namespace.
    pub fn namespaced(client: Client, namespace: &str) -> Self {
        TypedClient { api: Api::namespaced(client, namespace) }
    }
}

impl<K: ApiObject<Scope = ClusterResourceScope>> TypedClient<K> {
    /// The client of the cluster.
    pub fn cluster(client: Client) -> Self {
        TypedClient { api: Api::all(client) }
    }
}

impl<K: ApiObject<Scope = NamespaceResourceScope>> AllNamespaces<K> {
    /// The client of all namespaces.
    pub fn new(client: Client) -> Self {
        AllNamespaces(TypedClient { api: Api::all(client) })
    }
}

impl<K: ApiObject> TypedClient<K> {
    pub(crate) fn api(&self) -> &Api<K> {
        &self.api
    }

    /// Says what was asked, when kube's client says what came of it.
    pub(crate) fn failed(&self, verb: &'static str, name: &str) -> impl Fn(kube::Error) -> Error + use<K> {
        let (name, namespace) = (name.to_owned(), self.api.namespace().map(str::to_owned));
        move |source| Error::new(verb, resource::<K>(), &name, source).in_namespace(namespace.as_deref())
    }
}

impl<K: ApiObject> TypedClient<K> {
    /// Makes a new object.
    ///
    /// # Errors
    /// It exists, breaks a rule of its schema, or the request failed.
    pub fn create<'a>(&'a self, object: &'a K, params: &'a PostParams) -> BoxFuture<'a, Result<K, Error>>
    where
        K: verbs::Create,
    {
        Box::pin(async move {
            let name = object.meta().name.as_deref().unwrap_or_default();
            self.api.create(params, object).await.map_err(self.failed("create", name))
        })
    }

    /// Replaces an object with what is given, if nobody changed it since: its resourceVersion tells.
    ///
    /// # Errors
    /// It has no name, is not there, was changed (a conflict), breaks a rule, or the request failed.
    pub fn update<'a>(&'a self, object: &'a K, params: &'a PostParams) -> BoxFuture<'a, Result<K, Error>>
    where
        K: verbs::Update,
    {
        Box::pin(async move {
            let name = name_of("update", object)?;
            self.api.replace(name, params, object).await.map_err(self.failed("update", name))
        })
    }

    /// Replaces the status of an object, and nothing else, if nobody changed it since: its resourceVersion tells.
    ///
    /// # Errors
    /// It has no name, is not there, was changed (a conflict), breaks a rule, or the request failed.
    pub fn update_status<'a>(&'a self, object: &'a K, params: &'a PostParams) -> BoxFuture<'a, Result<K, Error>>
    where
        K: verbs::UpdateStatus,
    {
        Box::pin(async move {
            let of_status = |error: Error| error.of_subresource(Some("status"));
            let name = name_of("update", object).map_err(of_status)?;
            let updated = self.api.replace_status(name, params, object).await;
            updated.map_err(self.failed("update", name)).map_err(of_status)
        })
    }

    /// Removes an object. With finalizers it stays, marked, until they are done.
    ///
    /// # Errors
    /// It is not there, a precondition does not hold, or the request failed.
    pub fn delete<'a>(&'a self, name: &'a str, params: &'a DeleteParams) -> BoxFuture<'a, Result<(), Error>>
    where
        K: verbs::Delete,
    {
        Box::pin(async move { self.api.delete(name, params).await.map(drop).map_err(self.failed("delete", name)) })
    }

    /// Removes all objects that are selected.
    ///
    /// # Errors
    /// The request failed.
    pub fn delete_collection<'a>(
        &'a self,
        params: &'a DeleteParams,
        selected: &'a ListParams,
    ) -> BoxFuture<'a, Result<(), Error>>
    where
        K: verbs::DeleteCollection,
    {
        Box::pin(async move {
            self.api.delete_collection(params, selected).await.map(drop).map_err(self.failed("delete", ""))
        })
    }

    /// Reads an object.
    ///
    /// # Errors
    /// It is not there, or the request failed.
    pub fn get<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<K, Error>>
    where
        K: verbs::Get,
    {
        Box::pin(async move { self.api.get(name).await.map_err(self.failed("get", name)) })
    }

    /// Reads an object, at a version that need not be the latest: `resourceVersion` `"0"` takes any that the server has at
    /// hand.
    ///
    /// # Errors
    /// It is not there, or the request failed.
    pub fn get_with<'a>(&'a self, name: &'a str, params: &'a GetParams) -> BoxFuture<'a, Result<K, Error>>
    where
        K: verbs::Get,
    {
        Box::pin(async move { self.api.get_with(name, params).await.map_err(self.failed("get", name)) })
    }

    /// Reads an object that may not be there.
    ///
    /// # Errors
    /// Its kind is not there, or the request failed.
    pub fn get_opt<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<K>, Error>>
    where
        K: verbs::Get,
    {
        Box::pin(async move {
            match self.get(name).await {
                Ok(object) => Ok(Some(object)),
                Err(error) if error.is_not_found() && !error.is_unserved() => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    /// Reads all objects that are selected.
    ///
    /// # Errors
    /// The request failed.
    pub fn list<'a>(&'a self, selected: &'a ListParams) -> BoxFuture<'a, Result<K::List, Error>>
    where
        K: verbs::List + Listed,
    {
        Box::pin(async move {
            let request = Request::new(self.api.resource_url()).list(selected).map_err(kube::Error::BuildRequest);
            let answer = async { self.api.clone().into_client().request(request?).await };
            answer.await.map_err(self.failed("list", ""))
        })
    }

    /// Follows the objects that are selected, from a resourceVersion on; `"0"` starts with those that are there.
    ///
    /// The stream ends when the server ends it, after some minutes: an informer begins anew where this one stops.
    ///
    /// # Errors
    /// The request failed; later, the stream yields what went wrong.
    pub fn watch<'a>(
        &'a self,
        selected: &'a WatchParams,
        resource_version: &'a str,
    ) -> BoxFuture<'a, Result<EventStream<K>, Error>>
    where
        K: verbs::Watch,
    {
        Box::pin(async move {
            let events = self.api.watch(selected, resource_version).await.map_err(self.failed("watch", ""))?;
            Ok(events.map_err(self.failed("watch", "")).boxed())
        })
    }

    /// Changes parts of an object.
    ///
    /// # Errors
    /// It is not there, the result breaks a rule, or the request failed.
    pub fn patch<'a, P: Serialize + Debug + Sync>(
        &'a self,
        name: &'a str,
        patch: &'a Patch<P>,
        params: &'a PatchParams,
    ) -> BoxFuture<'a, Result<K, Error>>
    where
        K: verbs::Patch,
    {
        Box::pin(async move { self.api.patch(name, params, patch).await.map_err(self.failed("patch", name)) })
    }
}

impl<K: ApiObject> AllNamespaces<K> {
    /// Reads all objects that are selected. See [`TypedClient::list`].
    ///
    /// # Errors
    /// The request failed.
    pub fn list<'a>(&'a self, selected: &'a ListParams) -> BoxFuture<'a, Result<K::List, Error>>
    where
        K: verbs::List + Listed,
    {
        self.0.list(selected)
    }

    /// Follows the objects that are selected. See [`TypedClient::watch`].
    ///
    /// # Errors
    /// The request failed; later, the stream yields what went wrong.
    pub fn watch<'a>(
        &'a self,
        selected: &'a WatchParams,
        resource_version: &'a str,
    ) -> BoxFuture<'a, Result<EventStream<K>, Error>>
    where
        K: verbs::Watch,
    {
        self.0.watch(selected, resource_version)
    }
}

fn name_of<'a, K: ApiObject>(verb: &'static str, object: &'a K) -> Result<&'a str, Error> {
    object.meta().name.as_deref().ok_or_else(|| Error::unnamed(verb, resource::<K>()))
}
