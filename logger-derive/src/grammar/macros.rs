//! The derives with their attributes, the macros, and what stands in `group_version!` and `adopt!`.

use super::{Keyword, Place, UNSAID, genclient, krate};

pub(crate) const DERIVES: Place = Place {
    name: "derive",
    nested: false,
    title: "#[derive(..)] on a type",
    keywords: &[
        Keyword {
            word: "DeepCopy",
            form: "#[derive(DeepCopy)]",
            go_tags: &["+k8s:deepcopy-gen=true"],
            meaning: "A copy field by field that shares nothing with the original, for structs and enums.",
            rule: "A field that shares what it points to (`Rc`, `Arc`, a reference) is an error. What is to be copied in a \
                   way of its own has an `impl DeepCopy` instead.",
            example: "#[derive(Clone, Debug, DeepCopy)]",
            ..UNSAID
        },
        Keyword {
            word: "ApplyConfiguration",
            form: "#[derive(ApplyConfiguration)]",
            go_tags: &["+kubebuilder:ac:generate=true"],
            meaning: "An apply configuration of the type is generated, with every field optional: for server-side apply.",
            rule: "On a kind, and on each type in it. k8s-openapi's types have theirs in `logger-apply`.",
            example: "#[derive(ApplyConfiguration)]",
            ..UNSAID
        },
        Keyword {
            word: "KubeSchema",
            form: "#[derive(KubeSchema)]",
            meaning: "schemars' `JsonSchema`, with what `#[schema(..)]` says of the type and its fields.",
            rule: "In place of `#[derive(JsonSchema)]`, on any type in a kind. serde's and schemars' attributes count as they \
                   do there.",
            example: "#[derive(Clone, Debug, DeepCopy, Deserialize, KubeSchema, Serialize)]",
            ..UNSAID
        },
        Keyword {
            word: "Object",
            form: "#[derive(Object)]",
            go_tags: &["+kubebuilder:object:root=true"],
            meaning: "The struct is a Kubernetes kind: its JSON form, its resource, its verbs, and what the generator reads.",
            rule: "It also derives `Clone`, `Debug`, `DeepCopy` and `JsonSchema`, has a field `metadata`, and is listed in \
                   a `group_version!`.",
            example: "#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]",
            ..UNSAID
        },
        Keyword {
            word: "ObjectList",
            form: "#[derive(ObjectList)]",
            go_tags: &["+kubebuilder:object:root=true"],
            meaning: "The struct is the list of a kind.",
            rule: "Its fields are `metadata: ListMeta` and `items: Vec<Kind>`. It also derives `Clone`, `Debug` and \
                   `DeepCopy`, and is listed in a `group_version!`.",
            example: "#[derive(Clone, Debug, DeepCopy, ObjectList)]",
            ..UNSAID
        },
    ],
};

pub(crate) const ATTRIBUTES: Place = Place {
    name: "attribute",
    nested: false,
    title: "Attributes that the derives read",
    keywords: &[
        Keyword {
            word: "genclient",
            form: "#[genclient]",
            go_tags: &["+genclient"],
            meaning: "Generates a client of the kind, and with `list` and `watch` an informer and a lister.",
            rule: "Objects are namespaced and every verb is granted, unless its keywords say otherwise. On the kind, not on \
                   its list.",
            example: "#[genclient]",
            ..UNSAID
        },
        Keyword {
            word: "k8s",
            form: "#[k8s(..)]",
            meaning: "What the API server is told of the kind: names, scope, subresources and columns.",
            example: "#[k8s(short_names = [\"wg\"], subresource(status))]",
            ..UNSAID
        },
        Keyword {
            word: "schema",
            form: "#[schema(..)]",
            meaning: "What the API server checks of a type or a field, beside what its type in Rust says.",
            rule: "On a type that derives `KubeSchema`, and on its fields.",
            example: "#[schema(title = \"Widget\")]",
            ..UNSAID
        },
        Keyword {
            word: "schemars",
            form: "#[schemars(..)]",
            meaning: "What schemars' derive reads, `KubeSchema` too: `with`, `range`, `length`, `regex`, `extend` and so on.",
            rule: "`#[schema(..)]` has words of its own for most.",
            example: "#[schemars(extend(\"x-kubernetes-map-type\" = \"atomic\"))]",
            ..UNSAID
        },
        Keyword {
            word: "deep_copy",
            form: "#[deep_copy(..)]",
            meaning: "How a type or a field is copied.",
            example: "#[deep_copy(clone)]",
            ..UNSAID
        },
        Keyword {
            word: "apply",
            form: "#[apply(..)]",
            meaning: "How a field stands in an apply configuration.",
            example: "#[apply(atomic)]",
            ..UNSAID
        },
        Keyword {
            word: "defaults",
            form: "#[logger_core::defaults]",
            go_tags: &["+k8s:defaulter-gen=true"],
            meaning: "Reads `#[default(..)]` on the fields: one source for decoding, the schema and `Default`.",
            rule: "Above the derives of a struct or an enum.",
            example: "#[logger_core::defaults]",
            ..UNSAID
        },
        Keyword {
            word: "default",
            form: "#[default(..)]",
            go_tags: &["+default=", "+default=ref(..)", "+kubebuilder:default="],
            meaning: "What a field is if it is absent: a literal, a constant's path, or `with` and a function's.",
            rule: "The type has `#[logger_core::defaults]` above its derives. In an `Option` it is the value inside.",
            example: "#[default(30)]",
            ..UNSAID
        },
        Keyword {
            word: "serde",
            form: "#[serde(..)]",
            go_tags: &["json:\"..\""],
            meaning: "Names in JSON. Of serde's attributes the derives read those that are listed here.",
            rule: "A kind and its list are written and read by the derive, and refuse the other ones. Nested types take all.",
            example: "#[serde(rename_all = \"camelCase\")]",
            ..UNSAID
        },
    ],
};

pub(crate) const MACROS: Place = Place {
    name: "macro",
    nested: false,
    title: "Macros in a module",
    keywords: &[
        Keyword {
            word: "group_version",
            form: "logger_core::group_version! { .. }",
            go_tags: &["+k8s:register-gen=true"],
            meaning: "Declares a version of an API group with its kinds: what `doc.go` and `register.go` are in Go.",
            rule: "Once in the module where the kinds are public. It makes `GROUP_VERSION`, `resource(..)`, \
                   `add_to_scheme(..)` and `API_GROUP`.",
            example: "logger_core::group_version! { group = \"example.com\", version = \"v1\", kinds = [Widget, WidgetList] }",
            ..UNSAID
        },
        Keyword {
            word: "adopt",
            form: "logger_core::adopt! { .. }",
            meaning: "Hands kinds that were declared elsewhere to the generator: they too get clients, listers and informers.",
            rule: "No CRD is written for them. It makes `api_groups()`, which the generator reads.",
            example: "logger_core::adopt! { built_in = [k8s_openapi::api::core::v1::Pod] }",
            ..UNSAID
        },
    ],
};

pub(crate) const DEFAULTS: Place = Place {
    name: "defaults",
    nested: false,
    title: "#[logger_core::defaults(..)] on a type",
    keywords: &[krate("#[logger_core::defaults(crate = my_core)]")],
};

pub(crate) const GROUP_VERSION: Place = Place {
    name: "group_version",
    nested: false,
    title: "group_version! { .. }, in the module of a version",
    keywords: &[
        Keyword {
            word: "group",
            form: "group = \"example.com\"",
            go_tags: &["+groupName="],
            meaning: "The API group.",
            rule: "A domain name with a dot, or a group of Kubernetes' own: `\"\"` is the core group. It must be said.",
            example: "logger_core::group_version! { group = \"example.com\", version = \"v1\", kinds = [Widget] }",
            ..UNSAID
        },
        Keyword {
            word: "version",
            form: "version = \"v1\"",
            go_tags: &["+versionName="],
            meaning: "The version of the group; in Go it is the name of the directory.",
            rule: "`v1`, `v1beta1` and so on. It must be said.",
            example: "logger_core::group_version! { group = \"example.com\", version = \"v1beta1\", kinds = [Widget] }",
            ..UNSAID
        },
        Keyword {
            word: "kinds",
            form: "kinds = [Widget, WidgetList]",
            meaning: "The kinds and lists of this version.",
            rule: "By the names they have in this module: `pub use` those that are defined elsewhere. It must be said.",
            example: "logger_core::group_version! { group = \"example.com\", version = \"v1\", kinds = [Widget, WidgetList] }",
            ..UNSAID
        },
        Keyword {
            word: "group_ident",
            form: "group_ident = \"second_example\"",
            go_tags: &["+groupGoName="],
            meaning: "The word for the group in generated names.",
            rule: "By default the group's first label; groups that begin alike get their whole names.",
            example: "logger_core::group_version! { group = \"example.org\", version = \"v1\", \
                      group_ident = \"second_example\", kinds = [Widget] }",
            ..UNSAID
        },
        krate(
            "logger_core::group_version! { crate = my_core, group = \"example.com\", version = \"v1\", kinds = [Widget] }",
        ),
    ],
};

pub(crate) const ADOPT: Place = Place {
    name: "adopt",
    nested: false,
    title: "adopt! { .. }, in any module",
    keywords: &[
        Keyword {
            word: "built_in",
            form: "built_in = [k8s_openapi::api::core::v1::Pod]",
            meaning: "Kubernetes' own kinds, as k8s-openapi has them.",
            rule: "Every verb is granted.",
            example: "logger_core::adopt! { built_in = [k8s_openapi::api::apps::v1::Deployment] }",
            ..UNSAID
        },
        Keyword {
            word: "custom_resources",
            form: "custom_resources = [Widget(status)]",
            meaning: "Types that kube's `CustomResource` derive made: group, version, names and scope are asked of it.",
            rule: "In parentheses stands what `#[genclient]` would say.",
            example: "logger_core::adopt! { custom_resources = [crate::Widget(status), crate::Gauge(readonly)] }",
            ..UNSAID
        },
        krate("logger_core::adopt! { crate = my_core, built_in = [Pod] }"),
    ],
};

/// The tags of what `#[genclient]` says too are there.
pub(crate) const ADOPTED: Place = Place {
    name: "custom_resources",
    nested: true,
    title: "adopt! { custom_resources = [Widget(..)] }, after a type",
    keywords: &[
        Keyword {
            word: "status",
            form: "status",
            meaning: "The kind has a status subresource. Grants `update_status` and `apply_status`.",
            example: "logger_core::adopt! { custom_resources = [Widget(status)] }",
            ..UNSAID
        },
        Keyword {
            go_tags: &[],
            example: "logger_core::adopt! { custom_resources = [Widget(status, no_status)] }",
            rule: "",
            ..genclient::NO_STATUS
        },
        Keyword {
            go_tags: &[],
            example: "logger_core::adopt! { custom_resources = [Widget(no_verbs)] }",
            ..genclient::NO_VERBS
        },
        Keyword {
            go_tags: &[],
            example: "logger_core::adopt! { custom_resources = [Widget(readonly)] }",
            ..genclient::READONLY
        },
        Keyword {
            go_tags: &[],
            example: "logger_core::adopt! { custom_resources = [Widget(only_verbs = [get, list])] }",
            ..genclient::ONLY_VERBS
        },
        Keyword {
            go_tags: &[],
            example: "logger_core::adopt! { custom_resources = [Widget(skip_verbs = [delete])] }",
            ..genclient::SKIP_VERBS
        },
    ],
};
