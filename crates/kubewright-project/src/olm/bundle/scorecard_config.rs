//! The configuration of the scorecard of the Operator SDK, which runs each test in a Pod. `cargo xtask scorecard` needs
//! none.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::scorecard::TESTS;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ScorecardConfig<'a> {
    api_version: &'static str,
    kind: &'static str,
    metadata: BTreeMap<&'static str, &'static str>,
    stages: [ScorecardStage<'a>; 1],
}

#[derive(Serialize)]
struct ScorecardStage<'a> {
    parallel: bool,
    tests: Vec<ScorecardTest<'a>>,
}

#[derive(Serialize)]
struct ScorecardTest<'a> {
    entrypoint: [&'static str; 2],
    image: &'a str,
    labels: BTreeMap<&'static str, &'static str>,
}

/// Returns the configuration for this image of the tests.
pub(super) fn render(image: &str) -> ScorecardConfig<'_> {
    let test = |test: &'static str| ScorecardTest {
        entrypoint: ["scorecard-test", test],
        image,
        labels: BTreeMap::from([("suite", test.split('-').next().unwrap_or_default()), ("test", test)]),
    };
    ScorecardConfig {
        api_version: "scorecard.operatorframework.io/v1alpha3",
        kind: "Configuration",
        metadata: BTreeMap::from([("name", "config")]),
        stages: [ScorecardStage { parallel: true, tests: TESTS.into_iter().map(|(name, _)| test(name)).collect() }],
    }
}
