//! A version of an API group, with the kinds and lists that its `group_version!` registers.

use super::{Location, kind::ApiKind};

/// One version of an API group, as its `group_version!` declares it.
#[derive(Clone, Copy, Debug)]
pub struct ApiGroup {
    /// The API group, such as `example.com`.
    pub group: &'static str,
    /// The version, such as `v1`.
    pub version: &'static str,
    /// The identifier of the group in generated names, if it is not derived from the group.
    pub group_ident: Option<&'static str>,
    /// The path of the module with the `group_version!`, where its kinds are public.
    pub module: &'static str,
    /// The kinds and lists, in declaration order.
    pub types: &'static [TypeMeta],
    /// The location of the `group_version!`, for messages; unknown for adopted kinds.
    pub location: Location,
}

impl ApiGroup {
    /// The defaults of all fields.
    pub const DEFAULT: ApiGroup =
        ApiGroup { group: "", version: "", group_ident: None, module: "", types: &[], location: Location::UNKNOWN };

    /// Returns the kinds of this version, in declaration order.
    pub fn kinds(&self) -> impl Iterator<Item = &'static ApiKind> + use<> {
        self.types.iter().filter_map(|ty| match ty {
            TypeMeta::Kind(kind) | TypeMeta::KindWithList(kind, _) => Some(kind),
            TypeMeta::List(_) => None,
        })
    }

    /// Returns the list kind of a kind: that of its list type, or by convention.
    pub fn list_kind(&self, kind: &ApiKind) -> String {
        self.list_of(kind).map_or_else(|| format!("{}List", kind.kind), |list| list.kind.to_owned())
    }

    /// Returns the list type of a kind, if one is registered.
    pub fn list_of(&self, kind: &ApiKind) -> Option<&'static ApiList> {
        self.lists().find(|list| list.item == kind.kind)
    }

    /// Returns the list types of this version, in declaration order.
    pub fn lists(&self) -> impl Iterator<Item = &'static ApiList> + use<> {
        self.types.iter().filter_map(|ty| match ty {
            TypeMeta::List(list) | TypeMeta::KindWithList(_, list) => Some(list),
            TypeMeta::Kind(_) => None,
        })
    }
}

/// A registered type: a kind, a list of one, or both.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "values are constants that are used by reference")]
pub enum TypeMeta {
    /// A type that derives `Object`.
    Kind(ApiKind),
    /// A type that derives `ApiObject`, with its generated list.
    KindWithList(ApiKind, ApiList),
    /// A type that derives `ObjectList`.
    List(ApiList),
}

/// A list type.
#[derive(Clone, Copy, Debug)]
pub struct ApiList {
    /// The list kind, such as `WidgetList`.
    pub kind: &'static str,
    /// The kind of its items.
    pub item: &'static str,
    /// The JSON name of the items, which is `items` in every Kubernetes API.
    pub items: &'static str,
    /// The doc comment, lines joined by newlines.
    pub docs: &'static str,
}

impl ApiList {
    /// A placeholder for a list that its derive rejected, in builds that fail anyway.
    #[doc(hidden)]
    pub const PLACEHOLDER: ApiList = ApiList { kind: "", item: "", items: "", docs: "" };
}
