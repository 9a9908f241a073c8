//! The methods that generated extension methods call: verbs on a subresource, or with custom input and result types.

use std::fmt::Debug;

use futures::future::BoxFuture;
use kube::{
    api::{GetParams, ListParams, Patch, PatchParams, PostParams},
    core::Request,
};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    TypedClient,
    apply::{self, FieldManager},
};
use crate::{error::Error, object::ApiObject};

/// The future that an extension method returns.
pub type ResponseFuture<T> = BoxFuture<'static, Result<T, Error>>;

type RequestResult = Result<http::Request<Vec<u8>>, kube::core::request::Error>;

impl<K: ApiObject> TypedClient<K> {
    /// Reads an object, or a subresource of it, as `T`.
    ///
    /// # Errors
    /// Fails if the object does not exist, the response is not a `T`, or the request fails.
    pub fn extended_get<T>(&self, subresource: Option<&str>, name: &str) -> ResponseFuture<T>
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

    /// Lists all objects that match the selectors as `T`, or reads one subresource, given with the name of
    /// its object.
    ///
    /// # Errors
    /// Fails if the object does not exist, the response is not a `T`, or the request fails.
    pub fn extended_list<T>(&self, subresource_of: Option<(&str, &str)>, params: &ListParams) -> ResponseFuture<T>
    where
        T: DeserializeOwned + Send + 'static,
    {
        match subresource_of {
            // A subresource is always read with `get`, even if it has several items.
            Some((subresource, name)) => self.extended_get(Some(subresource), name),
            None => self.extended("list", None, "", self.request().list(params)),
        }
    }

    /// Sends an `I` to create an object or a subresource, given with the name of its object, and reads the
    /// response as `T`.
    ///
    /// # Errors
    /// Fails if the input is rejected, the response is not a `T`, or the request fails.
    pub fn extended_create<I, T>(
        &self,
        subresource_of: Option<(&str, &str)>,
        input: &I,
        params: &PostParams,
    ) -> ResponseFuture<T>
    where
        I: Serialize,
        T: DeserializeOwned + Send + 'static,
    {
        let built = serde_json::to_vec(input).map_err(kube::core::request::Error::SerializeBody);
        match subresource_of {
            Some((subresource, name)) => {
                let built = built.and_then(|body| self.request().create_subresource(subresource, name, params, body));
                self.extended("create", Some(subresource), name, built)
            }
            None => self.extended("create", None, "", built.and_then(|body| self.request().create(params, body))),
        }
    }

    /// Replaces an object, or a subresource of it, with an `I`, and reads the response as `T`.
    ///
    /// # Errors
    /// Fails if the object does not exist or was changed (a conflict), the input is rejected, the response is not a
    /// `T`, or the request fails.
    pub fn extended_update<I, T>(
        &self,
        subresource: Option<&str>,
        name: &str,
        input: &I,
        params: &PostParams,
    ) -> ResponseFuture<T>
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

    /// Patches an object, or a subresource of it, and reads the response as `T`.
    ///
    /// # Errors
    /// Fails if the object does not exist, the result is rejected, the response is not a `T`, or the request fails.
    pub fn extended_patch<P, T>(
        &self,
        subresource: Option<&str>,
        name: &str,
        patch: &Patch<P>,
        params: &PatchParams,
    ) -> ResponseFuture<T>
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

    /// Applies a configuration to an object, or to a subresource of it, as this manager, and reads the
    /// response as `T`.
    ///
    /// # Errors
    /// Fails if another manager owns a field with another value (a conflict), the result is rejected, the response is
    /// not a `T`, or the request fails.
    pub fn extended_apply<C, T>(
        &self,
        subresource: Option<&str>,
        name: &str,
        configuration: &C,
        manager: &FieldManager,
    ) -> ResponseFuture<T>
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

    fn extended<T>(
        &self,
        verb: &'static str,
        subresource: Option<&str>,
        name: &str,
        built: RequestResult,
    ) -> ResponseFuture<T>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let (request_error, subresource) = (self.request_error(verb, name), subresource.map(str::to_owned));
        let client = self.api().clone().into_client();
        Box::pin(async move {
            let response = async { client.request(built.map_err(kube::Error::BuildRequest)?).await };
            response.await.map_err(request_error).map_err(|error| error.with_subresource(subresource.as_deref()))
        })
    }
}
