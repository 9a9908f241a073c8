//! `#[genclient(..)]` and what stands in its parentheses.

use super::{Keyword, Place, UNSAID};
use crate::{methods, verbs};

pub(crate) const GENCLIENT: Place = Place {
    name: "genclient",
    nested: false,
    title: "#[genclient(..)] on a kind",
    keywords: &[NON_NAMESPACED, NO_STATUS, NO_VERBS, READONLY, ONLY_VERBS, SKIP_VERBS, METHOD_KEYWORD, INDEX_KEYWORD],
};

const NON_NAMESPACED: Keyword = Keyword {
    word: "non_namespaced",
    form: "non_namespaced",
    go_tags: &["+genclient:nonNamespaced"],
    meaning: "Objects live in the cluster, not in a namespace: the getter of the client takes no namespace.",
    rule: "By default they are namespaced. `#[k8s(scope = \"Namespaced\")]` beside it is an error.",
    example: "#[genclient(non_namespaced)]",
    ..UNSAID
};

pub(super) const NO_STATUS: Keyword = Keyword {
    word: "no_status",
    form: "no_status",
    go_tags: &["+genclient:noStatus"],
    meaning: "The client has no `update_status` and no `apply_status`.",
    rule: "The endpoint itself is there or not by `#[k8s(subresource(status))]`.",
    example: "#[genclient(no_status)]",
    ..UNSAID
};

pub(super) const NO_VERBS: Keyword = Keyword {
    word: "no_verbs",
    form: "no_verbs",
    go_tags: &["+genclient:noVerbs"],
    meaning: "The client has no verbs, only the methods that are added to it. There is no informer and no lister.",
    rule: "Excludes `readonly`, `only_verbs` and `skip_verbs`.",
    example: "#[genclient(no_verbs)]",
    ..UNSAID
};

pub(super) const READONLY: Keyword = Keyword {
    word: "readonly",
    form: "readonly",
    go_tags: &["+genclient:readonly"],
    meaning: "The client has `get`, `list` and `watch`, no other verbs.",
    rule: "Excludes `no_verbs`, `only_verbs` and `skip_verbs`.",
    example: "#[genclient(readonly)]",
    ..UNSAID
};

pub(super) const ONLY_VERBS: Keyword = Keyword {
    word: "only_verbs",
    form: "only_verbs = [get, list]",
    values: verbs::words,
    go_tags: &["+genclient:onlyVerbs="],
    meaning: "The client has these verbs, no others. A verb it has not is a compile error.",
    rule: "By default every verb is granted. Excludes `no_verbs`, `readonly` and `skip_verbs`. Without `list` and `watch` \
           there is no informer; a lister needs `get` too.",
    example: "#[genclient(only_verbs = [get, list])]",
};

pub(super) const SKIP_VERBS: Keyword = Keyword {
    word: "skip_verbs",
    form: "skip_verbs = [delete, delete_collection]",
    values: verbs::words,
    go_tags: &["+genclient:skipVerbs="],
    meaning: "The client has every verb but these.",
    rule: "Excludes `no_verbs`, `readonly` and `only_verbs`.",
    example: "#[genclient(skip_verbs = [delete, delete_collection])]",
};

const METHOD_KEYWORD: Keyword = Keyword {
    word: "method",
    form: "method(name = get_scale, verb = get, subresource = \"scale\", result = path::Type)",
    go_tags: &["+genclient:method="],
    meaning: "One more method of the client: a verb under another name, on a subresource, or with other types.",
    rule: "Once per method. The name is no verb and no name of another method.",
    example: "#[genclient(method(name = get_scale, verb = get, subresource = \"scale\", result = v1::Scale))]",
    ..UNSAID
};

const INDEX_KEYWORD: Keyword = Keyword {
    word: "index",
    form: "index(name = by_state, by = path::function)",
    meaning: "An index of the informer's store, so that objects are found by a value without looking at all of them.",
    rule: "Once per index. It needs `get`, `list` and `watch`. There always is one by namespace.",
    example: "#[genclient(index(name = by_state, by = Widget::states))]",
    ..UNSAID
};

pub(crate) const METHOD: Place = Place {
    name: "method",
    nested: true,
    title: "#[genclient(method(..))], a further method of the client",
    keywords: &[
        Keyword {
            word: "name",
            form: "name = get_scale",
            meaning: "The name of the method.",
            rule: "In snake case, as the method is called in Rust; it must be said.",
            example: "#[genclient(method(name = rename, verb = update))]",
            ..UNSAID
        },
        Keyword {
            word: "verb",
            form: "verb = get",
            values: methods::verbs,
            go_tags: &["+genclient:method=,verb="],
            meaning: "What the method does.",
            rule: "It must be said. `create`, `update` and `apply` send `input`; all of them return `result`.",
            example: "#[genclient(method(name = replace, verb = update))]",
        },
        Keyword {
            word: "subresource",
            form: "subresource = \"scale\"",
            go_tags: &["+genclient:method=,subresource="],
            meaning: "The part of the object that the method is about.",
            rule: "By default the object itself.",
            example: "#[genclient(method(name = log, verb = get, subresource = \"log\", result = path::Log))]",
            ..UNSAID
        },
        Keyword {
            word: "input",
            form: "input = path::Type",
            go_tags: &["+genclient:method=,input="],
            meaning: "The type of what is sent.",
            rule: "By default the kind itself. Only with `create`, `update` and `apply`; `apply` takes the apply \
                   configuration of this type if it has one.",
            example: "#[genclient(method(name = update_scale, verb = update, subresource = \"scale\", \
                      input = v1::Scale, result = v1::Scale))]",
            ..UNSAID
        },
        Keyword {
            word: "result",
            form: "result = path::Type",
            go_tags: &["+genclient:method=,result="],
            meaning: "The type of what comes back.",
            rule: "By default the kind itself; its list for `list`.",
            example: "#[genclient(method(name = get_scale, verb = get, subresource = \"scale\", result = v1::Scale))]",
            ..UNSAID
        },
    ],
};

pub(crate) const INDEX: Place = Place {
    name: "index",
    nested: true,
    title: "#[genclient(index(..))], an index of the informer's store",
    keywords: &[
        Keyword {
            word: "name",
            form: "name = by_state",
            meaning: "The name of the index, by which it is asked.",
            rule: "In snake case; it must be said.",
            example: "#[genclient(index(name = by_owner, by = owner_of))]",
            ..UNSAID
        },
        Keyword {
            word: "by",
            form: "by = path::function",
            meaning: "The function that tells under which values an object is found.",
            rule: "It takes `&Self` and returns what yields strings: `Option<&str>`, `Vec<String>`. It must be said.",
            example: "#[genclient(index(name = by_node, by = crate::index::nodes))]",
            ..UNSAID
        },
    ],
};
