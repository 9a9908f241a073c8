//! The environment of the measurements.

use std::{fs, process::Command, thread};

use crate::{cargo, go, paths, program};

/// Prints processor, load and versions, or `unknown` for what cannot be determined.
pub(crate) fn print() {
    let cores = thread::available_parallelism().map_or_else(|_| unknown(), |cores| cores.to_string());
    let rustc = version_of(Command::new("rustc").arg("--version").current_dir(paths::workspace_root()));
    let cargo = version_of(&mut cargo::command(paths::workspace_root(), ["--version"]));
    let go = version_of(Command::new("go").args(["env", "GOVERSION"]));
    println!("{}, {cores} cores, load {}", processor(), load());
    println!("{rustc}; {cargo}; {go}; {}\n", go::versions());
}

fn version_of(command: &mut Command) -> String {
    program::output(command).map_or_else(|_| unknown(), |text| text.trim().to_owned())
}

fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(unknown, |(_, name)| name.trim().to_owned())
}

/// Returns the load average of the last minute.
fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().filter(|load| !load.is_empty()).map_or_else(unknown, str::to_owned)
}

fn unknown() -> String {
    "unknown".to_owned()
}
