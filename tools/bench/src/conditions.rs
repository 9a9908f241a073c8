//! What the figures were measured on.

use std::process::Command;
use std::{fs, thread};

use crate::{cargo, go, paths, program};

/// Prints it. What cannot be found out is said to be unknown.
pub(crate) fn print() {
    let cores = thread::available_parallelism().map_or_else(|_| unknown(), |cores| cores.to_string());
    let rustc = said(Command::new("rustc").arg("--version").current_dir(paths::workspace_root()));
    let cargo = said(&mut cargo::command(paths::workspace_root(), ["--version"]));
    let go = said(Command::new("go").args(["env", "GOVERSION"]));
    println!("{}, {cores} cores, load {}", processor(), load());
    println!("{rustc}; {cargo}; {go}; {}\n", go::versions());
}

fn said(command: &mut Command) -> String {
    program::output(command).map_or_else(|_| unknown(), |text| text.trim().to_owned())
}

fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(unknown, |(_, name)| name.trim().to_owned())
}

/// Of the last minute: what else the machine does.
fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().filter(|load| !load.is_empty()).map_or_else(unknown, str::to_owned)
}

fn unknown() -> String {
    "unknown".to_owned()
}
