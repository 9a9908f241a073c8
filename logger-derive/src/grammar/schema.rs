//! The keys of `#[schema(..)]`: validation and merge rules of types, of fields and of the items of these.

use super::{AttributeKey, EMPTY, Section, crate_key};

/// The keys of types, of fields and of items.
const CONSTRAINTS: [AttributeKey; 24] = [
    MIN,
    MAX,
    EXCLUSIVE_MIN,
    EXCLUSIVE_MAX,
    MULTIPLE_OF,
    LENGTH,
    MAX_BYTES,
    ITEMS,
    PROPERTIES,
    PATTERN,
    FORMAT,
    NO_FORMAT,
    VALUES,
    NEQ,
    LIST_TYPE,
    LIST_MAP_KEYS,
    UNIQUE,
    MAP_TYPE,
    STRUCT_TYPE,
    PRESERVE_UNKNOWN_FIELDS,
    VALIDATION,
    TITLE,
    EXTERNAL_DOCS,
    ALLOW_FLOAT,
];

/// The keys of types alone.
const UNIONS: [AttributeKey; 4] = [EXACTLY_ONE_OF, AT_MOST_ONE_OF, AT_LEAST_ONE_OF, VIA];

/// The keys of fields, of which some are also those of items.
const PRESENCE: [AttributeKey; 11] = [
    NULLABLE,
    REQUIRED,
    FORBIDDEN,
    DEPENDENT_REQUIRED,
    DEPENDENT_FORBIDDEN,
    IMMUTABLE,
    MONOTONIC,
    UPDATE,
    EMBEDDED_RESOURCE,
    SCHEMALESS,
    DEPTH,
];

pub(crate) const SCHEMA_TYPE: Section = Section {
    name: "schema",
    nested: false,
    title: "#[schema(..)] on a type that derives CrdSchema",
    accepted_by: &["CrdSchema"],
    keys: &join::<31>(&[&UNIONS, &CONSTRAINTS, &[EACH, EACH_KEY], &[crate_key("#[schema(crate = my_core)]")]]),
};

pub(crate) const SCHEMA_FIELD: Section = Section {
    name: "schema",
    nested: false,
    title: "#[schema(..)] on a field of a type that derives CrdSchema",
    accepted_by: &["CrdSchema"],
    keys: &join::<39>(&[&CONSTRAINTS, &PRESENCE, &[EACH, EACH_KEY, COLUMN, SELECTABLE]]),
};

pub(crate) const SCHEMA_EACH: Section = Section {
    name: "each",
    nested: true,
    title: "#[schema(each(..))], for each item of a list and each value of a map",
    accepted_by: &["CrdSchema"],
    keys: &join::<28>(&[&CONSTRAINTS, &[EACH, EACH_KEY, NULLABLE, EMBEDDED_RESOURCE]]),
};

/// Joins lists of keys, `N` in total.
const fn join<const N: usize>(lists: &[&[AttributeKey]]) -> [AttributeKey; N] {
    let (mut joined, mut count, mut list) = ([EMPTY; N], 0, 0);
    while list < lists.len() {
        let mut i = 0;
        while i < lists[list].len() {
            joined[count] = lists[list][i];
            (count, i) = (count + 1, i + 1);
        }
        list += 1;
    }
    assert!(count == N);
    joined
}

pub(crate) const KEYS: Section = Section {
    name: "each_key",
    nested: true,
    title: "#[schema(each_key(..))], for each key of a map",
    accepted_by: &["CrdSchema"],
    keys: &[
        AttributeKey {
            key: "length",
            syntax: "length = 1..=63",
            description: "The number of characters of a key.",
            constraints: "Either bound can be omitted: `1..`, `..=63`.",
            example: "#[schema(each_key(length = 1..=63))]",
            ..EMPTY
        },
        AttributeKey {
            key: "pattern",
            syntax: "pattern = r\"^[a-z]+$\"",
            description: "A regular expression that a key must match.",
            constraints: "As `pattern` of a string.",
            example: "#[schema(each_key(pattern = \"^[a-z]+$\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "values",
            syntax: "values = [\"a\", \"b\"]",
            description: "The allowed keys.",
            constraints: "Strings.",
            example: "#[schema(each_key(values = [\"info\", \"debug\"]))]",
            ..EMPTY
        },
    ],
};

pub(crate) const RULE: Section = Section {
    name: "validation",
    nested: true,
    title: "#[schema(validation(..))], a validation rule in CEL",
    accepted_by: &["CrdSchema"],
    keys: &[
        AttributeKey {
            key: "rule",
            syntax: "rule = \"self.min <= self.max\"",
            description: "The rule: a CEL expression that is true for valid values.",
            constraints: "Required. `self` is the value, `oldSelf` its value before an update.",
            example: "#[schema(validation(rule = \"self >= oldSelf\"))]",
            required: true,
            ..EMPTY
        },
        AttributeKey {
            key: "message",
            syntax: "message = \"..\"",
            description: "The error message of a violation.",
            constraints: "One line. Required for a rule of several lines.",
            example: "#[schema(validation(rule = \"self > 0\", message = \"must be positive\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "message_expression",
            syntax: "message_expression = \"'..'\"",
            description: "A CEL expression that returns the error message.",
            constraints: "Takes precedence over `message`.",
            example: "#[schema(validation(rule = \"self > 0\", message_expression = \"string(self) + ' is not positive'\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "reason",
            syntax: "reason = \"FieldValueInvalid\"",
            description: "The reason of a violation in the `Status` of the response.",
            constraints: "One of `FieldValueInvalid` (the default), `FieldValueForbidden`, `FieldValueRequired` and \
                          `FieldValueDuplicate`.",
            example: "#[schema(validation(rule = \"self > 0\", reason = \"FieldValueForbidden\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "field_path",
            syntax: "field_path = \".size\"",
            description: "The path of the field that a violation is reported for, relative to the value.",
            constraints: "Must exist in the schema.",
            example: "#[schema(validation(rule = \"self.size > 0\", field_path = \".size\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "optional_old_self",
            syntax: "optional_old_self",
            description: "Evaluates the rule on creation too: `oldSelf` is an optional, and empty on creation.",
            constraints: "In a rule that uses `oldSelf`.",
            example: "#[schema(validation(rule = \"!oldSelf.hasValue() || self >= oldSelf.value()\", optional_old_self))]",
            ..EMPTY
        },
    ],
};

pub(crate) const FIELD_COLUMN: Section = Section {
    name: "column",
    nested: true,
    title: "#[schema(column(..))], a column of `kubectl get`",
    accepted_by: &["CrdSchema"],
    keys: &[
        AttributeKey {
            key: "name",
            syntax: "name = \"Level\"",
            description: "The heading.",
            constraints: "Required.",
            example: "#[schema(column(name = \"Level\"))]",
            required: true,
            ..EMPTY
        },
        AttributeKey {
            key: "description",
            syntax: "description = \"..\"",
            description: "The description of the column.",
            example: "#[schema(column(name = \"Level\", description = \"What is logged\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "format",
            syntax: "format = \"int32\"",
            description: "The format of the value.",
            constraints: "One of `int32`, `int64`, `float`, `double`, `byte`, `date`, `date-time` and `password`.",
            example: "#[schema(column(name = \"Size\", format = \"int32\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "priority",
            syntax: "priority = 1",
            description: "Columns with priority 0 are always shown, others only with `kubectl get -o wide`.",
            constraints: "Default: 0.",
            example: "#[schema(column(name = \"Level\", priority = 1))]",
            ..EMPTY
        },
    ],
};

pub(crate) const EXTERNAL: Section = Section {
    name: "external_docs",
    nested: true,
    title: "#[schema(external_docs(..))], a link to documentation",
    accepted_by: &["CrdSchema"],
    keys: &[
        AttributeKey {
            key: "url",
            syntax: "url = \"https://..\"",
            description: "The URL of the documentation.",
            constraints: "Required.",
            example: "#[schema(external_docs(url = \"https://example.com/size\"))]",
            required: true,
            ..EMPTY
        },
        AttributeKey {
            key: "description",
            syntax: "description = \"..\"",
            description: "The description of the documentation.",
            example: "#[schema(external_docs(url = \"https://example.com/size\", description = \"Sizes\"))]",
            ..EMPTY
        },
    ],
};

const EXACTLY_ONE_OF: AttributeKey = AttributeKey {
    key: "exactly_one_of",
    syntax: "exactly_one_of = [a, b]",
    go_tags: &["+kubebuilder:validation:ExactlyOneOf="],
    description: "Exactly one of these fields must be set.",
    constraints: "Rust names of fields, each an `Option`. Can be repeated.",
    example: "#[schema(exactly_one_of = [max_speed, status])]",
    repeated: true,
    ..EMPTY
};

const AT_MOST_ONE_OF: AttributeKey = AttributeKey {
    key: "at_most_one_of",
    syntax: "at_most_one_of = [a, b]",
    go_tags: &["+kubebuilder:validation:AtMostOneOf="],
    description: "At most one of these fields may be set.",
    constraints: "As `exactly_one_of`.",
    example: "#[schema(at_most_one_of = [max_speed, status])]",
    repeated: true,
    ..EMPTY
};

const AT_LEAST_ONE_OF: AttributeKey = AttributeKey {
    key: "at_least_one_of",
    syntax: "at_least_one_of = [a, b]",
    go_tags: &["+kubebuilder:validation:AtLeastOneOf="],
    description: "At least one of these fields must be set.",
    constraints: "As `exactly_one_of`.",
    example: "#[schema(at_least_one_of = [max_speed, status])]",
    repeated: true,
    ..EMPTY
};

const VIA: AttributeKey = AttributeKey {
    key: "via",
    syntax: "via = schema",
    description: "How the union of fields is validated: by a CEL rule (`cel`) or by the structure of the schema \
                  (`schema`).",
    constraints: "Default: `cel`, whose message is clearer, and which lets objects that violate a new rule be \
                  updated. `schema` does not count towards the CEL cost budget.",
    example: "#[schema(exactly_one_of = [max_speed, status], via = schema)]",
    ..EMPTY
};

const MIN: AttributeKey = AttributeKey {
    key: "min",
    syntax: "min = 0",
    go_tags: &["+kubebuilder:validation:Minimum=", "+k8s:minimum="],
    description: "The minimum of a number.",
    constraints: "An integer for an integer field. For a string use `length`, for a list `items`, for a map \
                  `properties`.",
    example: "#[schema(min = 0)]",
    ..EMPTY
};

const MAX: AttributeKey = AttributeKey {
    key: "max",
    syntax: "max = 10",
    go_tags: &["+kubebuilder:validation:Maximum=", "+k8s:maximum="],
    description: "The maximum of a number.",
    constraints: "Not less than `min`. Integers up to that of `u64`.",
    example: "#[schema(max = 10)]",
    ..EMPTY
};

const EXCLUSIVE_MIN: AttributeKey = AttributeKey {
    key: "exclusive_min",
    syntax: "exclusive_min",
    go_tags: &["+kubebuilder:validation:ExclusiveMinimum="],
    description: "Excludes the value of `min` itself.",
    constraints: "Requires `min`.",
    example: "#[schema(min = 0, exclusive_min)]",
    ..EMPTY
};

const EXCLUSIVE_MAX: AttributeKey = AttributeKey {
    key: "exclusive_max",
    syntax: "exclusive_max",
    go_tags: &["+kubebuilder:validation:ExclusiveMaximum="],
    description: "Excludes the value of `max` itself.",
    constraints: "Requires `max`.",
    example: "#[schema(max = 10, exclusive_max)]",
    ..EMPTY
};

const MULTIPLE_OF: AttributeKey = AttributeKey {
    key: "multiple_of",
    syntax: "multiple_of = 5",
    go_tags: &["+kubebuilder:validation:MultipleOf="],
    description: "The number must be a multiple of this one.",
    constraints: "Greater than 0.",
    example: "#[schema(multiple_of = 5)]",
    ..EMPTY
};

const LENGTH: AttributeKey = AttributeKey {
    key: "length",
    syntax: "length = 1..=63",
    go_tags: &[
        "+kubebuilder:validation:MinLength=",
        "+kubebuilder:validation:MaxLength=",
        "+k8s:minLength=",
        "+k8s:maxLength=",
    ],
    description: "The number of characters of a string.",
    constraints: "Either bound can be omitted: `1..`, `..=63`.",
    example: "#[schema(length = 1..=63)]",
    ..EMPTY
};

const ITEMS: AttributeKey = AttributeKey {
    key: "items",
    syntax: "items = 1..=16",
    go_tags: &[
        "+kubebuilder:validation:MinItems=",
        "+kubebuilder:validation:MaxItems=",
        "+k8s:minItems=",
        "+k8s:maxItems=",
    ],
    description: "The number of items of a list.",
    constraints: "Either bound can be omitted: `1..`, `..=16`.",
    example: "#[schema(items = ..=16)]",
    ..EMPTY
};

const PROPERTIES: AttributeKey = AttributeKey {
    key: "properties",
    syntax: "properties = ..=10",
    go_tags: &[
        "+kubebuilder:validation:MinProperties=",
        "+kubebuilder:validation:MaxProperties=",
        "+k8s:minProperties=",
        "+k8s:maxProperties=",
    ],
    description: "The number of entries of a map.",
    constraints: "Either bound can be omitted: `1..`, `..=10`.",
    example: "#[schema(properties = ..=10)]",
    ..EMPTY
};

const PATTERN: AttributeKey = AttributeKey {
    key: "pattern",
    syntax: "pattern = r\"^[a-z]+$\"",
    go_tags: &["+kubebuilder:validation:Pattern="],
    description: "A regular expression that the string must match.",
    constraints: "In the syntax of Go's `regexp` (RE2), checked by the generator: no look-around, no back-references.",
    example: "#[schema(pattern = r\"^[a-z]+$\")]",
    ..EMPTY
};

const FORMAT: AttributeKey = AttributeKey {
    key: "format",
    syntax: "format = \"date-time\"",
    go_tags: &["+kubebuilder:validation:Format=", "+k8s:format="],
    description: "The format of the value, by name.",
    constraints: "The API server validates the formats it supports and warns about others.",
    example: "#[schema(format = \"ipv4\")]",
    ..EMPTY
};

const NO_FORMAT: AttributeKey = AttributeKey {
    key: "no_format",
    syntax: "no_format",
    description: "Omits the format that the schema has because of the Rust type, such as `int64` for an `i64`.",
    constraints: "Conflicts with `format`.",
    example: "#[schema(no_format)]",
    ..EMPTY
};

const VALUES: AttributeKey = AttributeKey {
    key: "values",
    syntax: "values = [\"a\", \"b\"]",
    go_tags: &["+kubebuilder:validation:Enum="],
    description: "The allowed values.",
    constraints: "Strings or integers. An enum without data is equivalent and gives the values names in Rust.",
    example: "#[schema(values = [\"info\", \"debug\"])]",
    ..EMPTY
};

const LIST_TYPE: AttributeKey = AttributeKey {
    key: "list_type",
    syntax: "list_type = map",
    go_tags: &["+listType=", "+k8s:listType="],
    description: "The ownership of a list with several field managers: of the complete list (`atomic`), of each item \
                  (`set`), or of the fields of each item (`map`).",
    constraints: "A set contains scalars; `map` requires `list_map_keys`.",
    example: "#[schema(list_type = set)]",
    ..EMPTY
};

const LIST_MAP_KEYS: AttributeKey = AttributeKey {
    key: "list_map_keys",
    syntax: "list_map_keys = [\"name\"]",
    go_tags: &["+listMapKey=", "+k8s:listMapKey="],
    description: "The JSON names of the fields that identify an item.",
    constraints: "With `list_type = map`. Each is a scalar, and is required or has a default.",
    example: "#[schema(list_type = map, list_map_keys = [\"name\"])]",
    ..EMPTY
};

const MAP_TYPE: AttributeKey = AttributeKey {
    key: "map_type",
    syntax: "map_type = atomic",
    go_tags: &["+mapType="],
    description: "The ownership of a map with several field managers: of the complete map (`atomic`) or of each \
                  entry (`granular`).",
    constraints: "Default: `granular`.",
    example: "#[schema(map_type = atomic)]",
    ..EMPTY
};

const STRUCT_TYPE: AttributeKey = AttributeKey {
    key: "struct_type",
    syntax: "struct_type = atomic",
    go_tags: &["+structType="],
    description: "The ownership of an object with several field managers: of the complete object (`atomic`) or of \
                  each field (`granular`).",
    constraints: "Default: `granular`.",
    example: "#[schema(struct_type = atomic)]",
    ..EMPTY
};

const PRESERVE_UNKNOWN_FIELDS: AttributeKey = AttributeKey {
    key: "preserve_unknown_fields",
    syntax: "preserve_unknown_fields",
    go_tags: &["+kubebuilder:pruning:PreserveUnknownFields", "+kubebuilder:validation:XPreserveUnknownFields"],
    description: "Fields that the schema does not declare are preserved instead of pruned.",
    constraints: "Implied by `serde_json::Value`.",
    example: "#[schema(preserve_unknown_fields)]",
    ..EMPTY
};

const VALIDATION: AttributeKey = AttributeKey {
    key: "validation",
    syntax: "validation(rule = \"..\")",
    go_tags: &["+kubebuilder:validation:XValidation:", "+k8s:validation:cel[n]:"],
    description: "A validation rule in CEL.",
    constraints: "Can be repeated. The generator checks its types and its cost as the API server does.",
    example: "#[schema(validation(rule = \"self != 'none'\", message = \"a name is required\"))]",
    repeated: true,
    ..EMPTY
};

const TITLE: AttributeKey = AttributeKey {
    key: "title",
    syntax: "title = \"..\"",
    go_tags: &["+kubebuilder:title="],
    description: "The title of the schema.",
    example: "#[schema(title = \"Size\")]",
    ..EMPTY
};

const EXTERNAL_DOCS: AttributeKey = AttributeKey {
    key: "external_docs",
    syntax: "external_docs(url = \"..\")",
    go_tags: &["+kubebuilder:externalDocs"],
    description: "A link to external documentation.",
    example: "#[schema(external_docs(url = \"https://example.com/size\"))]",
    ..EMPTY
};

const ALLOW_FLOAT: AttributeKey = AttributeKey {
    key: "allow_float",
    syntax: "allow_float",
    description: "Allows floating-point numbers in the type or the field.",
    constraints: "Without it a float is an error, because clients in other languages round differently. An integer \
                  of a smaller unit, or a `Quantity`, is exact.",
    example: "#[schema(allow_float)]",
    ..EMPTY
};

const NULLABLE: AttributeKey = AttributeKey {
    key: "nullable",
    syntax: "nullable",
    go_tags: &["+nullable"],
    description: "The field can be null.",
    constraints: "An `Option` that is `None` is absent, not null. Use `kubewright::Nullable`, which implies this \
                  key, to distinguish null from absent. Conflicts with `required` on an `Option`.",
    example: "#[schema(nullable)]",
    ..EMPTY
};

const REQUIRED: AttributeKey = AttributeKey {
    key: "required",
    syntax: "required",
    go_tags: &["+kubebuilder:validation:Required", "+required", "+k8s:required"],
    description: "The field is required although it is an `Option` in Rust.",
    constraints: "A field that is neither an `Option` nor has a default is always required.",
    example: "#[schema(required)]",
    ..EMPTY
};

const IMMUTABLE: AttributeKey = AttributeKey {
    key: "immutable",
    syntax: "immutable",
    go_tags: &["+k8s:immutable"],
    description: "The field cannot be changed or removed once it is set.",
    example: "#[schema(immutable)]",
    ..EMPTY
};

const EMBEDDED_RESOURCE: AttributeKey = AttributeKey {
    key: "embedded_resource",
    syntax: "embedded_resource",
    go_tags: &["+kubebuilder:validation:EmbeddedResource"],
    description: "The field is a complete object with `apiVersion`, `kind` and `metadata`, which the API server \
                  validates.",
    constraints: "On a field whose type is an object.",
    example: "#[schema(embedded_resource, preserve_unknown_fields)]",
    ..EMPTY
};

const SCHEMALESS: AttributeKey = AttributeKey {
    key: "schemaless",
    syntax: "schemaless",
    go_tags: &["+kubebuilder:validation:Schemaless"],
    description: "Ignores the schema of the type: only the keys of this attribute apply.",
    example: "#[schema(schemaless, preserve_unknown_fields)]",
    ..EMPTY
};

const DEPTH: AttributeKey = AttributeKey {
    key: "depth",
    syntax: "depth = 3",
    description: "The number of levels of a recursive type that are validated; deeper levels are preserved \
                  unvalidated.",
    constraints: "From 1 to 16. Without it a recursive type is an error.",
    example: "#[schema(depth = 3)]",
    ..EMPTY
};

const EACH: AttributeKey = AttributeKey {
    key: "each",
    syntax: "each(length = 1..=63)",
    go_tags: &["+kubebuilder:validation:items:", "+k8s:eachVal="],
    description: "Constraints of each item of a list, or of each value of a map.",
    example: "#[schema(each(length = 1..=63))]",
    ..EMPTY
};

const COLUMN: AttributeKey = AttributeKey {
    key: "column",
    syntax: "column = \"Level\"",
    description: "A column of `kubectl get`, with path and type of the field.",
    constraints: "Columns of fields follow those of `printcolumns`, sorted by path; an age at the end of `printcolumns` \
                  remains the last column. `column(name = \"Level\", priority = 1)` has more keys.",
    example: "#[schema(column = \"Level\")]",
    ..EMPTY
};

const SELECTABLE: AttributeKey = AttributeKey {
    key: "selectable",
    syntax: "selectable",
    go_tags: &["+kubebuilder:selectablefield:JSONPath="],
    description: "Field selectors can use the field: `kubectl get --field-selector`.",
    constraints: "A scalar outside of lists and maps; at most eight per kind.",
    example: "#[schema(selectable)]",
    ..EMPTY
};

const MAX_BYTES: AttributeKey = AttributeKey {
    key: "max_bytes",
    syntax: "max_bytes = 253",
    go_tags: &["+k8s:maxBytes="],
    description: "The maximum number of bytes of a string in UTF-8.",
    constraints: "A CEL rule, and the same maximum of characters. Use `length` unless bytes matter.",
    example: "#[schema(max_bytes = 253)]",
    ..EMPTY
};

const NEQ: AttributeKey = AttributeKey {
    key: "neq",
    syntax: "neq = \"none\"",
    go_tags: &["+k8s:neq="],
    description: "The value must not be this one.",
    constraints: "A string, a boolean or a number, as the field. A CEL rule.",
    example: "#[schema(neq = \"none\")]",
    ..EMPTY
};

const UNIQUE: AttributeKey = AttributeKey {
    key: "unique",
    syntax: "unique = [\"name\"]",
    go_tags: &["+k8s:unique="],
    description: "The items of a list are unique, although field managers share the complete list: the items \
                  themselves (`unique`), or the JSON names of fields that identify them.",
    constraints: "A CEL rule that compares all items: the list needs a maximum of `items`. `list_type` `set` and `map` \
                  imply it. Fields that identify an item are required, or have a default.",
    example: "#[schema(unique, items = ..=16)]",
    ..EMPTY
};

const EACH_KEY: AttributeKey = AttributeKey {
    key: "each_key",
    syntax: "each_key(length = 1..=63)",
    go_tags: &["+k8s:eachKey="],
    description: "Constraints of each key of a map.",
    constraints: "CEL rules: the map needs a maximum of `properties` in lists and maps.",
    example: "#[schema(each_key(pattern = \"^[a-z]+$\"), properties = ..=16)]",
    ..EMPTY
};

const FORBIDDEN: AttributeKey = AttributeKey {
    key: "forbidden",
    syntax: "forbidden",
    go_tags: &["+k8s:forbidden"],
    description: "The field must not be set any more. Objects that have it can still be updated if they do not change it.",
    constraints: "On an `Option`. A CEL rule.",
    example: "#[schema(forbidden)]",
    ..EMPTY
};

const DEPENDENT_REQUIRED: AttributeKey = AttributeKey {
    key: "dependent_required",
    syntax: "dependent_required = [max_speed]",
    go_tags: &["+k8s:dependentRequired="],
    description: "If the field is set, these fields must be set.",
    constraints: "On an `Option`. Rust names of other fields of the type, each an `Option`. A CEL rule of the type.",
    example: "#[schema(dependent_required = [max_speed])]",
    ..EMPTY
};

const DEPENDENT_FORBIDDEN: AttributeKey = AttributeKey {
    key: "dependent_forbidden",
    syntax: "dependent_forbidden = [max_speed]",
    go_tags: &["+k8s:dependentForbidden="],
    description: "If the field is set, these fields must not be set.",
    constraints: "As `dependent_required`.",
    example: "#[schema(dependent_forbidden = [max_speed])]",
    ..EMPTY
};

const MONOTONIC: AttributeKey = AttributeKey {
    key: "monotonic",
    syntax: "monotonic",
    go_tags: &["+k8s:monotonic"],
    description: "An update must not decrease the number.",
    constraints: "A CEL rule. The field can be removed, unless `update = [no_unset]`.",
    example: "#[schema(monotonic)]",
    ..EMPTY
};

const UPDATE: AttributeKey = AttributeKey {
    key: "update",
    syntax: "update = [no_unset]",
    go_tags: &["+k8s:update="],
    description: "What an update must not do: set the field (`no_set`), remove it (`no_unset`), change its value \
                  (`no_modify`), or add or remove an item of a list or an entry of a map (`no_add_item`, \
                  `no_remove_item`).",
    constraints: "CEL rules. Items of a list with `list_map_keys` are identified by these, others by their content; \
                  the list needs a maximum of `items`.",
    example: "#[schema(update = [no_unset, no_modify])]",
    ..EMPTY
};
