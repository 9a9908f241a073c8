//! The derives with their attributes, the macros, and the keys of `group_version!` and `adopt!`.

use super::{AttributeKey, EMPTY, Section, crate_key, genclient};

pub(crate) const DERIVES: Section = Section {
    name: "derive",
    nested: false,
    title: "#[derive(..)] on a type",
    accepted_by: &[],
    keys: &[
        AttributeKey {
            key: "ApiObject",
            syntax: "#[derive(ApiObject)]",
            description: "Makes the struct a Kubernetes kind with everything that it needs: `Object`, `CrdSchema`, \
                          `DeepCopy`, `ApplyConfiguration`, `Convert` if it has `#[convert(..)]`, and its list type.",
            constraints: "The type also derives `Clone` and `Debug`, has a `metadata` field, and is listed in a \
                          `group_version!`. `#[k8s(list = WidgetList)]` replaces the generated list.",
            example: "#[derive(Clone, Debug, ApiObject)]",
            ..EMPTY
        },
        AttributeKey {
            key: "ApiType",
            syntax: "#[derive(ApiType)]",
            description: "Derives everything that a type in a kind needs: `CrdSchema`, `DeepCopy`, \
                          `ApplyConfiguration`, and `Convert` if it has `#[convert(..)]`.",
            constraints: "The type also derives `Deserialize` and `Serialize`.",
            example: "#[derive(Clone, Debug, Deserialize, Serialize, ApiType)]",
            ..EMPTY
        },
        AttributeKey {
            key: "DeepCopy",
            syntax: "#[derive(DeepCopy)]",
            go_tags: &["+k8s:deepcopy-gen=true"],
            description: "Implements `DeepCopy`: a field-by-field copy that shares nothing with the original, for \
                          structs and enums.",
            constraints: "A field that shares what it points to (`Rc`, `Arc`, a reference) is an error. A type with \
                          a custom copy implements `DeepCopy` by hand instead.",
            example: "#[derive(Clone, Debug, DeepCopy)]",
            ..EMPTY
        },
        AttributeKey {
            key: "ApplyConfiguration",
            syntax: "#[derive(ApplyConfiguration)]",
            go_tags: &["+kubebuilder:ac:generate=true"],
            description: "Generates an apply configuration of the type, with every field optional, for server-side \
                          apply.",
            constraints: "On a kind, and on each type in it. The types of k8s-openapi have theirs in `kubewright-apply`.",
            example: "#[derive(ApplyConfiguration)]",
            ..EMPTY
        },
        AttributeKey {
            key: "Convert",
            syntax: "#[derive(Convert)]",
            go_tags: &["+k8s:conversion-gen="],
            description: "Converts between the versions of a kind, without loss.",
            constraints: "On a kind, and on each type in it that differs between versions. `#[convert(hub)]` on the \
                          types of one version, `#[convert(hub = v2::Widget)]` on those of the others.",
            example: "#[derive(Convert)]",
            ..EMPTY
        },
        AttributeKey {
            key: "CrdSchema",
            syntax: "#[derive(CrdSchema)]",
            description: "Implements schemars' `JsonSchema` with the constraints of `#[schema(..)]` on the type and \
                          its fields.",
            constraints: "Replaces `#[derive(JsonSchema)]` on any type in a kind. The attributes of serde and \
                          schemars apply as they do there.",
            example: "#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]",
            ..EMPTY
        },
        AttributeKey {
            key: "Object",
            syntax: "#[derive(Object)]",
            go_tags: &["+kubebuilder:object:root=true"],
            description: "Makes the struct a Kubernetes kind: its JSON encoding, resource, verbs and the metadata \
                          for the generator.",
            constraints: "The type also derives `Clone`, `Debug`, `DeepCopy` and `CrdSchema` (or `JsonSchema`), has \
                          a `metadata` field, and is listed in a `group_version!`. It does not derive `Serialize` \
                          and `Deserialize`: `Object` implements them.",
            example: "#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]",
            ..EMPTY
        },
        AttributeKey {
            key: "ObjectList",
            syntax: "#[derive(ObjectList)]",
            go_tags: &["+kubebuilder:object:root=true"],
            description: "Makes the struct the list type of a kind.",
            constraints: "Its fields are `metadata: ListMeta` and `items: Vec<Kind>`. The type also derives `Clone`, \
                          `Debug` and `DeepCopy`, and is listed in a `group_version!`.",
            example: "#[derive(Clone, Debug, DeepCopy, ObjectList)]",
            ..EMPTY
        },
    ],
};

pub(crate) const ATTRIBUTES: Section = Section {
    name: "attribute",
    nested: false,
    title: "Attributes of the derives",
    accepted_by: &[],
    keys: &[
        AttributeKey {
            key: "genclient",
            syntax: "#[genclient]",
            go_tags: &["+genclient"],
            description: "Generates a client of the kind, and with `list` and `watch` an informer and a lister.",
            constraints: "Without keys the kind is namespaced and every verb is granted. On the kind, not on its list.",
            example: "#[genclient]",
            ..EMPTY
        },
        AttributeKey {
            key: "k8s",
            syntax: "#[k8s(..)]",
            description: "Declares the resource: its names, scope, subresources, columns and other properties of its \
                          definition.",
            example: "#[k8s(short_names = [\"wg\"], subresource(status))]",
            ..EMPTY
        },
        AttributeKey {
            key: "policy",
            syntax: "#[policy(..)]",
            description: "Declares a rule, a default or a variable of the admission policies of the kind, which the \
                          API server evaluates on requests.",
            constraints: "Can be repeated. On the kind, in one of its versions.",
            example: "#[policy(rule = \"'admins' in request.userInfo.groups\", message = \"only admins may write\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "schema",
            syntax: "#[schema(..)]",
            description: "Declares validation and merge rules of a type or a field, in addition to those of its Rust \
                          type.",
            constraints: "On a type that derives `CrdSchema`, and on its fields.",
            example: "#[schema(title = \"Widget\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "schemars",
            syntax: "#[schemars(..)]",
            description: "The attributes of schemars, which `CrdSchema` honours too: `with`, `range`, `length`, \
                          `regex`, `extend` and others.",
            constraints: "`#[schema(..)]` has keys for most of them.",
            example: "#[schemars(extend(\"x-kubernetes-map-type\" = \"atomic\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "deep_copy",
            syntax: "#[deep_copy(..)]",
            description: "Sets how a type or a field is copied.",
            example: "#[deep_copy(clone)]",
            ..EMPTY
        },
        AttributeKey {
            key: "apply",
            syntax: "#[apply(..)]",
            description: "Sets how a field appears in an apply configuration.",
            example: "#[apply(atomic)]",
            ..EMPTY
        },
        AttributeKey {
            key: "convert",
            syntax: "#[convert(..)]",
            description: "Declares how a type, a field or a variant converts into the hub.",
            example: "#[convert(hub)]",
            ..EMPTY
        },
        AttributeKey {
            key: "defaults",
            syntax: "#[kubewright::defaults]",
            go_tags: &["+k8s:defaulter-gen=true"],
            description: "Reads `#[default(..)]` on the fields, and uses it for decoding, the schema and `Default`.",
            constraints: "Above the derives of a struct or an enum.",
            example: "#[kubewright::defaults]",
            ..EMPTY
        },
        AttributeKey {
            key: "default",
            syntax: "#[default(..)]",
            go_tags: &["+default=", "+default=ref(..)", "+kubebuilder:default="],
            description: "The value of a field that is absent: a literal, the path of a constant, or `with` and a \
                          function.",
            constraints: "The type has `#[kubewright::defaults]` above its derives. For an `Option` it is the value \
                          inside.",
            example: "#[default(30)]",
            ..EMPTY
        },
        AttributeKey {
            key: "serde",
            syntax: "#[serde(..)]",
            go_tags: &["json:\"..\""],
            description: "JSON names. The derives honour only the serde attributes that are listed here.",
            constraints: "`Object` and `ObjectList` implement `Serialize` and `Deserialize` themselves and reject \
                          other serde attributes. Nested types accept all of them.",
            example: "#[serde(rename_all = \"camelCase\")]",
            ..EMPTY
        },
    ],
};

pub(crate) const MACROS: Section = Section {
    name: "macro",
    nested: false,
    title: "Macros in a module",
    accepted_by: &[],
    keys: &[
        AttributeKey {
            key: "group_version",
            syntax: "kubewright::group_version! { .. }",
            go_tags: &["+k8s:register-gen=true"],
            description: "Declares a version of an API group with its kinds, as `doc.go` and `register.go` do in Go.",
            constraints: "Once, in the module where the kinds are public. Defines `GROUP_VERSION`, `resource(..)`, \
                          `add_to_scheme(..)` and `API_GROUP`.",
            example: "kubewright::group_version! { group = \"example.com\", version = \"v1\", kinds = [Widget, WidgetList] }",
            ..EMPTY
        },
        AttributeKey {
            key: "adopt",
            syntax: "kubewright::adopt! { .. }",
            description: "Passes kinds that are declared elsewhere to the generator, which generates clients, \
                          listers and informers for them.",
            constraints: "No CRD file is generated for them; the fake clientset serves the definitions of kube's \
                          derive. Defines `api_groups()`, the input of the generator.",
            example: "kubewright::adopt! { built_in = [k8s_openapi::api::core::v1::Pod] }",
            ..EMPTY
        },
    ],
};

pub(crate) const DEFAULTS: Section = Section {
    name: "defaults",
    nested: false,
    title: "#[kubewright::defaults(..)] on a type",
    accepted_by: &["defaults"],
    keys: &[crate_key("#[kubewright::defaults(crate = my_core)]")],
};

pub(crate) const GROUP_VERSION: Section = Section {
    name: "group_version",
    nested: false,
    title: "group_version! { .. }, in the module of a version",
    accepted_by: &["group_version"],
    keys: &[
        AttributeKey {
            key: "group",
            syntax: "group = \"example.com\"",
            go_tags: &["+groupName="],
            description: "The API group.",
            constraints: "Required. A domain name with a dot, or a built-in group of Kubernetes; `\"\"` is the core \
                          group.",
            example: "kubewright::group_version! { group = \"example.com\", version = \"v1\", kinds = [Widget] }",
            ..EMPTY
        },
        AttributeKey {
            key: "version",
            syntax: "version = \"v1\"",
            go_tags: &["+versionName="],
            description: "The version of the group; in Go it is the name of the directory.",
            constraints: "Required. A DNS-1035 label. Kubernetes sorts `v1`, `v1beta1` and `v1alpha1` by stability, \
                          all other names last.",
            example: "kubewright::group_version! { group = \"example.com\", version = \"v1beta1\", kinds = [Widget] }",
            ..EMPTY
        },
        AttributeKey {
            key: "kinds",
            syntax: "kinds = [Widget, WidgetList]",
            description: "The kinds and lists of this version.",
            constraints: "Required. By their names in this module, perhaps with `#[cfg(..)]`: re-export types of other \
                          modules with `pub use`.",
            example: "kubewright::group_version! { group = \"example.com\", version = \"v1\", kinds = [Widget, WidgetList] }",
            ..EMPTY
        },
        AttributeKey {
            key: "group_ident",
            syntax: "group_ident = \"second_example\"",
            go_tags: &["+groupGoName="],
            description: "The identifier of the group in generated names.",
            constraints: "Default: the first label of the group; groups with the same first label get their full \
                          names.",
            example: "kubewright::group_version! { group = \"example.org\", version = \"v1\", group_ident = \
                      \"second_example\", kinds = [Widget] }",
            ..EMPTY
        },
        crate_key(
            "kubewright::group_version! { crate = my_core, group = \"example.com\", version = \"v1\", kinds = \
             [Widget] }",
        ),
    ],
};

pub(crate) const ADOPT: Section = Section {
    name: "adopt",
    nested: false,
    title: "adopt! { .. }, in any module",
    accepted_by: &["adopt"],
    keys: &[
        AttributeKey {
            key: "built_in",
            syntax: "built_in = [k8s_openapi::api::core::v1::Pod]",
            description: "Built-in kinds of Kubernetes, by their types in k8s-openapi.",
            constraints: "Every verb is granted.",
            example: "kubewright::adopt! { built_in = [k8s_openapi::api::apps::v1::Deployment] }",
            ..EMPTY
        },
        AttributeKey {
            key: "custom_resources",
            syntax: "custom_resources = [Widget(status)]",
            description: "Types of kube's `CustomResource` derive, which provides group, version, names and scope.",
            constraints: "The parentheses contain the keys of `#[genclient]`. With `#[kube(derive = \
                          \"kubewright::ApplyConfiguration\")]`, and the derive on spec and status, a kind has an \
                          apply configuration.",
            example: "kubewright::adopt! { custom_resources = [crate::Widget(status), crate::Gauge(readonly)] }",
            ..EMPTY
        },
        crate_key("kubewright::adopt! { crate = my_core, built_in = [Pod] }"),
    ],
};

/// The Go tags of the keys that `#[genclient]` has too are listed there.
pub(crate) const ADOPTED: Section = Section {
    name: "custom_resources",
    nested: true,
    title: "adopt! { custom_resources = [Widget(..)] }, after a type",
    accepted_by: &["adopt"],
    keys: &[
        AttributeKey {
            key: "status",
            syntax: "status",
            description: "The kind has a status subresource. Grants `update_status` and `apply_status`.",
            example: "kubewright::adopt! { custom_resources = [Widget(status)] }",
            ..EMPTY
        },
        AttributeKey {
            example: "kubewright::adopt! { custom_resources = [Widget(status, no_status)] }",
            constraints: "",
            ..genclient::NO_STATUS
        },
        AttributeKey { example: "kubewright::adopt! { custom_resources = [Widget(no_verbs)] }", ..genclient::NO_VERBS },
        AttributeKey { example: "kubewright::adopt! { custom_resources = [Widget(readonly)] }", ..genclient::READONLY },
        AttributeKey {
            example: "kubewright::adopt! { custom_resources = [Widget(only_verbs = [get, list])] }",
            ..genclient::ONLY_VERBS
        },
        AttributeKey {
            example: "kubewright::adopt! { custom_resources = [Widget(skip_verbs = [delete])] }",
            ..genclient::SKIP_VERBS
        },
    ],
};
