//! Tags, markers and flags of the Go tools without a corresponding attribute: the equivalent, or why there is none.

/// A Go tool and its tags and flags without an attribute.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) rows: &'static [GoTags],
}

/// Tags with the same equivalent.
pub(crate) struct GoTags {
    pub(crate) tags: &'static [&'static str],
    pub(crate) support: Support,
    /// The equivalent, or why there is none.
    pub(crate) equivalent: &'static str,
}

/// Whether there is an equivalent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Support {
    /// There is an equivalent.
    Supported,
    /// It is excluded on purpose.
    Excluded,
}

const fn supported(tags: &'static [&'static str], equivalent: &'static str) -> GoTags {
    GoTags { tags, support: Support::Supported, equivalent }
}

const fn excluded(tags: &'static [&'static str], equivalent: &'static str) -> GoTags {
    GoTags { tags, support: Support::Excluded, equivalent }
}

/// Every tool of code-generator, and controller-gen.
pub(crate) const TOOLS: &[Tool] = &[
    Tool { name: "Every generator", rows: EVERY },
    Tool { name: "client-gen", rows: CLIENT },
    Tool { name: "lister-gen and informer-gen", rows: INFORMER },
    Tool { name: "deepcopy-gen", rows: DEEP_COPY },
    Tool { name: "applyconfiguration-gen", rows: APPLY },
    Tool { name: "register-gen", rows: REGISTER },
    Tool { name: "defaulter-gen", rows: DEFAULTER },
    Tool { name: "conversion-gen", rows: CONVERSION },
    Tool { name: "validation-gen", rows: VALIDATION },
    Tool { name: "go-to-protobuf", rows: PROTOBUF },
    Tool { name: "openapi-gen", rows: OPENAPI },
    Tool { name: "kube_codegen.sh", rows: SCRIPT },
    Tool { name: "controller-gen", rows: CONTROLLER },
];

const EVERY: &[GoTags] = &[
    supported(
        &["--output-dir", "--output-pkg", "--output-file"],
        "`cargo xtask codegen --client-dir DIR --crd-dir DIR`; by default `my-client/src` and `config/crd/bases`.",
    ),
    supported(
        &["--lint-rules"],
        "Always enabled: an unknown attribute key is a compile error on the key, with a suggestion.",
    ),
    supported(
        &["--go-header-file"],
        "`--header FILE` and `--year YEAR`, or `[package.metadata.codegen]` of the manifest of the types or the client.",
    ),
];

const CLIENT: &[GoTags] = &[
    supported(&["+genclient (on a list)"], "`#[derive(ObjectList)]` on the list; `#[genclient]` is on the kind only."),
    supported(&["+k8s:client-gen="], "A kind without `#[genclient]` has no client."),
    supported(
        &["--input", "--input-base"],
        "The groups that `xtask` passes to `kubewright_codegen::cli`. There is no required directory layout.",
    ),
    supported(&["--included-types-overrides"], "`kinds = [..]` of `group_version!`."),
    supported(
        &["--clientset-name", "-n", "--clientset-path"],
        "The clientset is `Clientset` in the client crate; `--client-dir` selects the crate.",
    ),
    supported(&["--clientset-api-path"], "Derived from the group: `/api` for the core group, `/apis` for the others."),
    supported(
        &["--fake-clientset"],
        "The feature `fake` of the client crate: the real clientset with an in-memory API server.",
    ),
    supported(&["--plural-exceptions"], "`#[k8s(plural = \"..\")]` on the kind; all generated code uses it."),
    supported(
        &["--apply-configuration-package"],
        "`#[derive(ApplyConfiguration)]`; the configurations are in the client crate.",
    ),
    supported(
        &["<type>_expansion.go"],
        "An extension trait, implemented for the client of the kind. No file name is reserved.",
    ),
    supported(&["register_custom.go"], "`Scheme::add`, where the scheme is created."),
    excluded(&["--clientset-only"], "A clientset without typed clients has no use."),
    excluded(&["--prefers-protobuf"], "Custom resources are not served as protobuf."),
];

const INFORMER: &[GoTags] = &[
    supported(
        &["+k8s:lister-gen=", "+k8s:informer-gen="],
        "A kind whose client has `list` and `watch` has an informer, and with `get` a lister.",
    ),
    supported(
        &["--versioned-clientset-package", "--listers-package"],
        "Clients, listers and informers are modules of one crate.",
    ),
    excluded(
        &["--internal-clientset-package", "types without JSON tags (internal versions)"],
        "Internal versions are for API servers that are linked with their types. Clients only use served versions.",
    ),
    excluded(
        &["--single-directory"],
        "Modules are always flat: without internal versions there is no directory level to omit.",
    ),
];

const DEEP_COPY: &[GoTags] = &[
    supported(&["+k8s:deepcopy-gen=package"], "`#[derive(DeepCopy)]` on each type: a derive sees one item."),
    supported(
        &["+k8s:deepcopy-gen=false"],
        "A type that does not derive it, or implements `DeepCopy` manually. A kind needs one of the two.",
    ),
    excluded(&["+k8s:deepcopy-gen=package,register=true"], "The Go generator accepts it and ignores it."),
    excluded(
        &["+k8s:deepcopy-gen:nonpointer-interfaces="],
        "Methods take `&self`: Rust has no choice between value and pointer receivers.",
    ),
];

const APPLY: &[GoTags] = &[
    supported(
        &["+k8s:applyconfiguration-gen="],
        "`#[derive(ApplyConfiguration)]` on the kind and the types in it; a type that does not derive it has none.",
    ),
    supported(
        &["--external-applyconfigurations"],
        "Those of k8s-openapi are in `kubewright-apply`; a field whose type is from another crate is `#[apply(atomic)]`.",
    ),
    supported(
        &["--openapi-schema"],
        "Not needed: the derive declares the structure of a type, so extraction is always available.",
    ),
];

const REGISTER: &[GoTags] = &[supported(&["+k8s:register-gen=false"], "A module without `group_version!`.")];

const DEFAULTER: &[GoTags] = &[
    supported(&["+k8s:defaulter-gen="], "`#[kubewright::defaults]` on types with defaults."),
    supported(
        &["+k8s:defaulter-gen-input=", "--extra-peer-dirs"],
        "Not needed: types and functions are named by their paths, which rustc resolves.",
    ),
    supported(&["--build-tag"], "`#[cfg(..)]`: nothing is generated for types that are not compiled."),
];

const CONVERSION: &[GoTags] = &[
    supported(
        &["+k8s:conversion-gen=false"],
        "`#[convert(lost = \"reason\")]` on the field: a loss has a reason, and no field is lost without one.",
    ),
    supported(
        &["+k8s:conversion-gen-external-types=", "--base-peer-dirs", "--extra-peer-dirs"],
        "`#[convert(hub = v2::Widget)]`: rustc resolves the path of the type, in any crate.",
    ),
    supported(
        &["+k8s:conversion-gen:explicit-from=", "+k8s:conversion-fn="],
        "`#[convert(with = module)]` on the field, with the functions `to_hub` and `from_hub`.",
    ),
    excluded(&["--skip-unsafe"], "There are no unsafe conversions."),
];

/// The API server validates the schema of the CRD.
const VALIDATION: &[GoTags] = &[
    supported(&["+k8s:optional"], "The type: `T` is required, `Option<T>` is not."),
    supported(&["+k8s:enum"], "A Rust enum without data."),
    supported(
        &["+k8s:item(..)=", "+k8s:subfield(..)="],
        "A rule in CEL on the field: `#[schema(validation(rule = \"self.filter(i, i.name == 'a').all(i, i.size > 0)\"))]`.",
    ),
    supported(
        &["+k8s:modeDiscriminator", "+k8s:ifMode(..)="],
        "A Rust enum with `#[serde(tag = \"mode\")]`: each variant has its fields and their constraints.",
    ),
    supported(
        &["+k8s:unionMember", "+k8s:unionDiscriminator", "+k8s:zeroOrOneOfMember"],
        "A Rust enum, or a struct with `#[schema(exactly_one_of = [a, b])]` or `at_most_one_of`.",
    ),
    supported(
        &["+k8s:opaqueType"],
        "`#[schema(schemaless, preserve_unknown_fields)]` on the field: its type is not part of the schema.",
    ),
    supported(
        &["+k8s:validation-gen=", "+k8s:validation-gen-input=", "--readonly-pkg", "--docs"],
        "`#[derive(CrdSchema)]` on each type. `validate()` and `validate_update(&old)` of `kubewright::core::Validate` \
         validate in the program as the API server does.",
    ),
    supported(
        &["+k8s:customUnique", "+k8s:customValidation"],
        "A `Validator` of `Webhooks`, with the constructors of `FieldError`.",
    ),
    supported(&["+k8s:enumExclude"], "A Rust enum without this variant."),
    supported(
        &["+k8s:alpha(..)=", "+k8s:beta(..)="],
        "`#[policy(rule = \"..\")]` with the actions `Warn` and `Audit`, which reports violations and rejects nothing.",
    ),
    supported(
        &["+k8s:ifEnabled(..)=", "+k8s:ifDisabled(..)="],
        "`#[policy(rule = \"..\")]` with `params`, or a `Validator` of `Webhooks`: a schema has no options.",
    ),
    supported(
        &["+k8s:isSubresource=", "+k8s:supportsSubresource="],
        "`#[k8s(subresource(..))]`: requests of a subresource are validated with the schema of the kind.",
    ),
    excluded(
        &["+k8s:validation-gen-scheme-registry=", "+k8s:validation-gen-nolint"],
        "Validators are not registered in a scheme, and every constraint is checked by the derive.",
    ),
    excluded(
        &[
            "+k8s:validateTrue",
            "+k8s:validateFalse",
            "+k8s:validateError",
            "+k8s:validateTrueAlpha",
            "+k8s:validateTrueBeta",
            "+k8s:validation-gen-test-fixture=",
            "+k8s:validation-gen-test-targets=",
            "--test-output-root",
            "--test-output-file-prefix",
            "--test-allowlist",
        ],
        "Tests of the Go generator itself.",
    ),
];

const PROTOBUF: &[GoTags] = &[excluded(
    &[
        "+k8s:protobuf-gen=",
        "+protobuf=",
        "+protobuf.nullable",
        "+protobuf.options.*",
        "+protobuf.as=",
        "+protobuf.embed=",
        "protobuf:\"..\"",
        "--packages",
        "-p",
        "--apimachinery-packages",
        "--proto-import",
        "--conditional",
        "--clean",
        "--only-idl",
        "--keep-gogoproto",
        "--drop-gogo-go",
        "--skip-generated-rewrite",
        "--drop-embedded-fields",
    ],
    "Custom resources are not served as protobuf.",
)];

const OPENAPI: &[GoTags] = &[
    supported(
        &["+k8s:openapi-gen=true", "+k8s:openapi-gen=false", "+k8s:openapi-model-package="],
        "`#[derive(CrdSchema)]`; the schema is in the CRD, and the API server publishes it.",
    ),
    supported(
        &["+k8s:openapi-gen=x-kubernetes-*:.."],
        "`#[schemars(extend(\"x-kubernetes-..\" = ..))]` on the type or field.",
    ),
    supported(&["+optional"], "The type: `T` is required, `Option<T>` is not."),
    supported(&["+enum"], "A Rust enum without data."),
    supported(&["+k8s:validation:*"], "The keys of `#[schema(..)]` that correspond to `+kubebuilder:validation`."),
    supported(
        &["+union", "+unionDiscriminator", "+unionDeprecated"],
        "A Rust enum, or a struct with `#[schema(exactly_one_of = [a, b])]` or `at_most_one_of`.",
    ),
    supported(
        &["--report-filename", "-r", "--output-model-name-file", "--readonly-pkg"],
        "A type without a schema is an error of `cargo xtask codegen` on its field, so there is no report.",
    ),
    excluded(
        &["+patchStrategy=", "+patchMergeKey="],
        "The API server does not support strategic merge patches for custom resources.",
    ),
];

const SCRIPT: &[GoTags] = &[
    supported(
        &["kube::codegen::gen_helpers", "kube::codegen::gen_client", "kube::codegen::gen_register"],
        "Derives, `group_version!` and one `cargo xtask codegen`. An API without kinds is an error.",
    ),
    supported(&["kube::codegen::gen_openapi"], "`#[derive(CrdSchema)]` and the CRD files."),
    supported(
        &["--one-input-api", "--extra-peer-dir", "--extra-pkgs"],
        "The groups that `xtask` passes to `kubewright_codegen::cli`.",
    ),
    supported(
        &["--output-dir", "--output-pkg", "--clientset-name"],
        "`--client-dir DIR`: the clientset is `Clientset` in that crate.",
    ),
    supported(
        &["--versioned-name", "--listers-name", "--informers-name", "--applyconfig-name"],
        "The modules are named `clientset`, `listers`, `informers` and `applyconfigurations` in every client crate.",
    ),
    supported(
        &["--with-watch", "--with-applyconfig"],
        "Always generated; each layer can be behind a cargo feature of the client crate.",
    ),
    supported(
        &["--applyconfig-externals", "--applyconfig-openapi-schema"],
        "See `--external-applyconfigurations` and `--openapi-schema` of applyconfiguration-gen.",
    ),
    supported(&["--plural-exceptions"], "`#[k8s(plural = \"..\")]` on the kind."),
    supported(&["--lint-rules"], "Always enabled: an unknown attribute key is a compile error."),
    supported(
        &["--report-filename", "--update-report", "--output-model-name-file"],
        "A type without a schema is an error, so there is no report.",
    ),
    supported(&["KUBE_CODEGEN_TAG"], "Cargo.lock: the generator is a normal dependency of `xtask`."),
    supported(&["KUBE_VERBOSE"], "The output lists every file and whether it changed."),
    supported(&["--boilerplate"], "See `--go-header-file` of every generator."),
    excluded(&["--prefers-protobuf"], "Custom resources are not served as protobuf."),
];

const CONTROLLER: &[GoTags] = &[
    supported(&["+kubebuilder:example="], "`#[schemars(example = path)]`, or `extend(\"example\" = ..)` for a value."),
    supported(
        &["+kubebuilder:validation:Type="],
        "`#[schemars(with = \"Type\")]` or `#[schemars(schema_with = \"path::function\")]` on the field.",
    ),
    supported(&["+kubebuilder:validation:Optional"], "The type: `T` is required, `Option<T>` is not."),
    supported(&["+kubebuilder:validation:XIntOrString"], "A field of k8s-openapi's type `IntOrString`."),
    supported(&["+kubebuilder:object:generate="], "`#[derive(DeepCopy)]` on each type to copy."),
    supported(
        &["+kubebuilder:ac:generate=false", "+kubebuilder:ac:output:package="],
        "A type that does not derive `ApplyConfiguration`; the configurations are in the client crate.",
    ),
    supported(&["+kubebuilder:skip"], "A type that is in no `group_version!`."),
    supported(&["+kubebuilder:skipversion"], "A type that is in no `group_version!`."),
    supported(
        &["+kubebuilder:rbac:"],
        "`Allow` of the controller, for what does not follow from its watches; `cargo xtask manifests` renders the roles.",
    ),
    supported(
        &["+kubebuilder:webhook:", "+kubebuilder:webhookconfiguration:"],
        "A defaulter or a validator of `Webhooks`, for rules that depend on other objects or on the user; \
         `#[default(..)]` and `#[schema(validation(rule = \"..\"))]` need no webhook.",
    ),
    excluded(&["+kubebuilder:validation:UniqueItems="], "The API server forbids it; use `#[schema(list_type = set)]`."),
];

#[cfg(test)]
mod tests {
    use super::{super::find::SECTIONS, *};

    #[test]
    fn go_tags_are_listed_once() {
        let attributes: Vec<_> = SECTIONS.iter().flat_map(|place| place.keys).flat_map(|k| k.go_tags).collect();
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for tool in TOOLS {
            for tag in tool.rows.iter().flat_map(|row| row.tags) {
                assert!(!attributes.contains(&tag), "{tag} has an attribute");
                assert!(!seen.contains(&(tool.name, tag)), "{}: {tag} is listed twice", tool.name);
                seen.push((tool.name, tag));
            }
        }
    }

    #[test]
    fn every_equivalent_ends_with_a_full_stop() {
        for row in TOOLS.iter().flat_map(|tool| tool.rows) {
            assert!(row.equivalent.ends_with('.') && !row.tags.is_empty(), "{:?}: {}", row.tags, row.equivalent);
        }
    }
}
