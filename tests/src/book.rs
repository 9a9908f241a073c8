//! The examples of the README and the book, compiled and run as documentation tests.

/// Includes each page as the documentation of a module.
macro_rules! pages {
    ($($name:ident: $path:literal,)*) => {$(
        #[doc = include_str!(concat!("../../", $path))]
        mod $name {}
    )*};
}

pages! {
    readme: "README.md",
    agent: "docs/example/agent.md",
    crds: "docs/guides/crds.md",
    conversion: "docs/guides/conversion.md",
    policies: "docs/guides/policies.md",
    controllers: "docs/guides/controllers.md",
    events: "docs/guides/events.md",
    leader_election: "docs/guides/leader-election.md",
    sharding: "docs/guides/sharding.md",
    manager: "docs/guides/manager.md",
    serving: "docs/guides/serving.md",
    webhooks: "docs/guides/webhooks.md",
    certificates: "docs/guides/certificates.md",
    rbac: "docs/guides/rbac.md",
    telemetry: "docs/guides/telemetry.md",
    testing: "docs/guides/testing.md",
    apply: "docs/guides/apply.md",
    scheme: "docs/guides/scheme.md",
    adoption: "docs/guides/adoption.md",
    logger_operator: "docs/example/logger-operator.md",
    cookbook: "docs/guides/cookbook.md",
    client_go: "docs/coming-from/client-go.md",
    kube_runtime: "docs/coming-from/kube-runtime.md",
    metrics: "docs/reference/metrics.md",
}
