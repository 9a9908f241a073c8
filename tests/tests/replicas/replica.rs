//! Starts the program `replica`.

use libtest_mimic::Failed;
use tests::replica::{Options, Replica};

pub(super) fn start_replica(options: &Options) -> Result<Replica, Failed> {
    Ok(Replica::start(env!("CARGO_BIN_EXE_replica").as_ref(), options)?)
}
