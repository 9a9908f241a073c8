//! Derives that turn annotated API types into Kubernetes kinds: attributes → model with spans → check → impls.
//!
//! Use them through `logger-core`, which re-exports them and everything they name.

mod adopt;
mod apply;
mod attr;
mod check;
mod columns;
mod deep_copy;
mod defaults;
mod emit;
mod errors;
mod grammar;
mod group_version;
mod indexes;
mod lifecycle;
mod methods;
mod model;
mod names;
mod schema;
mod verbs;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Derives `DeepCopy`: a copy field by field, for structs and enums, generic ones too.
///
/// A field of a type that shares what it points to (`Rc`, `Arc`, a reference) is a compile error on that field. A type that
/// is to be copied in a way of its own does not derive it, but has an `impl DeepCopy`.
///
/// # Attributes
/// ## `#[deep_copy(dyn(path::Shape))]`
/// Gives the type a method `deep_copy_shape(&self) -> Box<dyn Shape>`, Go's `+k8s:deepcopy-gen:interfaces`. A trait that
/// has this method too makes its objects copyable with `logger_core::deep_copy_dyn!`.
///
/// ## `#[deep_copy(clone)]` on a field
/// Copies the field by its `Clone`: for a type of another crate whose `Clone` shares nothing.
///
/// ## `#[deep_copy(crate = path)]`
/// Where `logger_core` is, if it has another name in this crate.
#[proc_macro_derive(DeepCopy, attributes(deep_copy, default))]
pub fn derive_deep_copy(input: TokenStream) -> TokenStream {
    deep_copy::derive(parse_macro_input!(input as DeriveInput)).into()
}

/// Derives what the generator needs to make an apply configuration of a type: on a kind, and on each type in it.
///
/// A struct with named fields gets a configuration of its own, whose fields are all optional; an enum or a tuple struct
/// stands in the configurations of others as it is. Types of k8s-openapi's have theirs in `logger-apply`.
///
/// # Attributes
/// ## `#[apply(atomic)]` on a field
/// Applies the field as a whole, whatever its type: for types that cannot derive this.
///
/// ## `#[apply(crate = path)]`
/// Where `logger_core` is, if it has another name in this crate.
///
/// ## `#[serde(..)]`
/// `rename_all` on the struct, `rename`, `flatten`, `skip` and `skip_serializing` on its fields, as serde reads them.
#[proc_macro_derive(ApplyConfiguration, attributes(apply, serde))]
pub fn derive_apply_configuration(input: TokenStream) -> TokenStream {
    apply::derive(parse_macro_input!(input as DeriveInput)).into()
}

/// Derives schemars' `JsonSchema`, with what `#[schema(..)]` says of a type and its fields: it stands in place of
/// `#[derive(JsonSchema)]`. serde's and schemars' attributes count as they do there.
///
/// ```ignore
/// #[derive(Clone, Debug, DeepCopy, Deserialize, KubeSchema, Serialize)]
/// #[serde(rename_all = "camelCase")]
/// #[schema(exactly_one_of = [file, stream])]
/// pub struct Sink {
///     #[schema(length = 1..=253, pattern = r"^/")]
///     pub file: Option<String>,
///     #[schema(immutable)]
///     pub stream: Option<String>,
///     #[schema(list_type = map, list_map_keys = ["name"], items = ..=16)]
///     pub rules: Vec<Rule>,
///     #[schema(column = "Level", selectable)]
///     pub level: String,
/// }
/// ```
///
/// # Attributes
/// ## `#[schema(..)]`
/// `cargo xtask codegen explain schema` tells of each keyword how it is written, its Go tag, its rule and an example. What
/// the type and what a field of that type say both hold: bounds narrow each other, and rules add up.
///
/// ## `#[schema(crate = path)]`
/// On the type: where `logger_core` is, if it has another name in this crate.
#[proc_macro_derive(KubeSchema, attributes(schema, schemars, serde))]
pub fn derive_kube_schema(input: TokenStream) -> TokenStream {
    schema::derive(parse_macro_input!(input as DeriveInput)).into()
}

/// Derives everything that makes a struct a Kubernetes kind, from its fields `metadata`, `spec`, `status` and others.
///
/// It implements `Object` and `Kind`, k8s-openapi's `Resource` and `Metadata` (so kube's `Resource` too), `Serialize`
/// and `Deserialize` (`apiVersion` and `kind` written and checked, unset fields left out) and the verb markers, and
/// leaves the constant `Kind::API_KIND` that the generator reads. The type must also derive `Clone`, `Debug`,
/// `DeepCopy` and `KubeSchema` (or schemars' `JsonSchema`), and be listed in a `group_version!`.
///
/// # Attributes
/// `cargo xtask codegen explain` tells of each keyword how it is written, its Go tag, its rule and an example.
///
/// ## `#[genclient(..)]`
/// Generate a client, as Go's `+genclient`. Objects are namespaced unless it says `non_namespaced`, and every verb is
/// granted unless it says `no_status`, or one of `no_verbs`, `readonly`, `only_verbs = [get, list]` and
/// `skip_verbs = [delete]`. A verb it has not is a compile error; without `list` and `watch` there is no informer, and
/// without `get` no lister.
///
/// `method(name = get_scale, verb = get, subresource = "scale", result = path::Scale)` is one more method of the client,
/// and `index(name = by_state, by = path::function)` an index of the informer's store; each may be said several times.
///
/// ## `#[k8s(..)]`
/// What the API server is told: the names `plural`, `singular`, `short_names` and `categories`, the `scope`, the
/// `subresource(status, scale(..))`, the `printcolumns` of `kubectl get`, `selectable_fields`, the `lifecycle(..)`, and of the
/// definition itself `metadata(..)`, `storage` and `unserved`. The scope must be said where there is no `#[genclient]`; all
/// else has a default, or is not there.
///
/// With `deprecated` in its lifecycle the server warns of the kind, and so does rustc of its client, lister and informer.
/// Rust's own `#[deprecated(note = "..")]` on the type does the same, with its note; with schemars' `JsonSchema` in place of
/// `KubeSchema` the module then needs `#![allow(deprecated)]`, since schemars' derive names the type.
///
/// ## `#[serde(..)]`
/// `rename_all = "camelCase"` on the struct, `rename = ".."`, `default` and `default = "path"` on its fields.
///
/// # Schema
/// The CRD's schema is what schemars makes of the types, with what `#[schema(..)]` of [`KubeSchema`](macro@KubeSchema) says
/// beside it. An `Option<T>` is not nullable, and left out when it is `None`; `logger_core::Nullable<T>` with
/// `#[serde(default)]` is absent, null or a value. Defaults are `#[default(..)]` with
/// [`#[logger_core::defaults]`](macro@defaults). Columns and selectable fields may be said on the fields they show.
#[proc_macro_derive(Object, attributes(genclient, k8s, serde))]
pub fn derive_object(input: TokenStream) -> TokenStream {
    emit::derive_object(parse_macro_input!(input as DeriveInput)).into()
}

/// Derives everything that makes a struct the list of a kind, from its fields `metadata: ListMeta` and `items: Vec<Kind>`.
///
/// It implements `Object` and `KindList`, k8s-openapi's `Resource` and `Metadata`, `Serialize` and `Deserialize`, and
/// tells the kind that this is its list. The type must also derive `Clone`, `Debug` and `DeepCopy`, and be listed in
/// a `group_version!`.
///
/// # Attributes
/// ## `#[k8s(crate = path)]`
/// Where `logger_core` is, if it has another name in this crate.
///
/// ## `#[serde(rename = "..")]`
/// On the field of the items: their name in JSON. Every real server says `items`.
#[proc_macro_derive(ObjectList, attributes(genclient, k8s, serde))]
pub fn derive_object_list(input: TokenStream) -> TokenStream {
    emit::derive_list(parse_macro_input!(input as DeriveInput)).into()
}

/// Gives fields their defaults, from one place: decoding, the schema and `Default` all have them. It stands above the
/// derives of a struct, or of an enum whose variants have named fields.
///
/// ```ignore
/// #[logger_core::defaults]
/// #[derive(Clone, Debug, Default, DeepCopy, Deserialize, JsonSchema, Serialize)]
/// #[serde(rename_all = "camelCase")]
/// pub struct WidgetSpec {
///     #[default(30)]
///     pub time_interval: i32,
///     #[default(DEFAULT_REPLICAS)]
///     pub replicas: Option<i32>,
///     #[default("info")]
///     pub level: String,
///     #[default(with = default_format)]
///     pub format: Format,
///     pub name: String,
/// }
/// ```
///
/// - Decoding fills them in where the field is absent (it writes `#[serde(default = "..")]` for serde).
/// - schemars writes them into the schema, so they are in the CRD and the API server fills them in too.
/// - If `Default` is derived below, it is implemented with them; other fields have `Default::default()`.
///
/// Nothing is filled in below a field that is itself absent and has no default, as on the server. A null is no absent
/// field here, while the server takes it for one: it decodes as the `None` of an `Option` and is refused elsewhere. An
/// object that was built in Rust gets its defaults from `logger_core::defaults::defaulted`.
///
/// # Attributes
/// ## `#[default(..)]` on a field
/// A number, `true` or `false`; a text or the path of a constant, of any type that the field's type is `From`; or
/// `with = path::function`, a function without parameters that makes it. For an `Option<T>` it is the `T`.
///
/// ## `#[logger_core::defaults(crate = path)]`
/// Where `logger_core` is, if it has another name in this crate.
#[proc_macro_attribute]
pub fn defaults(arguments: TokenStream, item: TokenStream) -> TokenStream {
    defaults::expand(arguments.into(), item.into()).into()
}

/// Declares a version of an API group, once in its module: what `doc.go` and `register.go` are in Go.
///
/// ```ignore
/// logger_core::group_version! { group = "example.com", version = "v1", kinds = [Widget, WidgetList] }
/// ```
///
/// `group_ident = "second_example"` is the word for the group in generated names, if the group's own would not do. Kinds of
/// Kubernetes' own groups (`group = ""` is the core group) may be declared too; a CRD is not written for them.
///
/// It makes `GROUP_VERSION`, `resource("widgets")`, `add_to_scheme(&mut Scheme)` and `API_GROUP`, the constant that the
/// generator reads. The kinds are public where the macro stands: `pub use` those that are defined elsewhere.
#[proc_macro]
pub fn group_version(input: TokenStream) -> TokenStream {
    group_version::expand(input.into()).into()
}

/// Hands kinds that were declared elsewhere to the generator, so that they too get clients, listers and informers.
///
/// ```ignore
/// logger_core::adopt! {
///     built_in = [k8s_openapi::api::apps::v1::Deployment, k8s_openapi::api::core::v1::ConfigMap],
///     custom_resources = [crate::widget::Widget(status), crate::gauge::Gauge(readonly)],
/// }
/// ```
///
/// `built_in` are Kubernetes' own kinds, as k8s-openapi has them. `custom_resources` are types that kube's
/// `CustomResource` derive made, in this crate: group, version, names and scope are asked of it. In parentheses stands what
/// `#[genclient]` says of one's own kinds (`readonly`, `only_verbs`, `skip_verbs`, `no_verbs`, `no_status`), and `status`,
/// which must be said of one that has a status if its client is to write that. A CRD is written for none of them.
///
/// Types of one name are told apart by `pub use path::Event as NewEvent;`: what is generated is named by the kind.
///
/// It makes `api_groups()`, which the generator reads, `add_to_scheme(&mut Scheme)` for the kinds and their lists, and
/// `pub use` of each type that is named by a longer path. `custom_resources` become `Object`s by it, whose deep copies are
/// what their `Clone` makes.
#[proc_macro]
pub fn adopt(input: TokenStream) -> TokenStream {
    adopt::expand(input.into()).into()
}

/// What may be written in all of these, as data of `logger_core::grammar`: for `cargo xtask codegen explain`.
#[doc(hidden)]
#[proc_macro]
pub fn grammar(_: TokenStream) -> TokenStream {
    grammar::expand().into()
}
