//! A struct that derives `Object` or `ApiObject`.

use kubewright_names::resource::plural;
use proc_macro2::TokenStream;
use quote::format_ident;
use syn::{Attribute, DeriveInput, Ident, LitStr, ext::IdentExt};

use super::{policy::Policy, root::Root, verbs::granted_verbs};
use crate::{
    attr::{
        self,
        convert::is_converted,
        docs::deprecation_note,
        genclient::{Genclient, Index, Method},
        k8s::K8s,
    },
    errors::Errors,
    grammar::{genclient::GENCLIENT, k8s::K8S},
};

/// A struct that derives `Object` or `ApiObject`.
pub(crate) struct Kind {
    pub(crate) root: Root,
    /// The `#[genclient]` attribute.
    pub(crate) genclient: Option<(Attribute, Genclient)>,
    pub(crate) k8s: K8s,
    pub(crate) policies: Vec<Policy>,
    /// Whether it derives `Convert`.
    pub(crate) converts: bool,
    /// The note of the `#[deprecated]` attribute.
    pub(crate) deprecated: Option<String>,
    /// Whether a key of `#[genclient]` or `#[k8s]` was rejected, so that a missing key is not reported.
    pub(crate) incomplete: bool,
}

impl Kind {
    pub(crate) fn parse(input: &DeriveInput, derive: &'static str, krate: &TokenStream, errors: &mut Errors) -> Self {
        let k8s: K8s = attr::parse(&K8S, &input.attrs, errors);
        let genclient = attr::parse(&GENCLIENT, &input.attrs, errors);
        let incomplete = !errors.is_empty();
        let policies = Policy::parse_all(&input.attrs, errors);
        Kind {
            root: Root::parse(input, derive, krate, errors),
            genclient: attr::named("genclient", &input.attrs).next().map(|attr| (attr.clone(), genclient)),
            k8s,
            policies,
            converts: is_converted(&input.attrs),
            deprecated: deprecation_note(&input.attrs),
            incomplete,
        }
    }

    /// Returns the kind: the declared one, or the name of the type.
    pub(crate) fn kind(&self) -> String {
        self.k8s.kind.as_ref().map_or_else(|| self.root.name(), LitStr::value)
    }

    pub(crate) fn plural(&self) -> String {
        self.k8s.plural.as_ref().map_or_else(|| plural(&self.kind()), LitStr::value)
    }

    pub(crate) fn singular(&self) -> String {
        self.k8s.singular.as_ref().map_or_else(|| self.kind().to_lowercase(), LitStr::value)
    }

    /// Returns the name of the list type that `ApiObject` generates.
    pub(crate) fn list_name(&self) -> Ident {
        let ident = &self.root.ident;
        format_ident!("{}List", ident.unraw(), span = ident.span())
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        match (&self.k8s.scope, &self.genclient) {
            (Some(scope), _) => scope.value() != "Cluster",
            (None, Some((_, client))) => !client.non_namespaced.is_present(),
            (None, None) => true,
        }
    }

    /// Whether it has the status subresource.
    pub(crate) fn has_status(&self) -> bool {
        self.k8s.subresource.status.is_present()
    }

    /// Returns the marker traits of the granted verbs.
    pub(crate) fn verbs(&self) -> Vec<&'static str> {
        let granted = |(_, client): &(_, Genclient)| granted_verbs(client, self.has_status());
        self.genclient.as_ref().map_or_else(Vec::new, granted)
    }

    /// Whether the kind has an informer, and a lister to read its store.
    pub(crate) fn has_informer(&self) -> bool {
        let verbs = self.verbs();
        ["Get", "List", "Watch"].iter().all(|verb| verbs.contains(verb))
    }

    pub(crate) fn methods(&self) -> &[Method] {
        self.genclient.as_ref().map_or(&[], |(_, client)| &client.method)
    }

    pub(crate) fn indexes(&self) -> &[Index] {
        self.genclient.as_ref().map_or(&[], |(_, client)| &client.index)
    }
}

/// Parses a release such as `1.2`, of the product that serves the kind: major and minor version.
pub(crate) fn release(literal: &LitStr) -> Option<(u32, u32)> {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let text = literal.value();
    let (major, minor) = text.split_once('.')?;
    Some((number(major)?, number(minor)?))
}
