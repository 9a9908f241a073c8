//! The bodies of generated extension methods: verbs on a subresource, or with types of their own.

use std::fmt::Debug;

use futures::future::BoxFuture;
use kube::api::{GetParams, ListParams, Patch, PatchParams, PostParams};
use kube::core::Request;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::apply::{self, FieldManager};
use crate::client::TypedClient;
use crate::error::Error;
use crate::object::ApiObject;

/// What an extension method returns: the answer of the server, once it is there.
pub type Answer<T> = BoxFuture<'static, Result<T, Error>>;

type Built = Result<http::Request<Vec<u8>>, kube::core::request::Error>;

impl<K: ApiObject> TypedClient<K> {
    /// Reads an object, or a subresource of it, as `T`.
    ///
    /// # Errors
    /// It is not there, is no `T`, or the request failed.
    pub fn extended_get<T>(&self, subresource: Option<&str>, name: &str) -> Answer<T>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let (request, params) = (self.request(), GetParams::default());
        let built = match subresource {
            Some(subresource) => request.get_subresource(subresource, name),
            None => request.get(name, &params),
        };
        self.extended("get", subresource, name, built)
    }

    /// Reads all objects that are selected, or a subresource of one, as `T`. The name is that of the one.
    ///
    /// # Errors
    /// It is not there, is no `T`, or the request failed.
    pub fn extended_list<T>(&self, of: Option<(&str, &str)>, selected: &ListParams) -> Answer<T>
    where
        T: DeserializeOwned + Send + 'static,
    {
        match of {
            // To the server, what is below one object is read with `get`, however many it is.
            Some((subresource, name)) => self.extended_get(Some(subresource), name),
            None => self.extended("list", None, "", self.request().list(selected)),
        }
    }

    /// Sends an `I` to be made, or to a subresource of the object of this name, and reads the answer as `T`.
    ///
    /// # Errors
    /// It is refused, the answer is no `T`, or the request failed.
    pub fn extended_create<I, T>(&self, of: Option<(&str, &str)>, input: &I, params: &PostParams) -> Answer<T>
    where
        I: Serialize,
        T: DeserializeOwned + Send + 'static,
    {
        let built = serde_json::to_vec(input).map_err(kube::core::request::Error::SerializeBody);
        match of {
            Some((subresource, name)) => {
                let built = built.and_then(|body| self.request().create_subresource(subresource, name, params, body));
                self.extended("create", Some(subresource), name, built)
            }
            None => self.extended("create", None, "", built.and_then(|body| self.request().create(params, body))),
        }
    }

    /// Replaces an object, or a subresource of it, with an `I`, and reads the answer as `T`.
    ///
    /// # Errors
    /// It is not there, was changed (a conflict), is refused, the answer is no `T`, or the request failed.
    pub fn extended_update<I, T>(
        &self,
        subresource: Option<&str>,
        name: &str,
        input: &I,
        params: &PostParams,
    ) -> Answer<T>
    where
        I: Serialize,
        T: DeserializeOwned + Send + 'static,
    {
        let body = serde_json::to_vec(input).map_err(kube::core::request::Error::SerializeBody);
        let built = body.and_then(|body| match subresource {
            Some(subresource) => self.request().replace_subresource(subresource, name, params, body),
            None => self.request().replace(name, params, body),
        });
        self.extended("update", subresource, name, built)
    }

    /// Changes parts of an object, or of a subresource of it, and reads the answer as `T`.
    ///
    /// # Errors
    /// It is not there, the result is refused, the answer is no `T`, or the request failed.
    pub fn extended_patch<P, T>(
        &self,
        subresource: Option<&str>,
        name: &str,
        patch: &Patch<P>,
        params: &PatchParams,
    ) -> Answer<T>
    where
        P: Serialize + Debug,
        T: DeserializeOwned + Send + 'static,
    {
        let built = match subresource {
            Some(subresource) => self.request().patch_subresource(subresource, name, params, patch),
            None => self.request().patch(name, params, patch),
        };
        self.extended("patch", subresource, name, built)
    }

    /// Says what an object, or a subresource of it, must have, as this manager, and reads the answer as `T`.
    ///
    /// # Errors
    /// Another manager owns a field with another value (a conflict), the result is refused, the answer is no `T`, or the
    /// request failed.
    pub fn extended_apply<C, T>(
        &self,
        subresource: Option<&str>,
        name: &str,
        configuration: &C,
        manager: &FieldManager,
    ) -> Answer<T>
    where
        C: Serialize,
        T: DeserializeOwned + Send + 'static,
    {
        let patch = apply::patch(configuration).map_err(kube::core::request::Error::SerializeBody);
        let built = patch.and_then(|patch| match subresource {
            Some(subresource) => self.request().patch_subresource(subresource, name, &manager.params(), &patch),
            None => self.request().patch(name, &manager.params(), &patch),
        });
        self.extended("apply", subresource, name, built)
    }

    fn request(&self) -> Request {
        Request::new(self.api().resource_url())
    }

    fn extended<T>(&self, verb: &'static str, subresource: Option<&str>, name: &str, built: Built) -> Answer<T>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let (failed, subresource) = (self.failed(verb, name), subresource.map(str::to_owned));
        let client = self.api().clone().into_client();
        Box::pin(async move {
            let answer = async { client.request(built.map_err(kube::Error::BuildRequest)?).await };
            answer.await.map_err(failed).map_err(|error| error.of_subresource(subresource.as_deref()))
        })
    }
}
