# The images of the operator and of the agent: one static program each, in an empty root.
#
#   docker build --target logger-operator --tag logger-operator .
#   docker build --target logger-agent --tag logger-agent .
#   docker build --target sbom --output sbom .
#
# Equal sources and base images give equal programs: select the latter with `--build-arg BASE=IMAGE@sha256:..`. With
# `--build-arg SOURCE_DATE_EPOCH=$(git log -1 --pretty=%ct)` and the output option `rewrite-timestamp=true` of BuildKit,
# they give equal images.

# The compiler of rust-toolchain.toml.
ARG RUST=1.95.0
ARG BASE=rust:${RUST}-alpine

FROM ${BASE} AS tools
ARG RUST
ENV RUSTUP_TOOLCHAIN=${RUST}
# The dependencies of each program are listed in it by cargo-auditable, and in files by cargo-cyclonedx.
RUN cargo install --locked cargo-chef@0.1.78 cargo-auditable@0.7.7 cargo-cyclonedx@0.5.9
WORKDIR /source

# The manifests and the lock file: all that the dependencies are compiled from.
FROM tools AS recipe
COPY . .
RUN cargo chef prepare --recipe-path recipe.json

FROM tools AS build
# No path of this image is part of a program.
ENV RUSTFLAGS="--remap-path-prefix=/source=. --remap-path-prefix=/usr/local/cargo=cargo"
# This layer is cached until a dependency changes.
COPY --from=recipe /source/recipe.json recipe.json
RUN cargo chef cook --profile image --package logger-operator --recipe-path recipe.json
RUN cargo chef cook --profile image --package logger-agent --recipe-path recipe.json
COPY . .
ARG SOURCE_DATE_EPOCH=0
ENV SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH}
RUN cargo auditable build --locked --profile image --package logger-operator
RUN cargo auditable build --locked --profile image --package logger-agent
RUN cargo cyclonedx --format json

FROM scratch AS sbom
COPY --from=build /source/logger-operator/logger-operator.cdx.json /
COPY --from=build /source/logger-agent/logger-agent.cdx.json /

FROM scratch AS logger-agent
COPY --from=build /source/target/image/logger-agent /
EXPOSE 8080
USER 65532:65532
ENTRYPOINT ["/logger-agent"]

# The last target is the default.
FROM scratch AS logger-operator
COPY --from=build /source/target/image/logger-operator /
EXPOSE 8081 8443 9443
USER 65532:65532
ENTRYPOINT ["/logger-operator"]
