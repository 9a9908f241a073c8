//! The keys of `#[k8s(..)]` and of its nested lists.

use super::{AttributeKey, EMPTY, Section, crate_key};

/// The column types of the API server.
pub(crate) const COLUMN_TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];

pub(crate) const K8S: Section = Section {
    name: "k8s",
    nested: false,
    title: "#[k8s(..)] on a kind",
    accepted_by: &["Object"],
    keys: &[
        AttributeKey {
            key: "kind",
            syntax: "kind = \"Foo-Bar\"",
            description: "The kind, if it is not the type name. Generated types still have the type name.",
            constraints: "Default: the type name. At most 63 letters, digits and `-`, starting with a letter.",
            example: "#[k8s(kind = \"Foo-Bar\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "list",
            syntax: "list = WidgetList",
            description: "The list type of a kind that derives `ApiObject`, if it is written by hand.",
            constraints: "The type derives `ObjectList` with items of this kind. Default: the type is generated.",
            example: "#[k8s(list = WidgetList)]",
            ..EMPTY
        },
        AttributeKey {
            key: "plural",
            syntax: "plural = \"widgets\"",
            go_tags: &["+kubebuilder:resource:path=", "+resourceName="],
            description: "The name of the resource in URLs, used by clients, informers, the scheme and the CRD.",
            constraints: "Default: derived from the kind, as client-gen does it: `NetworkPolicy` is `networkpolicies`.",
            example: "#[k8s(plural = \"geese\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "singular",
            syntax: "singular = \"widget\"",
            go_tags: &["+kubebuilder:resource:singular="],
            description: "The singular name of the resource, as in `kubectl get widget`.",
            constraints: "Default: the kind in lower case.",
            example: "#[k8s(singular = \"goose\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "short_names",
            syntax: "short_names = [\"wg\"]",
            go_tags: &["+kubebuilder:resource:shortName="],
            description: "Short names for `kubectl get`.",
            example: "#[k8s(short_names = [\"wg\", \"wgt\"])]",
            ..EMPTY
        },
        AttributeKey {
            key: "categories",
            syntax: "categories = [\"all\"]",
            go_tags: &["+kubebuilder:resource:categories="],
            description: "Groups of resources that it belongs to, as in `kubectl get all`.",
            example: "#[k8s(categories = [\"all\"])]",
            ..EMPTY
        },
        AttributeKey {
            key: "scope",
            syntax: "scope = \"Cluster\"",
            values: || vec!["Cluster", "Namespaced"],
            go_tags: &["+kubebuilder:resource:scope="],
            description: "Whether objects are cluster-scoped or namespaced.",
            constraints: "Default: as `#[genclient]` declares; required without `#[genclient]`.",
            example: "#[k8s(scope = \"Cluster\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "subresource",
            syntax: "subresource(status)",
            description: "The subresources of the kind: `status`, `scale(..)` or both.",
            example: "#[k8s(subresource(status))]",
            ..EMPTY
        },
        AttributeKey {
            key: "printcolumns",
            syntax: "printcolumns = [string(\"State\", \".status.state\")]",
            values: || COLUMN_TYPES.to_vec(),
            go_tags: &["+kubebuilder:printcolumn:name=,type=,JSONPath="],
            description: "The columns of `kubectl get`, each with type, heading and JSON path.",
            constraints: "The path starts with a dot. Without columns the server shows the age.",
            example: "#[k8s(printcolumns = [string(\"State\", \".status.state\"), date(\"Age\", \
                      \".metadata.creationTimestamp\")])]",
            ..EMPTY
        },
        AttributeKey {
            key: "lifecycle",
            syntax: "lifecycle(introduced = \"1.2\", deprecated = \"1.4\")",
            go_tags: &["+k8s:prerelease-lifecycle-gen=true"],
            description: "The releases in which the kind is introduced, deprecated and removed. Sets constants, the \
                          deprecation of the version in the CRD, and `#[deprecated]` on the client.",
            example: "#[k8s(lifecycle(introduced = \"1.2\", deprecated = \"1.4\", removed = \"1.6\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "selectable_fields",
            syntax: "selectable_fields = [\".spec.color\"]",
            description: "JSON paths of the fields that field selectors can use: `kubectl get --field-selector`.",
            constraints: "Scalars outside of the metadata, at most eight. `#[schema(selectable)]` on a field is \
                          equivalent.",
            example: "#[k8s(selectable_fields = [\".spec.color\"])]",
            ..EMPTY
        },
        AttributeKey {
            key: "storage",
            syntax: "storage",
            go_tags: &["+kubebuilder:storageversion"],
            description: "Objects are stored in this version.",
            constraints: "On exactly one version of a kind; can be omitted on a kind with one version.",
            example: "#[k8s(storage)]",
            ..EMPTY
        },
        AttributeKey {
            key: "unserved",
            syntax: "unserved",
            go_tags: &["+kubebuilder:unservedversion"],
            description: "The version is in the definition, but is not served.",
            constraints: "On a kind without `#[genclient]`.",
            example: "#[k8s(unserved)]",
            ..EMPTY
        },
        AttributeKey {
            key: "metadata",
            syntax: "metadata(annotations = [\"name=value\"])",
            go_tags: &["+kubebuilder:metadata:"],
            description: "Annotations and labels of the CustomResourceDefinition. Objects of the kind do not get them.",
            constraints: "Those of all versions of a kind are merged.",
            example: "#[k8s(metadata(annotations = [\"helm.sh/resource-policy=keep\"]))]",
            ..EMPTY
        },
        AttributeKey {
            key: "conversion",
            syntax: "conversion(service = \"..\", namespace = \"..\")",
            description: "How the API server converts objects between the versions of the kind, if their schemas \
                          differ: `spec.conversion` of the definition.",
            constraints: "Default: by a webhook of the operator if the kind derives `Convert`. Required for other kinds \
                          whose versions differ; the same on all versions that declare it. One of `webhook`, `service` \
                          and `none`.",
            example: "#[k8s(conversion(service = \"widget-webhooks\", namespace = \"widgets\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "allow",
            syntax: "allow(version_name)",
            description: "Warnings of the generator that are not reported for the kind.",
            example: "#[k8s(allow(status_without_subresource))]",
            ..EMPTY
        },
        crate_key("#[k8s(crate = my_core)]"),
    ],
};

pub(crate) const ALLOW: Section = Section {
    name: "allow",
    nested: true,
    title: "#[k8s(allow(..))], warnings that are not reported",
    accepted_by: &["Object"],
    keys: &[
        AttributeKey {
            key: "status_without_subresource",
            syntax: "status_without_subresource",
            description: "The kind has a status without the status subresource: a write of the object writes it, too.",
            example: "#[k8s(allow(status_without_subresource))]",
            ..EMPTY
        },
        AttributeKey {
            key: "status_type",
            syntax: "status_type",
            description: "The status is not an object, so that it can have no conditions.",
            example: "#[k8s(allow(status_type))]",
            ..EMPTY
        },
        AttributeKey {
            key: "version_name",
            syntax: "version_name",
            description: "The version is not named like `v1` or `v1beta1`: it sorts after all others, and no client \
                          prefers it.",
            example: "#[k8s(allow(version_name))]",
            ..EMPTY
        },
    ],
};

pub(crate) const METADATA: Section = Section {
    name: "metadata",
    nested: true,
    title: "#[k8s(metadata(..))], annotations and labels of the definition",
    accepted_by: &["Object"],
    keys: &[
        AttributeKey {
            key: "annotations",
            syntax: "annotations = [\"name=value\"]",
            go_tags: &["+kubebuilder:metadata:annotations="],
            description: "Annotations of the definition.",
            example: "#[k8s(metadata(annotations = [\"helm.sh/resource-policy=keep\"]))]",
            ..EMPTY
        },
        AttributeKey {
            key: "labels",
            syntax: "labels = [\"name=value\"]",
            go_tags: &["+kubebuilder:metadata:labels="],
            description: "Labels of the definition.",
            example: "#[k8s(metadata(labels = [\"app=widgets\"]))]",
            ..EMPTY
        },
    ],
};

pub(crate) const CONVERSION: Section = Section {
    name: "conversion",
    nested: true,
    title: "#[k8s(conversion(..))], the conversion of objects between versions",
    accepted_by: &["Object"],
    keys: &[
        AttributeKey {
            key: "webhook",
            syntax: "webhook",
            description: "A webhook of the operator converts. The manifests of the operator add its location to the \
                          definition: `config/`, the chart, the bundle and `crds apply`.",
            constraints: "Implied by `#[derive(Convert)]`.",
            example: "#[k8s(conversion(webhook))]",
            ..EMPTY
        },
        AttributeKey {
            key: "service",
            syntax: "service = \"widget-webhooks\"",
            description: "The name of the Service of the webhook, if the manifests of this operator do not contain it. \
                          The generated definition contains the location, and `crds apply` retains it.",
            constraints: "A DNS-1035 label. Requires `namespace`. `cargo xtask manifests` fails if the operator registers \
                          the conversion as well.",
            example: "#[k8s(conversion(service = \"widget-webhooks\", namespace = \"widgets\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "namespace",
            syntax: "namespace = \"widgets\"",
            description: "The namespace of the Service.",
            constraints: "Requires `service`.",
            example: "#[k8s(conversion(service = \"webhooks\", namespace = \"widgets\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "path",
            syntax: "path = \"/convert\"",
            description: "The path of the webhook.",
            constraints: "Requires `service`. Default: `/convert/<plural>.<group>`, that of \
                          `ConversionWebhookDescription::new`.",
            example: "#[k8s(conversion(service = \"webhooks\", namespace = \"widgets\", path = \"/convert\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "port",
            syntax: "port = 9443",
            description: "The port of the Service.",
            constraints: "From 1 to 65535. Requires `service`. Default: 443.",
            example: "#[k8s(conversion(service = \"webhooks\", namespace = \"widgets\", port = 9443))]",
            ..EMPTY
        },
        AttributeKey {
            key: "none",
            syntax: "none = \"reason\"",
            description: "Objects are not converted: the API server changes their `apiVersion`, prunes fields that the \
                          schema of a version does not have, and applies its defaults.",
            constraints: "The reason why the differences between the versions lose nothing.",
            example: "#[k8s(conversion(none = \"v1 is not used any more\"))]",
            ..EMPTY
        },
    ],
};

pub(crate) const LIFECYCLE: Section = Section {
    name: "lifecycle",
    nested: true,
    title: "#[k8s(lifecycle(..))], the releases that serve the kind",
    accepted_by: &["Object"],
    keys: &[
        AttributeKey {
            key: "introduced",
            syntax: "introduced = \"1.2\"",
            go_tags: &["+k8s:prerelease-lifecycle-gen:introduced="],
            description: "The first release that serves the kind, as `major.minor`.",
            constraints: "Required.",
            example: "#[k8s(lifecycle(introduced = \"1.2\"))]",
            required: true,
            ..EMPTY
        },
        AttributeKey {
            key: "deprecated",
            syntax: "deprecated = \"1.4\"",
            go_tags: &[
                "+k8s:prerelease-lifecycle-gen:deprecated=",
                "+kubebuilder:deprecatedversion",
                "+kubebuilder:deprecatedversion:warning=",
            ],
            description: "The release that deprecates the kind: the server and rustc warn.",
            constraints: "Not before `introduced`. The note of Rust's own `#[deprecated]` on the kind is appended to \
                          the warning.",
            example: "#[k8s(lifecycle(introduced = \"1.2\", deprecated = \"1.4\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "removed",
            syntax: "removed = \"1.6\"",
            go_tags: &["+k8s:prerelease-lifecycle-gen:removed="],
            description: "The first release that does not serve the kind any more.",
            constraints: "After `deprecated`.",
            example: "#[k8s(lifecycle(introduced = \"1.2\", deprecated = \"1.4\", removed = \"1.6\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "replacement",
            syntax: "replacement = path::Kind",
            go_tags: &["+k8s:prerelease-lifecycle-gen:replacement="],
            description: "The kind to use instead.",
            example: "#[k8s(lifecycle(introduced = \"1.2\", deprecated = \"1.4\", replacement = v2::Gadget))]",
            ..EMPTY
        },
    ],
};

pub(crate) const SUBRESOURCE: Section = Section {
    name: "subresource",
    nested: true,
    title: "#[k8s(subresource(..))], the subresources of the kind",
    accepted_by: &["Object"],
    keys: &[
        AttributeKey {
            key: "status",
            syntax: "status",
            go_tags: &["+kubebuilder:subresource:status"],
            description: "The status is written through its own endpoint only. Grants `update_status` and \
                          `apply_status`.",
            constraints: "Requires a field `status`, which is optional for new objects: an `Option`, or with \
                          `#[serde(default)]`.",
            example: "#[k8s(subresource(status))]",
            ..EMPTY
        },
        AttributeKey {
            key: "scale",
            syntax: "scale(spec_path = \"..\", status_path = \"..\")",
            go_tags: &["+kubebuilder:subresource:scale"],
            description: "The endpoint of `kubectl scale` and of autoscalers. The paths locate the replica counts.",
            example: "#[k8s(subresource(scale(spec_path = \".spec.replicas\", status_path = \".status.replicas\")))]",
            ..EMPTY
        },
    ],
};

pub(crate) const SCALE: Section = Section {
    name: "scale",
    nested: true,
    title: "#[k8s(subresource(scale(..)))], the endpoint of `kubectl scale`",
    accepted_by: &["Object"],
    keys: &[
        AttributeKey {
            key: "spec_path",
            syntax: "spec_path = \".spec.replicas\"",
            go_tags: &["+kubebuilder:subresource:scale:specpath="],
            description: "The JSON path of the desired number of replicas.",
            constraints: "Required. Starts with `.spec.`.",
            example: "#[k8s(subresource(scale(spec_path = \".spec.size\", status_path = \".status.size\")))]",
            required: true,
            ..EMPTY
        },
        AttributeKey {
            key: "status_path",
            syntax: "status_path = \".status.replicas\"",
            go_tags: &["+kubebuilder:subresource:scale:statuspath="],
            description: "The JSON path of the observed number of replicas.",
            constraints: "Required. Starts with `.status.`.",
            example: "#[k8s(subresource(scale(spec_path = \".spec.size\", status_path = \".status.size\")))]",
            required: true,
            ..EMPTY
        },
        AttributeKey {
            key: "selector_path",
            syntax: "selector_path = \".status.selector\"",
            go_tags: &["+kubebuilder:subresource:scale:selectorpath="],
            description: "The JSON path of the label selector of the replicas, as a string. Autoscalers need it.",
            constraints: "Starts with `.status.` or `.spec.`.",
            example: "#[k8s(subresource(scale(spec_path = \".spec.size\", status_path = \".status.size\", \
                      selector_path = \".status.selector\")))]",
            ..EMPTY
        },
    ],
};

pub(crate) const COLUMN: Section = Section {
    name: "printcolumns",
    nested: true,
    title: "#[k8s(printcolumns = [..])], methods of a column",
    accepted_by: &["Object"],
    keys: &[
        AttributeKey {
            key: "description",
            syntax: ".description(\"..\")",
            go_tags: &["+kubebuilder:printcolumn:description="],
            description: "The description of the column, for tools that show it.",
            example: "#[k8s(printcolumns = [string(\"State\", \".status.state\").description(\"The current state\")])]",
            ..EMPTY
        },
        AttributeKey {
            key: "format",
            syntax: ".format(\"..\")",
            go_tags: &["+kubebuilder:printcolumn:format="],
            description: "The format of the value, such as `int64` or `date-time`.",
            example: "#[k8s(printcolumns = [integer(\"Size\", \".spec.size\").format(\"int64\")])]",
            ..EMPTY
        },
        AttributeKey {
            key: "priority",
            syntax: ".priority(1)",
            go_tags: &["+kubebuilder:printcolumn:priority="],
            description: "Columns with priority 0 are always shown, others only with `kubectl get -o wide`.",
            constraints: "Default: 0.",
            example: "#[k8s(printcolumns = [string(\"Node\", \".spec.node\").priority(1)])]",
            ..EMPTY
        },
    ],
};

pub(crate) const LIST: Section = Section {
    name: "k8s",
    nested: false,
    title: "#[k8s(..)] on a list",
    accepted_by: &["ObjectList"],
    keys: &[
        AttributeKey {
            key: "kind",
            syntax: "kind = \"Foo-BarList\"",
            description: "The list kind.",
            constraints: "Default: the type name. For `WidgetList` with items of type `Widget`: the kind of the items \
                          and `List`.",
            example: "#[k8s(kind = \"Foo-BarList\")]",
            ..EMPTY
        },
        crate_key("#[k8s(crate = my_core)]"),
    ],
};
