//! Two programs with one name: the second is reported, and waits until the first has ended.

use std::sync::Arc;

use envtest::ControlPlane;
use fastrand::Rng;
use libtest_mimic::{Failed, Trial};
use tests::{process::wait_until, replica::ShardingField};

use super::{Suite, fleet::Fleet};

const OBJECTS: usize = 50;
/// Why the second program waits.
const REASON: &str = "other replicas share 64 slots by uid of the controllers `config-maps`: this one starts when they \
                      have ended; two programs need different names";

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    let name = "programs::a_second_program_with_the_name_of_another_one_is_reported_and_waits";
    vec![suite.test(name, |control_plane| run(&control_plane.lock()))]
}

fn run(control_plane: &ControlPlane) -> Result<(), Failed> {
    let mut fleet = Fleet::new(control_plane, "programs")?;
    fleet.add(1)?;
    fleet.wait_until_even()?;
    let load = fleet.load(OBJECTS, Rng::new())?;
    let other = fleet.start(ShardingField::Namespace)?;
    wait_until("the report of the second program", || Ok::<_, Failed>(other.replica.log()?.contains(REASON)))?;
    assert!(fleet.members[0].replica.has_reconciled());
    assert!(!other.replica.has_reconciled() && other.replica.slots().is_empty());

    fleet.remove(0)?;
    fleet.members.push(other);
    fleet.wait_until_even()?;
    let desired = fleet.runtime.block_on(load.stop())?;
    fleet.wait_until_converged(&desired)?;
    assert!(fleet.members[0].replica.has_reconciled());
    fleet.stop()?;
    fleet.assert_no_overlap();
    Ok(())
}
