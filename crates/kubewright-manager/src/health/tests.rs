//! The responses of health checks: the format of kube-apiserver.

use std::sync::atomic::{AtomicBool, Ordering};

use kubewright_runtime::metrics::Metrics;

use super::*;

fn checks() -> HealthChecks {
    let checks = HealthChecks::new();
    checks.add_ready("good", || Ok::<_, String>(())).unwrap();
    checks.add_ready("bad", || Err("first line\n  second line")).unwrap();
    checks
}

fn text(checks: &HealthChecks, path: &str, query: &str) -> String {
    checks.respond(path, query).1
}

#[test]
fn success_is_ok_and_verbose_lists_the_checks() {
    let checks = HealthChecks::new();
    checks.add_live("tasks", || Ok::<_, String>(())).unwrap();
    for endpoint in ["livez", "healthz"] {
        assert_eq!(checks.respond(&format!("/{endpoint}"), ""), (StatusCode::OK, "ok".to_owned()));
        let verbose = format!("[+]ping ok\n[+]tasks ok\n{endpoint} check passed\n");
        assert_eq!(text(&checks, &format!("/{endpoint}"), "verbose"), verbose);
    }
    assert_eq!(text(&checks, "/readyz", "verbose=1"), "[+]ping ok\nreadyz check passed\n");
}

#[test]
fn a_failure_lists_the_checks_with_the_reasons_on_one_line() {
    let expected = "[+]ping ok\n[+]good ok\n[-]bad failed: first line second line\nreadyz check failed\n";
    assert_eq!(checks().respond("/readyz", ""), (StatusCode::INTERNAL_SERVER_ERROR, expected.to_owned()));
    assert_eq!(text(&checks(), "/livez", ""), "ok", "a readiness check does not affect liveness");
}

#[test]
fn excluded_checks_do_not_run() {
    let checks = checks();
    checks.add_ready("worse", || -> Result<(), String> { panic!("excluded") }).unwrap();
    assert_eq!(checks.respond("/readyz", "exclude=bad&exclude=worse").0, StatusCode::OK);
    let expected = "[+]ping ok\n[+]good ok\n[+]bad excluded: ok\n[-]worse failed: the check panicked: excluded\n\
                    warn: some health checks cannot be excluded: no matches for \"a b\",\"other\"\n\
                    readyz check failed\n";
    assert_eq!(text(&checks, "/readyz", "exclude=bad&exclude=other&exclude=a%20b"), expected);
}

#[test]
fn single_checks_have_a_path() {
    let checks = checks();
    assert_eq!(checks.respond("/readyz/good", ""), (StatusCode::OK, "ok".to_owned()));
    let failed = (StatusCode::INTERNAL_SERVER_ERROR, "internal server error: first line second line\n".to_owned());
    assert_eq!(checks.respond("/readyz/bad", ""), failed);
    for path in ["/readyz/unknown", "/livez/good", "/metrics", "/"] {
        assert_eq!(checks.respond(path, "").0, StatusCode::NOT_FOUND, "{path}");
    }
}

#[test]
fn reasons_can_be_withheld() {
    let checks = checks();
    checks.withhold_reasons();
    let expected = "[+]ping ok\n[+]good ok\n[-]bad failed: reason withheld\nreadyz check failed\n";
    assert_eq!(text(&checks, "/readyz", ""), expected);
    assert_eq!(text(&checks, "/readyz/bad", ""), "internal server error: reason withheld\n");
}

#[test]
fn names_are_unique_for_an_endpoint_and_part_of_a_url() {
    let checks = checks();
    let add = |name: &str| checks.add_ready(name, || Ok::<_, String>(()));
    assert_eq!(add("good").unwrap_err().to_string(), "duplicate readyz check `good`: use another name");
    assert!(matches!(add("ping"), Err(AddCheckError::Duplicate { .. })));
    for name in ["", "a/b", "a b", "ü"] {
        assert_eq!(add(name), Err(AddCheckError::InvalidName { name: name.to_owned() }));
    }
    checks.add_live("good", || Ok::<_, String>(())).unwrap();
}

#[test]
fn results_are_metrics() {
    let (checks, metrics) = (HealthChecks::new(), Metrics::default());
    checks.set_metrics(metrics.clone());
    let is_failing = Arc::new(AtomicBool::new(true));
    let state = Arc::clone(&is_failing);
    let check = move || if state.load(Ordering::Relaxed) { Err("failing") } else { Ok(()) };
    checks.add_live("tasks", check).unwrap();
    checks.respond("/livez", "");
    let last = "kubernetes_healthcheck{name=\"tasks\",type=\"livez\"}";
    assert!(metrics.text().contains(&format!("{last} 0.0")), "{}", metrics.text());
    is_failing.store(false, Ordering::Relaxed);
    checks.respond("/livez", "");
    let text = metrics.text();
    assert!(text.contains(&format!("{last} 1.0")), "{text}");
    for status in ["error", "success"] {
        let total = format!("kubernetes_healthchecks_total{{name=\"tasks\",type=\"livez\",status=\"{status}\"}} 1");
        assert!(text.contains(&total), "{text}");
    }
}
