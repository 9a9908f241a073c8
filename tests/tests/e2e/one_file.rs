//! The operator in one file on its embedded API server, with kubectl.

use std::{path::Path, process::Command, sync::Arc};

use libtest_mimic::{Failed, Trial};
use tests::{
    process::{Process, Signal, wait_until},
    program,
};

use super::Suite;

const NOTE: &str = "\
apiVersion: notes.example.com/v1
kind: Note
metadata: {name: greeting, namespace: default}
spec: {text: hello}
";

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    vec![suite.test("one_file::a_child_is_visible_to_kubectl", |environment| {
        let kubectl = environment.assets.kubectl();
        published(&kubectl)
    })]
}

fn published(kubectl: &Path) -> Result<(), Failed> {
    let files = tempfile::tempdir()?;
    let (kubeconfig, note) = (files.path().join("kubeconfig"), files.path().join("note.yaml"));
    std::fs::write(&note, NOTE)?;
    let mut operator = Command::new(program("one-file"));
    operator.env("KUBEWRIGHT_KUBECONFIG", &kubeconfig).current_dir(files.path());
    let operator = Process::start("one-file", &mut operator, files.path().join("log"))?;
    let run = |args: &[&str]| -> Result<(bool, String), Failed> {
        let mut command = Command::new(kubectl);
        command.arg("--kubeconfig").arg(&kubeconfig).args(args).env_remove("KUBECONFIG").env("HOME", files.path());
        let output = command.output()?;
        Ok((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
    };
    let note = note.display().to_string();
    wait_until::<Failed>("the server accepts the Note", || Ok(kubeconfig.exists() && run(&["apply", "-f", &note])?.0))?;
    wait_until::<Failed>("the ConfigMap", || {
        Ok(run(&["get", "configmap", "greeting", "-o", "jsonpath={.data.text}"])?.1 == "hello")
    })?;
    wait_until::<Failed>("the condition and the event", || {
        let (_, page) = run(&["describe", "note", "greeting"])?;
        Ok(page.contains("Type:                  Ready") && page.contains("Published"))
    })?;
    operator.signal(Signal::INT)?;
    let exit = operator.wait()?;
    match exit.code == Some(0) && !kubeconfig.exists() {
        true => Ok(()),
        false => Err(format!("expected exit code 0, and no kubeconfig: {:?} {}", exit.code, exit.errors).into()),
    }
}
