//! Tags, markers and flags of the Go tools that have no attribute here: what does it instead, or why nothing does.

/// A Go tool and those of its tags and flags that have no attribute.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) rows: &'static [Elsewhere],
}

/// Tags that have one answer.
pub(crate) struct Elsewhere {
    pub(crate) tags: &'static [&'static str],
    pub(crate) stand: Stand,
    /// What does it, or why nothing does.
    pub(crate) here: &'static str,
}

/// Whether it is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stand {
    /// Something else does it.
    Done,
    /// It comes later.
    Later,
    /// It does not come.
    Out,
}

const fn done(tags: &'static [&'static str], here: &'static str) -> Elsewhere {
    Elsewhere { tags, stand: Stand::Done, here }
}

const fn later(tags: &'static [&'static str], here: &'static str) -> Elsewhere {
    Elsewhere { tags, stand: Stand::Later, here }
}

const fn out(tags: &'static [&'static str], here: &'static str) -> Elsewhere {
    Elsewhere { tags, stand: Stand::Out, here }
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

const EVERY: &[Elsewhere] = &[
    done(
        &["--output-dir", "--output-pkg", "--output-file"],
        "`cargo xtask codegen --client-dir DIR --crd-dir DIR`; by default `my-client/src` and `config/crd/bases`.",
    ),
    done(&["--lint-rules"], "Always on: an unknown keyword is a compile error on the word, with what was meant."),
    later(&["--go-header-file"], "Generated files begin with a mark; a header of one's own cannot be given yet."),
];

const CLIENT: &[Elsewhere] = &[
    done(&["+genclient (on a list)"], "`#[derive(ObjectList)]` on the list; `#[genclient]` is on the kind only."),
    done(&["+k8s:client-gen="], "A kind without `#[genclient]` has no client."),
    done(
        &["--input", "--input-base"],
        "The groups that `xtask` hands to `logger_codegen::cli`. There is no layout of directories to keep.",
    ),
    done(&["--included-types-overrides"], "`kinds = [..]` of `group_version!`."),
    done(
        &["--clientset-name", "-n", "--clientset-path"],
        "The clientset is `Clientset` in the client crate; `--client-dir` says which crate that is.",
    ),
    done(&["--clientset-api-path"], "It follows from the group: `/api` for the core group, `/apis` for the others."),
    done(&["--fake-clientset"], "`logger-apiserver`, an API server in memory under the real clientset."),
    done(&["--plural-exceptions"], "`#[k8s(plural = \"..\")]` on the kind, once for all that is generated."),
    done(
        &["--apply-configuration-package"],
        "`#[derive(ApplyConfiguration)]`; the configurations are in the client crate.",
    ),
    done(
        &["<type>_expansion.go"],
        "A trait of one's own, implemented for the client of the kind. Nothing has to be reserved for it.",
    ),
    done(&["register_custom.go"], "`Scheme::add`, where the scheme is made."),
    out(&["--clientset-only"], "A clientset without clients has no use."),
    out(&["--prefers-protobuf"], "Custom resources are not served as protobuf."),
];

const INFORMER: &[Elsewhere] = &[
    done(
        &["+k8s:lister-gen=", "+k8s:informer-gen="],
        "A kind whose client has `list` and `watch` has an informer, and with `get` a lister.",
    ),
    done(
        &["--versioned-clientset-package", "--listers-package"],
        "Clients, listers and informers are modules of one crate and know each other.",
    ),
    out(
        &["--internal-clientset-package", "types without JSON tags (internal versions)"],
        "Internal versions are for API servers that are linked with their types. Clients meet served versions only.",
    ),
    out(
        &["--single-directory"],
        "Modules are always flat: without internal versions there is no level of directories to leave out.",
    ),
];

const DEEP_COPY: &[Elsewhere] = &[
    done(&["+k8s:deepcopy-gen=package"], "`#[derive(DeepCopy)]` on each type: a derive sees one item."),
    done(
        &["+k8s:deepcopy-gen=false"],
        "A type that does not derive it, or has an `impl DeepCopy` of its own. A kind needs one of the two.",
    ),
    out(&["+k8s:deepcopy-gen=package,register=true"], "Go's own generator takes it and makes nothing of it."),
    out(
        &["+k8s:deepcopy-gen:nonpointer-interfaces="],
        "Methods take `&self`: Rust has no receivers by value and by pointer to choose from.",
    ),
];

const APPLY: &[Elsewhere] = &[
    done(
        &["+k8s:applyconfiguration-gen="],
        "`#[derive(ApplyConfiguration)]` on the kind and the types in it; what does not derive it has none.",
    ),
    done(
        &["--external-applyconfigurations"],
        "Types of k8s-openapi have theirs in `logger-apply`; a field of another crate's type is `#[apply(atomic)]`.",
    ),
    done(
        &["--openapi-schema"],
        "Not needed: what a type looks like is known from its derive, so extraction is always there.",
    ),
];

const REGISTER: &[Elsewhere] = &[done(&["+k8s:register-gen=false"], "A module without `group_version!`.")];

const DEFAULTER: &[Elsewhere] = &[
    done(&["+k8s:defaulter-gen="], "`#[logger_core::defaults]` on the types that have defaults."),
    done(
        &["+k8s:defaulter-gen-input=", "--extra-peer-dirs"],
        "Not needed: types and functions are named by their paths, and rustc finds them.",
    ),
    done(&["--build-tag"], "`#[cfg(..)]`: types that are not compiled are not generated from."),
];

const CONVERSION: &[Elsewhere] = &[
    later(
        &[
            "+k8s:conversion-gen=",
            "+k8s:conversion-gen-external-types=",
            "+k8s:conversion-gen:explicit-from=",
            "+k8s:conversion-fn=",
            "--base-peer-dirs",
            "--extra-peer-dirs",
        ],
        "Conversion between versions. Today a kind is in one version only.",
    ),
    out(&["--skip-unsafe"], "Nothing is unsafe here, so there is nothing to skip."),
];

/// What the CRD's schema can say, the API server checks; nothing is checked in the client yet.
const VALIDATION: &[Elsewhere] = &[
    done(&["+k8s:optional"], "The type: `T` is required, `Option<T>` is not."),
    done(&["+k8s:enum"], "A Rust enum without data."),
    done(
        &[
            "+k8s:forbidden",
            "+k8s:neq=",
            "+k8s:monotonic",
            "+k8s:update=",
            "+k8s:unique=",
            "+k8s:eachKey=",
            "+k8s:item(..)=",
            "+k8s:subfield(..)=",
            "+k8s:modeDiscriminator",
            "+k8s:ifMode(..)=",
            "+k8s:dependentRequired(..)",
            "+k8s:dependentForbidden(..)",
        ],
        "A rule in CEL: `#[schema(validation(rule = \"self >= oldSelf\"))]` on the field or its type.",
    ),
    done(
        &["+k8s:unionMember", "+k8s:unionDiscriminator", "+k8s:zeroOrOneOfMember"],
        "A Rust enum, or a struct with `#[schema(exactly_one_of = [a, b])]` or `at_most_one_of`.",
    ),
    done(
        &["+k8s:opaqueType"],
        "`#[schema(schemaless, preserve_unknown_fields)]` on the field: the schema then knows nothing of its type.",
    ),
    later(
        &[
            "+k8s:validation-gen=",
            "+k8s:validation-gen-input=",
            "+k8s:validation-gen-scheme-registry=",
            "+k8s:validation-gen-nolint",
            "--readonly-pkg",
            "--docs",
        ],
        "Validation in the client. Today the API server alone checks, by the CRD's schema.",
    ),
    later(
        &["+k8s:maxBytes=", "+k8s:customUnique", "+k8s:customValidation"],
        "No schema can say it, so it comes with validation in the client.",
    ),
    later(
        &["+k8s:enumExclude", "+k8s:ifEnabled(..)=", "+k8s:ifDisabled(..)=", "+k8s:alpha(..)=", "+k8s:beta(..)="],
        "Rules that are switched on by options come with validation in the client.",
    ),
    later(
        &["+k8s:isSubresource=", "+k8s:supportsSubresource="],
        "Rules for one subresource come with validation in the client.",
    ),
    out(
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
        "They test the Go generator itself.",
    ),
];

const PROTOBUF: &[Elsewhere] = &[out(
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
    "Custom resources are not served as protobuf, so there is nothing to generate.",
)];

const OPENAPI: &[Elsewhere] = &[
    done(
        &["+k8s:openapi-gen=true", "+k8s:openapi-gen=false", "+k8s:openapi-model-package="],
        "schemars' `#[derive(JsonSchema)]`; the schema is in the CRD, and the API server publishes it.",
    ),
    done(
        &["+k8s:openapi-gen=x-kubernetes-*:.."],
        "`#[schemars(extend(\"x-kubernetes-..\" = ..))]` on the type or field.",
    ),
    done(&["+optional"], "The type: `T` is required, `Option<T>` is not."),
    done(&["+enum"], "A Rust enum without data."),
    done(&["+k8s:validation:*"], "The keywords of `#[schema(..)]` that stand for `+kubebuilder:validation`."),
    done(
        &["+union", "+unionDiscriminator", "+unionDeprecated"],
        "A Rust enum, or a struct with `#[schema(exactly_one_of = [a, b])]` or `at_most_one_of`.",
    ),
    done(
        &["--report-filename", "-r", "--output-model-name-file", "--readonly-pkg"],
        "What has no schema is an error of `cargo xtask codegen` on its field: there is no report to keep.",
    ),
    out(
        &["+patchStrategy=", "+patchMergeKey="],
        "The API server takes no strategic merge patches for custom resources.",
    ),
];

const SCRIPT: &[Elsewhere] = &[
    done(
        &["kube::codegen::gen_helpers", "kube::codegen::gen_client", "kube::codegen::gen_register"],
        "Derives, `group_version!` and one `cargo xtask codegen`. Without kinds it is an error, not a silent success.",
    ),
    done(&["kube::codegen::gen_openapi"], "schemars' `#[derive(JsonSchema)]` and the CRD files."),
    done(
        &["--one-input-api", "--extra-peer-dir", "--extra-pkgs"],
        "The groups that `xtask` hands to `logger_codegen::cli`.",
    ),
    done(
        &["--output-dir", "--output-pkg", "--clientset-name"],
        "`--client-dir DIR`: the clientset is `Clientset` in that crate.",
    ),
    done(
        &["--versioned-name", "--listers-name", "--informers-name", "--applyconfig-name"],
        "The modules are called `clientset`, `listers`, `informers` and `applyconfigurations` in every client crate.",
    ),
    done(
        &["--with-watch", "--with-applyconfig"],
        "Always generated; cargo features of the client crate, one for each layer, leave out what is not used.",
    ),
    done(
        &["--applyconfig-externals", "--applyconfig-openapi-schema"],
        "As `--external-applyconfigurations` and `--openapi-schema` of applyconfiguration-gen.",
    ),
    done(&["--plural-exceptions"], "`#[k8s(plural = \"..\")]` on the kind."),
    done(&["--lint-rules"], "Always on: an unknown keyword is a compile error."),
    done(
        &["--report-filename", "--update-report", "--output-model-name-file"],
        "What has no schema is an error: there is no report to keep.",
    ),
    done(&["KUBE_CODEGEN_TAG"], "Cargo.lock: the generator is a dependency of `xtask` like any other."),
    done(&["KUBE_VERBOSE"], "Every file is named with what was done to it."),
    later(&["--boilerplate"], "As `--go-header-file` of every generator."),
    out(&["--prefers-protobuf"], "Custom resources are not served as protobuf."),
];

const CONTROLLER: &[Elsewhere] = &[
    done(&["+kubebuilder:example="], "`#[schemars(example = path)]`, or `extend(\"example\" = ..)` for a value."),
    done(
        &["+kubebuilder:validation:Type="],
        "`#[schemars(with = \"Type\")]` or `#[schemars(schema_with = \"path::function\")]` on the field.",
    ),
    done(&["+kubebuilder:validation:Optional"], "The type: `T` is required, `Option<T>` is not."),
    done(&["+kubebuilder:validation:XIntOrString"], "A field of k8s-openapi's type `IntOrString`."),
    done(&["+kubebuilder:object:generate="], "`#[derive(DeepCopy)]` on each type that is to be copied."),
    done(
        &["+kubebuilder:ac:generate=false", "+kubebuilder:ac:output:package="],
        "A type that does not derive `ApplyConfiguration`; the configurations are in the client crate.",
    ),
    done(&["+kubebuilder:skip"], "A type that is in no `group_version!`."),
    done(&["+kubebuilder:skipversion"], "A type that is in no `group_version!`."),
    later(&["+kubebuilder:rbac:"], "Roles, from what a controller does."),
    later(&["+kubebuilder:webhook:", "+kubebuilder:webhookconfiguration:"], "Webhooks and their configuration."),
    out(
        &["+kubebuilder:validation:UniqueItems="],
        "The API server forbids it: a list is a `set` by `x-kubernetes-list-type`.",
    ),
];
