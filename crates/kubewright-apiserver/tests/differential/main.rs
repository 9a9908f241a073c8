//! Differential tests: random operations are sent to a real kube-apiserver and to the server in memory. Both must
//! answer each request equally, and end with the same objects and the same events.
//!
//! Operations are generated from the kinds and fragments in `fragments.yaml`. A plain run executes the same few cases
//! each time; `DIFFERENTIAL=10m` (or `s`, `h`) executes other cases for that time. A seed determines each case. A
//! failing case is shrunk to a minimal script, which is printed with the seed: `DIFFERENTIAL_SEED=SEED` runs that case
//! alone. Parts of answers that are not compared are removed in `session.rs`, with the reasons.
//!
//! Without a control plane the test is ignored. With `KUBEWRIGHT_REQUIRE_CONTROL_PLANE=1`, as in CI, that is a failure.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and the helpers of tests are part of them")]

mod fragments;
#[path = "../conformance/json_diff.rs"]
mod json_diff;
#[path = "../conformance/normalize.rs"]
mod normalize;
mod operations;
mod script;
mod session;

use std::{
    error::Error,
    process::ExitCode,
    time::{Duration, Instant},
};

use envtest::{ControlPlane, Suite};
use libtest_mimic::{Arguments, Failed};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use fragments::Fragments;
use operations::Request;
use script::Servers;

/// The number of cases of a plain run.
const CASES: u64 = 60;

/// The maximum number of attempts to shrink a failing script.
const SHRINK_STEPS: usize = 150;

/// The number of failures after which the run stops.
const MAX_FAILURES: usize = 8;

fn main() -> ExitCode {
    envtest::exit_code(run(&Arguments::from_args()))
}

fn run(args: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let suite = Suite::new("differential tests with a real server", |assets| Ok(ControlPlane::start(assets)?))?;
    let trials = vec![suite.test("random_operations_have_equal_results_on_both_servers", compare_random_operations)];
    Ok(suite.run(args, trials).exit_code())
}

fn compare_random_operations(control_plane: &ControlPlane) -> Result<(), Failed> {
    let fragments = Fragments::read();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let servers = runtime.block_on(Servers::prepare(control_plane, &fragments));
    let failed: Vec<u64> =
        seeds().filter(|seed| !passes(&runtime, &servers, &fragments, *seed)).take(MAX_FAILURES).collect();
    match failed.first() {
        None => Ok(()),
        Some(seed) => Err(format!("the servers differ; repeat one case with DIFFERENTIAL_SEED={seed}").into()),
    }
}

/// Returns the requested seed, the seeds of a plain run, or as many seeds as fit into the requested time.
fn seeds() -> Box<dyn Iterator<Item = u64>> {
    if let Ok(seed) = std::env::var("DIFFERENTIAL_SEED") {
        return Box::new(std::iter::once(seed.parse().unwrap()));
    }
    let Ok(time) = std::env::var("DIFFERENTIAL") else { return Box::new(0..CASES) };
    let (number, unit) = time.split_at(time.len() - 1);
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        other => panic!("DIFFERENTIAL must be a number followed by s, m or h, not {other}"),
    };
    let end = Instant::now() + Duration::from_secs(number.parse::<u64>().unwrap() * unit);
    let first = u64::from(std::process::id()) << 32;
    println!("the first case has DIFFERENTIAL_SEED={first}");
    Box::new((first..).take_while(move |_| Instant::now() < end))
}

/// Reports whether a case has equal results on both servers. If not, prints its minimal script.
fn passes(runtime: &tokio::runtime::Runtime, servers: &Servers<'_>, fragments: &Fragments, seed: u64) -> bool {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, rng);
    let mut tree = operations::script(fragments).new_tree(&mut runner).unwrap();
    let difference = |script: &[Request]| runtime.block_on(servers.difference(script));
    let Some(mut report) = difference(&tree.current()) else { return true };
    let mut minimal = tree.current();
    let mut is_smaller = tree.simplify();
    for _ in 0..SHRINK_STEPS {
        if !is_smaller {
            break;
        }
        is_smaller = match difference(&tree.current()) {
            Some(found) => {
                (report, minimal) = (found, tree.current());
                tree.simplify()
            }
            None => tree.complicate(),
        };
    }
    println!("\nDIFFERENTIAL_SEED={seed}");
    minimal.iter().for_each(|request| println!("    - {request}"));
    println!("{report}");
    false
}
