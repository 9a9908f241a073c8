//! `#[schema(..)]` of `KubeSchema`: what the API server checks, on types, on fields and on what is in them.

use super::{Keyword, Place, UNSAID, krate};

pub(crate) const SCHEMA_TYPE: Place = Place {
    name: "schema",
    nested: false,
    title: "#[schema(..)] on a type that derives KubeSchema",
    keywords: &[
        EXACTLY_ONE_OF,
        AT_MOST_ONE_OF,
        AT_LEAST_ONE_OF,
        VIA,
        MIN,
        MAX,
        EXCLUSIVE_MIN,
        EXCLUSIVE_MAX,
        MULTIPLE_OF,
        LENGTH,
        ITEMS,
        PROPERTIES,
        PATTERN,
        FORMAT,
        NO_FORMAT,
        VALUES,
        LIST_TYPE,
        LIST_MAP_KEYS,
        MAP_TYPE,
        STRUCT_TYPE,
        PRESERVE_UNKNOWN_FIELDS,
        VALIDATION,
        TITLE,
        EXTERNAL_DOCS,
        ALLOW_FLOAT,
        EACH,
        krate("#[schema(crate = my_core)]"),
    ],
};

pub(crate) const SCHEMA_FIELD: Place = Place {
    name: "schema",
    nested: false,
    title: "#[schema(..)] on a field of a type that derives KubeSchema",
    keywords: &[
        MIN,
        MAX,
        EXCLUSIVE_MIN,
        EXCLUSIVE_MAX,
        MULTIPLE_OF,
        LENGTH,
        ITEMS,
        PROPERTIES,
        PATTERN,
        FORMAT,
        NO_FORMAT,
        VALUES,
        LIST_TYPE,
        LIST_MAP_KEYS,
        MAP_TYPE,
        STRUCT_TYPE,
        PRESERVE_UNKNOWN_FIELDS,
        VALIDATION,
        TITLE,
        EXTERNAL_DOCS,
        ALLOW_FLOAT,
        NULLABLE,
        REQUIRED,
        IMMUTABLE,
        EMBEDDED_RESOURCE,
        SCHEMALESS,
        DEPTH,
        EACH,
        COLUMN,
        SELECTABLE,
    ],
};

pub(crate) const SCHEMA_EACH: Place = Place {
    name: "each",
    nested: true,
    title: "#[schema(each(..))], for each item of a list and each value of a map",
    keywords: &[
        MIN,
        MAX,
        EXCLUSIVE_MIN,
        EXCLUSIVE_MAX,
        MULTIPLE_OF,
        LENGTH,
        ITEMS,
        PROPERTIES,
        PATTERN,
        FORMAT,
        NO_FORMAT,
        VALUES,
        LIST_TYPE,
        LIST_MAP_KEYS,
        MAP_TYPE,
        STRUCT_TYPE,
        PRESERVE_UNKNOWN_FIELDS,
        VALIDATION,
        TITLE,
        EXTERNAL_DOCS,
        ALLOW_FLOAT,
        EACH,
        NULLABLE,
        EMBEDDED_RESOURCE,
    ],
};

pub(crate) const RULE: Place = Place {
    name: "validation",
    nested: true,
    title: "#[schema(validation(..))], a rule in CEL",
    keywords: &[
        Keyword {
            word: "rule",
            form: "rule = \"self.min <= self.max\"",
            meaning: "The rule: it is true of what is taken.",
            rule: "`self` is the value, `oldSelf` what it was before an update. It must be said.",
            example: "#[schema(validation(rule = \"self >= oldSelf\"))]",
            ..UNSAID
        },
        Keyword {
            word: "message",
            form: "message = \"..\"",
            meaning: "What is answered where the rule is broken.",
            rule: "One line. A rule of several lines needs it.",
            example: "#[schema(validation(rule = \"self > 0\", message = \"must turn\"))]",
            ..UNSAID
        },
        Keyword {
            word: "message_expression",
            form: "message_expression = \"'..'\"",
            meaning: "The answer as an expression in CEL that makes a text.",
            rule: "It wins over `message`.",
            example: "#[schema(validation(rule = \"self > 0\", message_expression = \"string(self) + ' does not turn'\"))]",
            ..UNSAID
        },
        Keyword {
            word: "reason",
            form: "reason = \"FieldValueInvalid\"",
            meaning: "What kind of mistake it is to break the rule.",
            rule: "One of `FieldValueInvalid`, which it is unless said, `FieldValueForbidden`, `FieldValueRequired` and `FieldValueDuplicate`.",
            example: "#[schema(validation(rule = \"self > 0\", reason = \"FieldValueForbidden\"))]",
            ..UNSAID
        },
        Keyword {
            word: "field_path",
            form: "field_path = \".size\"",
            meaning: "The field below that the answer is about.",
            rule: "It must be there in the schema.",
            example: "#[schema(validation(rule = \"self.size > 0\", field_path = \".size\"))]",
            ..UNSAID
        },
        Keyword {
            word: "optional_old_self",
            form: "optional_old_self",
            meaning: "The rule holds on creation too, where there is no old value: `oldSelf` is an optional then.",
            rule: "In a rule that names `oldSelf`.",
            example: "#[schema(validation(rule = \"!oldSelf.hasValue() || self >= oldSelf.value()\", optional_old_self))]",
            ..UNSAID
        },
    ],
};

pub(crate) const FIELD_COLUMN: Place = Place {
    name: "column",
    nested: true,
    title: "#[schema(column(..))], a column of `kubectl get`",
    keywords: &[
        Keyword {
            word: "name",
            form: "name = \"Level\"",
            meaning: "The heading.",
            rule: "It must be said.",
            example: "#[schema(column(name = \"Level\"))]",
            ..UNSAID
        },
        Keyword {
            word: "description",
            form: "description = \"..\"",
            meaning: "What the column shows, for people.",
            example: "#[schema(column(name = \"Level\", description = \"What is logged\"))]",
            ..UNSAID
        },
        Keyword {
            word: "format",
            form: "format = \"int32\"",
            meaning: "How the value is shown.",
            rule: "One of `int32`, `int64`, `float`, `double`, `byte`, `date`, `date-time` and `password`.",
            example: "#[schema(column(name = \"Size\", format = \"int32\"))]",
            ..UNSAID
        },
        Keyword {
            word: "priority",
            form: "priority = 1",
            meaning: "Columns of 0 are always shown, others only with `kubectl get -o wide`.",
            rule: "0 unless said.",
            example: "#[schema(column(name = \"Level\", priority = 1))]",
            ..UNSAID
        },
    ],
};

pub(crate) const EXTERNAL: Place = Place {
    name: "external_docs",
    nested: true,
    title: "#[schema(external_docs(..))], where more is written",
    keywords: &[
        Keyword {
            word: "url",
            form: "url = \"https://..\"",
            meaning: "Where it is.",
            rule: "It must be said.",
            example: "#[schema(external_docs(url = \"https://example.com/size\"))]",
            ..UNSAID
        },
        Keyword {
            word: "description",
            form: "description = \"..\"",
            meaning: "What is written there.",
            example: "#[schema(external_docs(url = \"https://example.com/size\", description = \"Sizes\"))]",
            ..UNSAID
        },
    ],
};

const EXACTLY_ONE_OF: Keyword = Keyword {
    word: "exactly_one_of",
    form: "exactly_one_of = [a, b]",
    go_tags: &["+kubebuilder:validation:ExactlyOneOf="],
    meaning: "One of these fields is set and no other.",
    rule: "Names of fields in Rust, each an `Option`. May be said several times.",
    example: "#[schema(exactly_one_of = [max_speed, status])]",
    ..UNSAID
};

const AT_MOST_ONE_OF: Keyword = Keyword {
    word: "at_most_one_of",
    form: "at_most_one_of = [a, b]",
    go_tags: &["+kubebuilder:validation:AtMostOneOf="],
    meaning: "One of these fields is set, or none.",
    rule: "As `exactly_one_of`.",
    example: "#[schema(at_most_one_of = [max_speed, status])]",
    ..UNSAID
};

const AT_LEAST_ONE_OF: Keyword = Keyword {
    word: "at_least_one_of",
    form: "at_least_one_of = [a, b]",
    go_tags: &["+kubebuilder:validation:AtLeastOneOf="],
    meaning: "One of these fields is set, or more.",
    rule: "As `exactly_one_of`.",
    example: "#[schema(at_least_one_of = [max_speed, status])]",
    ..UNSAID
};

const VIA: Keyword = Keyword {
    word: "via",
    form: "via = schema",
    meaning: "How the choice of fields is checked: by a rule in CEL (`cel`), or by the structure of the schema (`schema`).",
    rule: "`cel` unless said: its message is clearer, and objects that broke the rule before it was there can still be updated. `schema` costs nothing of the budget for rules.",
    example: "#[schema(exactly_one_of = [max_speed, status], via = schema)]",
    ..UNSAID
};

const MIN: Keyword = Keyword {
    word: "min",
    form: "min = 0",
    go_tags: &["+kubebuilder:validation:Minimum=", "+k8s:minimum="],
    meaning: "The least value of a number.",
    rule: "A whole number for a field of whole numbers.",
    example: "#[schema(min = 0)]",
    ..UNSAID
};

const MAX: Keyword = Keyword {
    word: "max",
    form: "max = 10",
    go_tags: &["+kubebuilder:validation:Maximum=", "+k8s:maximum="],
    meaning: "The greatest value of a number.",
    rule: "Not below `min`.",
    example: "#[schema(max = 10)]",
    ..UNSAID
};

const EXCLUSIVE_MIN: Keyword = Keyword {
    word: "exclusive_min",
    form: "exclusive_min",
    go_tags: &["+kubebuilder:validation:ExclusiveMinimum="],
    meaning: "The value of `min` itself is too small.",
    rule: "Beside `min`.",
    example: "#[schema(min = 0, exclusive_min)]",
    ..UNSAID
};

const EXCLUSIVE_MAX: Keyword = Keyword {
    word: "exclusive_max",
    form: "exclusive_max",
    go_tags: &["+kubebuilder:validation:ExclusiveMaximum="],
    meaning: "The value of `max` itself is too great.",
    rule: "Beside `max`.",
    example: "#[schema(max = 10, exclusive_max)]",
    ..UNSAID
};

const MULTIPLE_OF: Keyword = Keyword {
    word: "multiple_of",
    form: "multiple_of = 5",
    go_tags: &["+kubebuilder:validation:MultipleOf="],
    meaning: "The number is a multiple of this one.",
    rule: "Above 0.",
    example: "#[schema(multiple_of = 5)]",
    ..UNSAID
};

const LENGTH: Keyword = Keyword {
    word: "length",
    form: "length = 1..=63",
    go_tags: &[
        "+kubebuilder:validation:MinLength=",
        "+kubebuilder:validation:MaxLength=",
        "+k8s:minLength=",
        "+k8s:maxLength=",
    ],
    meaning: "How many characters a text has.",
    rule: "Either end may be left out: `1..`, `..=63`.",
    example: "#[schema(length = 1..=63)]",
    ..UNSAID
};

const ITEMS: Keyword = Keyword {
    word: "items",
    form: "items = 1..=16",
    go_tags: &[
        "+kubebuilder:validation:MinItems=",
        "+kubebuilder:validation:MaxItems=",
        "+k8s:minItems=",
        "+k8s:maxItems=",
    ],
    meaning: "How many items a list has.",
    rule: "Either end may be left out: `1..`, `..=16`.",
    example: "#[schema(items = ..=16)]",
    ..UNSAID
};

const PROPERTIES: Keyword = Keyword {
    word: "properties",
    form: "properties = ..=10",
    go_tags: &[
        "+kubebuilder:validation:MinProperties=",
        "+kubebuilder:validation:MaxProperties=",
        "+k8s:minProperties=",
        "+k8s:maxProperties=",
    ],
    meaning: "How many entries a map has.",
    rule: "Either end may be left out: `1..`, `..=10`.",
    example: "#[schema(properties = ..=10)]",
    ..UNSAID
};

const PATTERN: Keyword = Keyword {
    word: "pattern",
    form: "pattern = r\"^[a-z]+$\"",
    go_tags: &["+kubebuilder:validation:Pattern="],
    meaning: "A regular expression that the text matches.",
    rule: "In the syntax of Go's `regexp` (RE2), which the generator checks: no look-around, no back-references.",
    example: "#[schema(pattern = r\"^[a-z]+$\")]",
    ..UNSAID
};

const FORMAT: Keyword = Keyword {
    word: "format",
    form: "format = \"date-time\"",
    go_tags: &["+kubebuilder:validation:Format=", "+k8s:format="],
    meaning: "A format by its name.",
    rule: "The API server checks those it knows and warns of others.",
    example: "#[schema(format = \"ipv4\")]",
    ..UNSAID
};

const NO_FORMAT: Keyword = Keyword {
    word: "no_format",
    form: "no_format",
    meaning: "The schema names no format although the type has one: an `i64` is `int64` otherwise.",
    rule: "Not beside `format`.",
    example: "#[schema(no_format)]",
    ..UNSAID
};

const VALUES: Keyword = Keyword {
    word: "values",
    form: "values = [\"a\", \"b\"]",
    go_tags: &["+kubebuilder:validation:Enum="],
    meaning: "The values that are taken.",
    rule: "Texts or whole numbers. Where they have names in Rust, an enum without data says the same.",
    example: "#[schema(values = [\"info\", \"debug\"])]",
    ..UNSAID
};

const LIST_TYPE: Keyword = Keyword {
    word: "list_type",
    form: "list_type = map",
    go_tags: &["+listType=", "+k8s:listType="],
    meaning: "Who owns what in a list that several write: all of it (`atomic`), each item (`set`), or the fields of each item (`map`).",
    rule: "A set holds scalars; `map` needs `list_map_keys`.",
    example: "#[schema(list_type = set)]",
    ..UNSAID
};

const LIST_MAP_KEYS: Keyword = Keyword {
    word: "list_map_keys",
    form: "list_map_keys = [\"name\"]",
    go_tags: &["+listMapKey=", "+k8s:listMapKey="],
    meaning: "The JSON names of the fields that tell the items apart.",
    rule: "With `list_type = map`. Each is a scalar, and required or with a default.",
    example: "#[schema(list_type = map, list_map_keys = [\"name\"])]",
    ..UNSAID
};

const MAP_TYPE: Keyword = Keyword {
    word: "map_type",
    form: "map_type = atomic",
    go_tags: &["+mapType="],
    meaning: "Who owns what in a map that several write: all of it (`atomic`) or each entry (`granular`).",
    rule: "`granular` unless said.",
    example: "#[schema(map_type = atomic)]",
    ..UNSAID
};

const STRUCT_TYPE: Keyword = Keyword {
    word: "struct_type",
    form: "struct_type = atomic",
    go_tags: &["+structType="],
    meaning: "Who owns what in an object that several write: all of it (`atomic`) or each field (`granular`).",
    rule: "`granular` unless said.",
    example: "#[schema(struct_type = atomic)]",
    ..UNSAID
};

const PRESERVE_UNKNOWN_FIELDS: Keyword = Keyword {
    word: "preserve_unknown_fields",
    form: "preserve_unknown_fields",
    go_tags: &["+kubebuilder:pruning:PreserveUnknownFields", "+kubebuilder:validation:XPreserveUnknownFields"],
    meaning: "Fields that the schema does not name are kept.",
    rule: "A `serde_json::Value` has it without a word.",
    example: "#[schema(preserve_unknown_fields)]",
    ..UNSAID
};

const VALIDATION: Keyword = Keyword {
    word: "validation",
    form: "validation(rule = \"..\")",
    go_tags: &["+kubebuilder:validation:XValidation:", "+k8s:validation:cel[n]:"],
    meaning: "A rule in CEL.",
    rule: "May be said several times. The generator checks its types and its cost as the API server does.",
    example: "#[schema(validation(rule = \"self != 'none'\", message = \"none is no name\"))]",
    ..UNSAID
};

const TITLE: Keyword = Keyword {
    word: "title",
    form: "title = \"..\"",
    go_tags: &["+kubebuilder:title="],
    meaning: "A short name for people.",
    example: "#[schema(title = \"Size\")]",
    ..UNSAID
};

const EXTERNAL_DOCS: Keyword = Keyword {
    word: "external_docs",
    form: "external_docs(url = \"..\")",
    go_tags: &["+kubebuilder:externalDocs"],
    meaning: "Where more is written.",
    example: "#[schema(external_docs(url = \"https://example.com/size\"))]",
    ..UNSAID
};

const ALLOW_FLOAT: Keyword = Keyword {
    word: "allow_float",
    form: "allow_float",
    meaning: "Floating-point numbers are taken, in a type whose name does not tell either.",
    rule: "Without it a float is an error: clients in other languages round differently. A whole number of a smaller unit, or a `Quantity`, is exact.",
    example: "#[schema(allow_float)]",
    ..UNSAID
};

const NULLABLE: Keyword = Keyword {
    word: "nullable",
    form: "nullable",
    go_tags: &["+nullable"],
    meaning: "The field may be null.",
    rule: "An `Option` is absent, not null; `logger_core::Nullable` tells null from absent, and says this without a word.",
    example: "#[schema(nullable)]",
    ..UNSAID
};

const REQUIRED: Keyword = Keyword {
    word: "required",
    form: "required",
    go_tags: &["+kubebuilder:validation:Required", "+required", "+k8s:required"],
    meaning: "The field must be there although it is an `Option` in Rust.",
    rule: "What is no `Option` and has no default is required without a word.",
    example: "#[schema(required)]",
    ..UNSAID
};

const IMMUTABLE: Keyword = Keyword {
    word: "immutable",
    form: "immutable",
    go_tags: &["+k8s:immutable"],
    meaning: "The field does not change once it is set, nor is it removed.",
    example: "#[schema(immutable)]",
    ..UNSAID
};

const EMBEDDED_RESOURCE: Keyword = Keyword {
    word: "embedded_resource",
    form: "embedded_resource",
    go_tags: &["+kubebuilder:validation:EmbeddedResource"],
    meaning: "The field is a whole object, with `apiVersion`, `kind` and `metadata` that the API server checks.",
    rule: "On a field whose type is an object.",
    example: "#[schema(embedded_resource, preserve_unknown_fields)]",
    ..UNSAID
};

const SCHEMALESS: Keyword = Keyword {
    word: "schemaless",
    form: "schemaless",
    go_tags: &["+kubebuilder:validation:Schemaless"],
    meaning: "Nothing of the type's schema is taken: only what is said here counts.",
    example: "#[schema(schemaless, preserve_unknown_fields)]",
    ..UNSAID
};

const DEPTH: Keyword = Keyword {
    word: "depth",
    form: "depth = 3",
    meaning: "How many levels of a type that contains itself are checked; what is deeper is kept as it is.",
    rule: "From 1 to 16. Without it such a type is an error.",
    example: "#[schema(depth = 3)]",
    ..UNSAID
};

const EACH: Keyword = Keyword {
    word: "each",
    form: "each(length = 1..=63)",
    go_tags: &["+kubebuilder:validation:items:", "+k8s:eachVal="],
    meaning: "Facts of each item of a list, or of each value of a map.",
    example: "#[schema(each(length = 1..=63))]",
    ..UNSAID
};

const COLUMN: Keyword = Keyword {
    word: "column",
    form: "column = \"Level\"",
    meaning: "A column of `kubectl get`. Its path and type are those of the field.",
    rule: "After the columns in `printcolumns`. `column(name = \"Level\", priority = 1)` says more.",
    example: "#[schema(column = \"Level\")]",
    ..UNSAID
};

const SELECTABLE: Keyword = Keyword {
    word: "selectable",
    form: "selectable",
    go_tags: &["+kubebuilder:selectablefield:JSONPath="],
    meaning: "Field selectors may ask for the field: `kubectl get --field-selector`.",
    rule: "A scalar, not in a list or map; eight of a kind at most.",
    example: "#[schema(selectable)]",
    ..UNSAID
};
