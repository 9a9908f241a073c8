//! In step: random operations are sent to a real kube-apiserver and to the server in memory, which answer alike, request by request,
//! and end with the same objects and the same events.
//!
//! What operations are made of is in `menu.yaml`. A plain run does the same few cases each time; `IN_STEP=10m` (or `s`, `h`) goes on
//! for so long with other ones. Each case is decided by a seed; one that fails is cut down to the least script that fails, which is
//! printed with the seed: `IN_STEP_SEED=SEED` runs that case alone. What of an answer does not count is in `side.rs`, with the reason.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and the helpers of tests are part of them")]

#[path = "../conformance/differing.rs"]
mod differing;
mod menu;
#[path = "../conformance/names.rs"]
mod names;
mod operations;
mod script;
mod side;

use std::time::{Duration, Instant};

use envtest::ControlPlane;
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use menu::Menu;
use operations::Request;
use script::Servers;

/// How many cases a plain run has.
const CASES: u64 = 60;

/// How often a script that fails is cut down further, at most.
const CUTS: usize = 150;

/// After so many failures there is enough to do.
const FAILURES: usize = 8;

#[test]
fn random_operations_on_both_servers_end_in_the_same_objects() {
    let Some(assets) = envtest::find_or_skip("random operations in step with a real server").unwrap() else { return };
    let control_plane = ControlPlane::start(&assets).unwrap();
    let menu = Menu::read();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let servers = runtime.block_on(Servers::prepare(&control_plane, &menu));
    let failed: Vec<u64> = seeds().filter(|seed| !holds(&runtime, &servers, &menu, *seed)).take(FAILURES).collect();
    control_plane.stop().unwrap();
    assert!(failed.is_empty(), "the servers differ; one case again: IN_STEP_SEED={}", failed[0]);
}

/// The one that is asked for; those of a plain run; or as many as there is time for.
fn seeds() -> Box<dyn Iterator<Item = u64>> {
    if let Ok(seed) = std::env::var("IN_STEP_SEED") {
        return Box::new(std::iter::once(seed.parse().unwrap()));
    }
    let Ok(time) = std::env::var("IN_STEP") else { return Box::new(0..CASES) };
    let (number, unit) = time.split_at(time.len() - 1);
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        other => panic!("IN_STEP is a number and s, m or h, not {other}"),
    };
    let end = Instant::now() + Duration::from_secs(number.parse::<u64>().unwrap() * unit);
    let first = u64::from(std::process::id()) << 32;
    println!("the first case is IN_STEP_SEED={first}");
    Box::new((first..).take_while(move |_| Instant::now() < end))
}

/// Whether a case goes alike on both servers; if it does not, its least script is printed.
fn holds(runtime: &tokio::runtime::Runtime, servers: &Servers<'_>, menu: &Menu, seed: u64) -> bool {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, rng);
    let mut tree = operations::script(menu).new_tree(&mut runner).unwrap();
    let difference = |script: &[Request]| runtime.block_on(servers.difference(script));
    let Some(mut told) = difference(&tree.current()) else { return true };
    let mut least = tree.current();
    let mut is_smaller = tree.simplify();
    for _ in 0..CUTS {
        if !is_smaller {
            break;
        }
        is_smaller = match difference(&tree.current()) {
            Some(found) => {
                (told, least) = (found, tree.current());
                tree.simplify()
            }
            None => tree.complicate(),
        };
    }
    println!("\nIN_STEP_SEED={seed}");
    least.iter().for_each(|request| println!("    - {request}"));
    println!("{told}");
    false
}
