//! `#[k8s(..)]` and what stands in its parentheses.

use super::{Keyword, Place, UNSAID, krate};
use crate::columns;

pub(crate) const K8S: Place = Place {
    name: "k8s",
    nested: false,
    title: "#[k8s(..)] on a kind",
    keywords: &[
        Keyword {
            word: "plural",
            form: "plural = \"widgets\"",
            go_tags: &["+kubebuilder:resource:path=", "+resourceName="],
            meaning: "The name of the resource in URLs. Clients, informers, the scheme and the CRD all take it from here.",
            rule: "By default made from the type's name, as client-gen does it: `NetworkPolicy` is `networkpolicies`.",
            example: "#[k8s(plural = \"geese\")]",
            ..UNSAID
        },
        Keyword {
            word: "singular",
            form: "singular = \"widget\"",
            go_tags: &["+kubebuilder:resource:singular="],
            meaning: "The name of one object for people, as in `kubectl get widget`.",
            rule: "By default the type's name in lower case.",
            example: "#[k8s(singular = \"goose\")]",
            ..UNSAID
        },
        Keyword {
            word: "short_names",
            form: "short_names = [\"wg\"]",
            go_tags: &["+kubebuilder:resource:shortName="],
            meaning: "Further names for `kubectl get`.",
            example: "#[k8s(short_names = [\"wg\", \"wgt\"])]",
            ..UNSAID
        },
        Keyword {
            word: "categories",
            form: "categories = [\"all\"]",
            go_tags: &["+kubebuilder:resource:categories="],
            meaning: "Names under which it is listed with other resources, such as `kubectl get all`.",
            example: "#[k8s(categories = [\"all\"])]",
            ..UNSAID
        },
        Keyword {
            word: "scope",
            form: "scope = \"Cluster\"",
            values: || vec!["Cluster", "Namespaced"],
            go_tags: &["+kubebuilder:resource:scope="],
            meaning: "Where objects live: in the cluster as a whole, or each in a namespace.",
            rule: "By default as `#[genclient]` says; without `#[genclient]` it must be said.",
            example: "#[k8s(scope = \"Cluster\")]",
        },
        Keyword {
            word: "subresource",
            form: "subresource(status)",
            meaning: "Parts of the object with an endpoint of their own: `status`, `scale(..)` or both.",
            example: "#[k8s(subresource(status))]",
            ..UNSAID
        },
        Keyword {
            word: "printcolumns",
            form: "printcolumns = [string(\"State\", \".status.state\")]",
            values: || columns::TYPES.to_vec(),
            go_tags: &["+kubebuilder:printcolumn:name=,type=,JSONPath="],
            meaning: "The columns of `kubectl get`: of each the type, the heading and the path in the object.",
            rule: "The path starts with a dot. Without columns the server shows the age.",
            example: "#[k8s(printcolumns = [string(\"State\", \".status.state\"), date(\"Age\", \
                      \".metadata.creationTimestamp\")])]",
        },
        Keyword {
            word: "lifecycle",
            form: "lifecycle(introduced = \"1.2\", deprecated = \"1.4\")",
            go_tags: &["+k8s:prerelease-lifecycle-gen=true"],
            meaning: "Since which release the kind is served, and how long: constants, a deprecated version in the CRD, \
                      `#[deprecated]` in the client.",
            example: "#[k8s(lifecycle(introduced = \"1.2\", deprecated = \"1.4\", removed = \"1.6\"))]",
            ..UNSAID
        },
        Keyword {
            word: "selectable_fields",
            form: "selectable_fields = [\".spec.color\"]",
            meaning: "JSON paths of fields that field selectors may ask for: `kubectl get --field-selector`.",
            rule: "Scalars, not in the metadata, eight at most. `#[schema(selectable)]` on a field says the same.",
            example: "#[k8s(selectable_fields = [\".spec.color\"])]",
            ..UNSAID
        },
        Keyword {
            word: "storage",
            form: "storage",
            go_tags: &["+kubebuilder:storageversion"],
            meaning: "Objects are stored in this version.",
            rule: "On one of a kind's versions; a kind with one version need not say it.",
            example: "#[k8s(storage)]",
            ..UNSAID
        },
        Keyword {
            word: "unserved",
            form: "unserved",
            go_tags: &["+kubebuilder:unservedversion"],
            meaning: "The version is in the definition, and not served.",
            rule: "On a kind without `#[genclient]`.",
            example: "#[k8s(unserved)]",
            ..UNSAID
        },
        Keyword {
            word: "metadata",
            form: "metadata(annotations = [\"name=value\"])",
            go_tags: &["+kubebuilder:metadata:"],
            meaning: "Annotations and labels of the definition itself. Objects of the kind do not get them.",
            rule: "Several versions of a kind add theirs up.",
            example: "#[k8s(metadata(annotations = [\"helm.sh/resource-policy=keep\"]))]",
            ..UNSAID
        },
        krate("#[k8s(crate = my_core)]"),
    ],
};

pub(crate) const METADATA: Place = Place {
    name: "metadata",
    nested: true,
    title: "#[k8s(metadata(..))], of the definition itself",
    keywords: &[
        Keyword {
            word: "annotations",
            form: "annotations = [\"name=value\"]",
            go_tags: &["+kubebuilder:metadata:annotations="],
            meaning: "Annotations of the definition.",
            example: "#[k8s(metadata(annotations = [\"helm.sh/resource-policy=keep\"]))]",
            ..UNSAID
        },
        Keyword {
            word: "labels",
            form: "labels = [\"name=value\"]",
            go_tags: &["+kubebuilder:metadata:labels="],
            meaning: "Labels of the definition.",
            example: "#[k8s(metadata(labels = [\"app=widgets\"]))]",
            ..UNSAID
        },
    ],
};

pub(crate) const LIFECYCLE: Place = Place {
    name: "lifecycle",
    nested: true,
    title: "#[k8s(lifecycle(..))], releases of what serves the kind",
    keywords: &[
        Keyword {
            word: "introduced",
            form: "introduced = \"1.2\"",
            go_tags: &["+k8s:prerelease-lifecycle-gen:introduced="],
            meaning: "The release that first serves it, `major.minor`.",
            rule: "It must be said.",
            example: "#[k8s(lifecycle(introduced = \"1.2\"))]",
            ..UNSAID
        },
        Keyword {
            word: "deprecated",
            form: "deprecated = \"1.4\"",
            go_tags: &[
                "+k8s:prerelease-lifecycle-gen:deprecated=",
                "+kubebuilder:deprecatedversion",
                "+kubebuilder:deprecatedversion:warning=",
            ],
            meaning: "The release that deprecates it: server and rustc warn.",
            rule: "Not before `introduced`. The note of Rust's own `#[deprecated]` on the kind is added to the warning.",
            example: "#[k8s(lifecycle(introduced = \"1.2\", deprecated = \"1.4\"))]",
            ..UNSAID
        },
        Keyword {
            word: "removed",
            form: "removed = \"1.6\"",
            go_tags: &["+k8s:prerelease-lifecycle-gen:removed="],
            meaning: "The first release that does not serve it any more.",
            rule: "After `deprecated`.",
            example: "#[k8s(lifecycle(introduced = \"1.2\", deprecated = \"1.4\", removed = \"1.6\"))]",
            ..UNSAID
        },
        Keyword {
            word: "replacement",
            form: "replacement = path::Kind",
            go_tags: &["+k8s:prerelease-lifecycle-gen:replacement="],
            meaning: "The kind to use instead.",
            example: "#[k8s(lifecycle(introduced = \"1.2\", deprecated = \"1.4\", replacement = v2::Gadget))]",
            ..UNSAID
        },
    ],
};

pub(crate) const SUBRESOURCE: Place = Place {
    name: "subresource",
    nested: true,
    title: "#[k8s(subresource(..))], parts with an endpoint of their own",
    keywords: &[
        Keyword {
            word: "status",
            form: "status",
            go_tags: &["+kubebuilder:subresource:status"],
            meaning: "The status is written through its own endpoint only. Grants `update_status` and `apply_status`.",
            rule: "The kind needs a field `status` that a new object may lack: an `Option`, or with `#[serde(default)]`.",
            example: "#[k8s(subresource(status))]",
            ..UNSAID
        },
        Keyword {
            word: "scale",
            form: "scale(spec_path = \"..\", status_path = \"..\")",
            go_tags: &["+kubebuilder:subresource:scale"],
            meaning: "The endpoint of `kubectl scale` and of autoscalers; the paths say where its numbers are.",
            example: "#[k8s(subresource(scale(spec_path = \".spec.replicas\", status_path = \".status.replicas\")))]",
            ..UNSAID
        },
    ],
};

pub(crate) const SCALE: Place = Place {
    name: "scale",
    nested: true,
    title: "#[k8s(subresource(scale(..)))], the endpoint of `kubectl scale`",
    keywords: &[
        Keyword {
            word: "spec_path",
            form: "spec_path = \".spec.replicas\"",
            go_tags: &["+kubebuilder:subresource:scale:specpath="],
            meaning: "Where the wanted number of replicas is.",
            rule: "Starts with `.spec.`; it must be said.",
            example: "#[k8s(subresource(scale(spec_path = \".spec.size\", status_path = \".status.size\")))]",
            ..UNSAID
        },
        Keyword {
            word: "status_path",
            form: "status_path = \".status.replicas\"",
            go_tags: &["+kubebuilder:subresource:scale:statuspath="],
            meaning: "Where the number of replicas that are there is.",
            rule: "Starts with `.status.`; it must be said.",
            example: "#[k8s(subresource(scale(spec_path = \".spec.size\", status_path = \".status.size\")))]",
            ..UNSAID
        },
        Keyword {
            word: "selector_path",
            form: "selector_path = \".status.selector\"",
            go_tags: &["+kubebuilder:subresource:scale:selectorpath="],
            meaning: "Where the label selector of the replicas is, as text. Autoscalers need it.",
            rule: "Starts with `.status.` or `.spec.`.",
            example: "#[k8s(subresource(scale(spec_path = \".spec.size\", status_path = \".status.size\", \
                      selector_path = \".status.selector\")))]",
            ..UNSAID
        },
    ],
};

pub(crate) const COLUMN: Place = Place {
    name: "printcolumns",
    nested: true,
    title: "#[k8s(printcolumns = [..])], after a column",
    keywords: &[
        Keyword {
            word: "description",
            form: ".description(\"..\")",
            go_tags: &["+kubebuilder:printcolumn:description="],
            meaning: "Text about the column, for tools that show it.",
            example: "#[k8s(printcolumns = [string(\"State\", \".status.state\").description(\"What it is up to\")])]",
            ..UNSAID
        },
        Keyword {
            word: "format",
            form: ".format(\"..\")",
            go_tags: &["+kubebuilder:printcolumn:format="],
            meaning: "How the value is to be read, such as `int64` or `date-time`.",
            example: "#[k8s(printcolumns = [integer(\"Size\", \".spec.size\").format(\"int64\")])]",
            ..UNSAID
        },
        Keyword {
            word: "priority",
            form: ".priority(1)",
            go_tags: &["+kubebuilder:printcolumn:priority="],
            meaning: "Whether the column is always shown (0) or with `kubectl get -o wide` only (1 or more).",
            rule: "By default 0.",
            example: "#[k8s(printcolumns = [string(\"Node\", \".spec.node\").priority(1)])]",
            ..UNSAID
        },
    ],
};

pub(crate) const LIST: Place =
    Place { name: "k8s", nested: false, title: "#[k8s(..)] on a list", keywords: &[krate("#[k8s(crate = my_core)]")] };
