//! The keys of `#[genclient(..)]` and of its nested lists.

use super::{AttributeKey, EMPTY, Section, verbs};

pub(crate) const GENCLIENT: Section = Section {
    name: "genclient",
    nested: false,
    title: "#[genclient(..)] on a kind",
    accepted_by: &["Object"],
    keys: &[NON_NAMESPACED, NO_STATUS, NO_VERBS, READONLY, ONLY_VERBS, SKIP_VERBS, METHOD_KEY, INDEX_KEY],
};

const NON_NAMESPACED: AttributeKey = AttributeKey {
    key: "non_namespaced",
    syntax: "non_namespaced",
    go_tags: &["+genclient:nonNamespaced"],
    description: "The kind is cluster-scoped: the client has no namespace parameter.",
    constraints: "Default: namespaced. Conflicts with `#[k8s(scope = \"Namespaced\")]`.",
    example: "#[genclient(non_namespaced)]",
    ..EMPTY
};

pub(super) const NO_STATUS: AttributeKey = AttributeKey {
    key: "no_status",
    syntax: "no_status",
    go_tags: &["+genclient:noStatus"],
    description: "The client has no `update_status` and no `apply_status`.",
    constraints: "The subresource itself is enabled by `#[k8s(subresource(status))]`.",
    example: "#[genclient(no_status)]",
    ..EMPTY
};

pub(super) const NO_VERBS: AttributeKey = AttributeKey {
    key: "no_verbs",
    syntax: "no_verbs",
    go_tags: &["+genclient:noVerbs"],
    description: "The client has no verbs, only its extension methods. There is no informer and no lister.",
    constraints: "Excludes `readonly`, `only_verbs` and `skip_verbs`.",
    example: "#[genclient(no_verbs)]",
    ..EMPTY
};

pub(super) const READONLY: AttributeKey = AttributeKey {
    key: "readonly",
    syntax: "readonly",
    go_tags: &["+genclient:readonly"],
    description: "The client has `get`, `list` and `watch` only.",
    constraints: "Excludes `no_verbs`, `only_verbs` and `skip_verbs`.",
    example: "#[genclient(readonly)]",
    ..EMPTY
};

pub(super) const ONLY_VERBS: AttributeKey = AttributeKey {
    key: "only_verbs",
    syntax: "only_verbs = [get, list]",
    values: verbs::names,
    go_tags: &["+genclient:onlyVerbs="],
    description: "The client has only these verbs. Any other verb is a compile error.",
    constraints: "Default: all verbs. Excludes `no_verbs`, `readonly` and `skip_verbs`. Without `list` and `watch` \
                  there is no informer; a lister needs `get` too.",
    example: "#[genclient(only_verbs = [get, list])]",
    ..EMPTY
};

pub(super) const SKIP_VERBS: AttributeKey = AttributeKey {
    key: "skip_verbs",
    syntax: "skip_verbs = [delete, delete_collection]",
    values: verbs::names,
    go_tags: &["+genclient:skipVerbs="],
    description: "The client has all verbs except these.",
    constraints: "Excludes `no_verbs`, `readonly` and `only_verbs`.",
    example: "#[genclient(skip_verbs = [delete, delete_collection])]",
    ..EMPTY
};

const METHOD_KEY: AttributeKey = AttributeKey {
    key: "method",
    syntax: "method(name = get_scale, verb = get, subresource = \"scale\", result = path::Type)",
    go_tags: &["+genclient:method="],
    description: "An extension method of the client: a verb under another name, on a subresource, or with other types.",
    constraints: "Can be repeated. The name must differ from all verbs and other extension methods.",
    example: "#[genclient(method(name = get_scale, verb = get, subresource = \"scale\", result = v1::Scale))]",
    repeated: true,
    ..EMPTY
};

const INDEX_KEY: AttributeKey = AttributeKey {
    key: "index",
    syntax: "index(name = by_state, by = path::function)",
    description: "An index of the informer's store: finds objects by a value without scanning all of them.",
    constraints: "Can be repeated. Requires `get`, `list` and `watch`. An index by namespace always exists.",
    example: "#[genclient(index(name = by_state, by = Widget::states))]",
    repeated: true,
    ..EMPTY
};

pub(crate) const METHOD: Section = Section {
    name: "method",
    nested: true,
    title: "#[genclient(method(..))], an extension method of the client",
    accepted_by: &["Object"],
    keys: &[
        AttributeKey {
            key: "name",
            syntax: "name = get_scale",
            description: "The name of the method.",
            constraints: "Required. In snake case, as it is called in Rust.",
            example: "#[genclient(method(name = rename, verb = update))]",
            required: true,
            ..EMPTY
        },
        AttributeKey {
            key: "verb",
            syntax: "verb = get",
            values: verbs::method_names,
            go_tags: &["+genclient:method=,verb="],
            description: "The operation of the method.",
            constraints: "Required. `create`, `update` and `apply` send `input`; all return `result`.",
            example: "#[genclient(method(name = replace, verb = update))]",
            required: true,
            ..EMPTY
        },
        AttributeKey {
            key: "subresource",
            syntax: "subresource = \"scale\"",
            go_tags: &["+genclient:method=,subresource="],
            description: "The subresource that the method operates on.",
            constraints: "Default: the object itself.",
            example: "#[genclient(method(name = log, verb = get, subresource = \"log\", result = path::Log))]",
            ..EMPTY
        },
        AttributeKey {
            key: "input",
            syntax: "input = path::Type",
            go_tags: &["+genclient:method=,input="],
            description: "The type of the request body.",
            constraints: "Default: the kind itself. Only with `create`, `update` and `apply`; `apply` takes the \
                          apply configuration of this type if it has one.",
            example: "#[genclient(method(name = update_scale, verb = update, subresource = \"scale\", \
                      input = v1::Scale, result = v1::Scale))]",
            ..EMPTY
        },
        AttributeKey {
            key: "result",
            syntax: "result = path::Type",
            go_tags: &["+genclient:method=,result="],
            description: "The type of the response body.",
            constraints: "Default: the kind itself; its list for `list`.",
            example: "#[genclient(method(name = get_scale, verb = get, subresource = \"scale\", result = v1::Scale))]",
            ..EMPTY
        },
    ],
};

pub(crate) const INDEX: Section = Section {
    name: "index",
    nested: true,
    title: "#[genclient(index(..))], an index of the informer's store",
    accepted_by: &["Object"],
    keys: &[
        AttributeKey {
            key: "name",
            syntax: "name = by_state",
            description: "The name of the index, by which it is queried.",
            constraints: "Required. In snake case.",
            example: "#[genclient(index(name = by_owner, by = owner_of))]",
            required: true,
            ..EMPTY
        },
        AttributeKey {
            key: "by",
            syntax: "by = path::function",
            description: "The function that returns the index values of an object.",
            constraints: "Required. It takes `&Self` and returns an iterable of strings: `Option<&str>`, \
                          `Vec<String>`.",
            example: "#[genclient(index(name = by_node, by = crate::index::nodes))]",
            required: true,
            ..EMPTY
        },
    ],
};
