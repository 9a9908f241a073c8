//! Derives that turn annotated API types into Kubernetes kinds: attributes → model with spans → check → impls.
//!
//! Use them through `kubewright-core`, which re-exports them together with all items that their output refers to.

mod attr;
mod check;
mod crate_path;
mod emit;
mod errors;
mod expand;
mod grammar;
mod model;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Derives `DeepCopy`: a field-by-field copy, for structs and enums, including generic ones.
///
/// A field that shares what it points to (`Rc`, `Arc`, a reference) is a compile error on that field. A type with a
/// custom copy implements `DeepCopy` by hand instead.
///
/// `dyn(path::Shape)` adds the method `deep_copy_shape(&self) -> Box<dyn Shape>`, like Go's
/// `+k8s:deepcopy-gen:interfaces`. A trait that declares this method can be made copyable with
/// `kubewright::deep_copy_dyn!`.
#[doc = include_str!("../docs/deep_copy.md")]
#[proc_macro_derive(DeepCopy, attributes(deep_copy, default))]
pub fn derive_deep_copy(input: TokenStream) -> TokenStream {
    expand::derive(&parse_macro_input!(input as DeriveInput), &[expand::deep_copy]).into()
}

/// Derives the input for the generation of an apply configuration: on a kind, and on each type in it.
///
/// A struct with named fields gets a dedicated configuration, whose fields are all optional; an enum or a tuple struct
/// is used in the configurations of other types unchanged. The types of k8s-openapi have their configurations in
/// `kubewright-apply`.
#[doc = include_str!("../docs/apply_configuration.md")]
#[proc_macro_derive(ApplyConfiguration, attributes(apply, serde))]
pub fn derive_apply_configuration(input: TokenStream) -> TokenStream {
    expand::derive(&parse_macro_input!(input as DeriveInput), &[expand::apply]).into()
}

/// Derives the conversion of a type between versions of a kind.
///
/// One version is the hub: its kind, and each type in it that differs between versions, has `#[convert(hub)]`. The
/// types of the other versions name their types in the hub.
///
/// ```ignore
/// #[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
/// #[serde(rename_all = "camelCase")]
/// #[convert(hub = v2::WidgetSpec, store = [color])]
/// pub struct WidgetSpec {
///     pub name: String,
///     #[convert(from = "interval", with = seconds)]
///     pub time_interval: i32,
///     #[convert(store)]
///     pub replicas: i32,
///     #[convert(lost = "never released")]
///     pub debug: Option<bool>,
/// }
/// ```
///
/// Fields correspond by their Rust names. It is a compile error if a field or a variant of one version is not covered
/// in the other, or if a type holds fewer values than its counterpart, and the attributes do not declare what happens.
///
/// - It implements `ConvertTo` and `Spoke` of `kubewright::core::conversion`, by which `Converter` converts JSON
///   objects.
/// - It implements `TryFrom` in both directions. For kinds it fails only if a function of the declaration returns a
///   value that the other type rejects; types without metadata cannot store what does not fit, which is an error.
#[doc = include_str!("../docs/convert.md")]
#[proc_macro_derive(Convert, attributes(convert, schema, serde))]
pub fn derive_convert(input: TokenStream) -> TokenStream {
    expand::derive(&parse_macro_input!(input as DeriveInput), &[expand::convert]).into()
}

/// Derives schemars' `JsonSchema` with the constraints of `#[schema(..)]` on the type and its fields.
///
/// It replaces `#[derive(JsonSchema)]`. The attributes of serde and schemars apply as they do there. Constraints of a
/// type and of a field of that type both apply: bounds narrow each other, and rules accumulate.
///
/// ```ignore
/// #[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
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
#[doc = include_str!("../docs/crd_schema.md")]
#[proc_macro_derive(CrdSchema, attributes(genclient, k8s, policy, schema, schemars, serde))]
pub fn derive_crd_schema(input: TokenStream) -> TokenStream {
    expand::derive(&parse_macro_input!(input as DeriveInput), &[expand::kind_attributes, expand::schema]).into()
}

/// Derives a Kubernetes kind from a struct with the fields `metadata`, `spec`, `status` and others.
///
/// It implements `Object` and `Kind`, k8s-openapi's `Resource` and `Metadata` (and thereby kube's `Resource`),
/// `Serialize` and `Deserialize` (which write and validate `apiVersion` and `kind`, and omit unset fields) and the verb
/// markers, and declares the constant `Kind::API_KIND`, the input of the generator. The type must also derive `Clone`,
/// `Debug`, `DeepCopy` and `CrdSchema` (or schemars' `JsonSchema`), and be listed in a `group_version!`. It must not
/// derive `Serialize` and `Deserialize`.
///
/// # Client
/// `#[genclient]` generates a client, like Go's `+genclient`. The kind is namespaced unless `non_namespaced` is set,
/// and every verb is granted unless `no_status` or one of `no_verbs`, `readonly`, `only_verbs` and `skip_verbs` is set.
/// A verb that is not granted is a compile error; without `list` and `watch` there is no informer, and without `get` no
/// lister.
///
/// # Lifecycle
/// With `deprecated` in its lifecycle the server warns about the kind, and rustc about its client, lister and informer.
/// Rust's own `#[deprecated(note = "..")]` on the type has the same effect, with its note; with schemars' `JsonSchema`
/// in place of `CrdSchema` the module then needs `#![allow(deprecated)]`, because schemars' derive uses the type.
///
/// # Admission policies
/// `#[policy(rule = "..")]` declares a validation that the API server evaluates on requests, such as one that depends
/// on the user, and `#[policy(default = "..")]` a value that depends on other fields. The generator checks their
/// expressions, and writes the policies beside the CRDs.
///
/// # Schema
/// The schema of the CRD is the schemars schema of the types, with the constraints of [`CrdSchema`](macro@CrdSchema).
/// An `Option<T>` is not nullable, and omitted when it is `None`; `kubewright::Nullable<T>` with `#[serde(default)]`
/// is absent, null or a value. Defaults are declared by `#[default(..)]` with
/// [`#[kubewright::defaults]`](macro@defaults).
#[doc = include_str!("../docs/object.md")]
#[proc_macro_derive(Object, attributes(genclient, k8s, kube, policy, serde))]
pub fn derive_object(input: TokenStream) -> TokenStream {
    expand::derive(&parse_macro_input!(input as DeriveInput), &[expand::object]).into()
}

/// Derives the list of a kind from a struct with the fields `metadata: ListMeta` and `items: Vec<Kind>`.
///
/// It implements `Object` and `KindList`, k8s-openapi's `Resource` and `Metadata`, `Serialize` and `Deserialize`, and
/// `Listed` for the kind. The type must also derive `Clone`, `Debug` and `DeepCopy`, and be listed in a
/// `group_version!`. The JSON name of the items is that of every Kubernetes API, `items`, unless `#[serde(rename =
/// "..")]` changes it.
#[doc = include_str!("../docs/object_list.md")]
#[proc_macro_derive(ObjectList, attributes(genclient, k8s, serde))]
pub fn derive_object_list(input: TokenStream) -> TokenStream {
    expand::derive(&parse_macro_input!(input as DeriveInput), &[expand::object_list]).into()
}

/// Derives everything that a type in a kind needs: [`CrdSchema`](macro@CrdSchema), [`DeepCopy`](macro@DeepCopy),
/// [`ApplyConfiguration`](macro@ApplyConfiguration), and [`Convert`](macro@Convert) if `#[convert(..)]` is on the type.
///
/// ```ignore
/// #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
/// #[serde(rename_all = "camelCase")]
/// pub struct WidgetSpec {
///     #[schema(min = 1)]
///     pub time_interval: i32,
/// }
/// ```
///
/// The attributes are those of these derives, and the impls are the same. The errors of all are reported at once.
#[proc_macro_derive(
    ApiType,
    attributes(apply, convert, deep_copy, default, genclient, k8s, policy, schema, schemars, serde)
)]
pub fn derive_api_type(input: TokenStream) -> TokenStream {
    expand::api_type(&parse_macro_input!(input as DeriveInput)).into()
}

/// Derives everything that a kind needs, and generates its list type: [`Object`](macro@Object) and the derives of
/// [`ApiType`](macro@ApiType).
///
/// ```ignore
/// /// A Widget rotates.
/// #[derive(Clone, Debug, ApiObject)]
/// #[genclient]
/// #[k8s(subresource(status))]
/// pub struct Widget {
///     pub metadata: ObjectMeta,
///     pub spec: WidgetSpec,
///     pub status: Option<WidgetStatus>,
/// }
///
/// kubewright::group_version! { group = "example.com", version = "v1", kinds = [Widget] }
/// ```
///
/// The attributes are those of these derives, and the impls are the same. The errors of all are reported at once.
///
/// # List
/// `WidgetList` has the visibility of the kind, the fields `metadata: ListMeta` and `items:
/// Vec<Widget>`, the impls of [`ObjectList`](macro@ObjectList), and `Clone`, `Debug`, `Default`, `DeepCopy` and, if the
/// kind has it, `PartialEq`. A `group_version!` that lists the kind registers both. A list that is written by hand
/// replaces it: `#[k8s(list = WidgetList)]` on the kind, and `#[derive(ObjectList)]` on the list.
#[proc_macro_derive(
    ApiObject,
    attributes(apply, convert, deep_copy, default, genclient, k8s, kube, policy, schema, schemars, serde)
)]
pub fn derive_api_object(input: TokenStream) -> TokenStream {
    expand::api_object(&parse_macro_input!(input as DeriveInput)).into()
}

/// Declares the defaults of fields once, for decoding, the schema and `Default`.
///
/// The attribute is placed above the derives of a struct, or of an enum whose variants have named fields.
///
/// ```ignore
/// #[kubewright::defaults]
/// #[derive(Clone, Debug, Default, Deserialize, Serialize, ApiType)]
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
/// - Decoding applies them to absent fields: each field gets `#[serde(default = "..")]`.
/// - schemars adds them to the schema, so that the CRD has them and the API server applies them too.
/// - If `Default` is derived below, it is implemented with them; other fields have `Default::default()`.
///
/// Defaults below an absent field without a default are not applied, as on the server. A null is not an absent field
/// here, although the server treats it as one: it decodes to the `None` of an `Option` and is rejected for other types.
/// `kubewright::defaults::defaulted` applies the defaults to an object that was built in Rust.
///
/// # Values
/// A number or a boolean literal; a string literal or the path of a constant, of any type that converts into that of
/// the field by `From`; or `with = path::function`, the path of a function without parameters. For an `Option<T>` the
/// value is a `T`.
#[doc = include_str!("../docs/defaults.md")]
#[proc_macro_attribute]
pub fn defaults(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::defaults(arguments.into(), item.into()).into()
}

/// Declares a version of an API group, once in its module, as `doc.go` and `register.go` do in Go.
///
/// ```ignore
/// kubewright::group_version! { group = "example.com", version = "v1", kinds = [Widget, WidgetList] }
/// ```
///
/// It defines `GROUP_VERSION`, `resource("widgets")`, `add_to_scheme(&mut Scheme)` and `API_GROUP`, the input of the
/// generator. The kinds must be public in the module of the macro: re-export types of other modules with `pub use`.
/// Kinds of the built-in groups of Kubernetes can be declared too; no CRD is generated for them.
#[doc = include_str!("../docs/group_version.md")]
#[proc_macro]
pub fn group_version(input: TokenStream) -> TokenStream {
    expand::group_version(input.into()).into()
}

/// Passes kinds that are declared elsewhere to the generator, which generates clients, listers and informers for them.
///
/// ```ignore
/// kubewright::adopt! {
///     built_in = [k8s_openapi::api::apps::v1::Deployment, k8s_openapi::api::core::v1::ConfigMap],
///     custom_resources = [crate::widget::Widget(status), crate::gauge::Gauge(readonly)],
/// }
/// ```
///
/// `built_in` lists built-in kinds of Kubernetes, by their types in k8s-openapi. `custom_resources` lists types of
/// kube's `CustomResource` derive in this crate, which provides group, version, names and scope. The parentheses after
/// a type contain the keys of `#[genclient]` for verbs (`readonly`, `only_verbs`, `skip_verbs`, `no_verbs`,
/// `no_status`), and `status`, which is required for a kind with a status if its client writes that. No CRD file is
/// generated for these kinds; the fake clientset serves the definitions that kube's derive declares. A kind with
/// `#[kube(derive = "kubewright::ApplyConfiguration")]`, and with that derive on its spec and status, has an apply
/// configuration.
///
/// Rename one of two types with the same name by `pub use path::Event as NewEvent;`: generated items have the name of
/// the kind.
///
/// The macro defines `api_groups()`, the input of the generator, `add_to_scheme(&mut Scheme)` for the kinds and their
/// lists, and re-exports each type of another module. It implements `Object`, with `Clone` as the deep copy,
/// and `ObjectKind` for `custom_resources`.
#[doc = include_str!("../docs/adopt.md")]
#[proc_macro]
pub fn adopt(input: TokenStream) -> TokenStream {
    expand::adopt(input.into()).into()
}

/// Expands to the attribute grammar as data of `kubewright_core::grammar`, for `cargo xtask codegen explain`.
#[doc(hidden)]
#[proc_macro]
pub fn grammar(_: TokenStream) -> TokenStream {
    grammar::expand().into()
}
