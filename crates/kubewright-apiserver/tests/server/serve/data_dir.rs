//! The data directory after the program stopped or was killed.

use std::{
    collections::BTreeSet,
    sync::{Mutex, mpsc},
    thread,
};

use super::program::{Program, command, names, send};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const WRITERS: usize = 4;

/// Also if the directory exists, or the file is one of a former version.
#[cfg(unix)]
#[test]
fn the_objects_are_readable_by_their_owner_only() {
    use std::{fs, os::unix::fs::PermissionsExt};

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("objects.redb");
    let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    drop(Program::start(&["--data-dir", directory.path().to_str().unwrap()]));
    assert_eq!(mode(), 0o600);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    drop(Program::start(&["--data-dir", directory.path().to_str().unwrap()]));
    assert_eq!(mode(), 0o600);
}

#[test]
fn acknowledged_writes_survive_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["--data-dir", directory.path().to_str().unwrap()];
    let acknowledged = Mutex::new(BTreeSet::new());
    let mut newest = 0;
    for (round, writes) in [1, 7, 40].into_iter().enumerate() {
        let program = Program::start(&args);
        let stored = names(&program);
        assert!(acknowledged.lock().unwrap().is_subset(&stored), "round {round}");
        assert!(version(&program) >= newest, "round {round}: versions increase");
        write_until_killed(program, round, writes, &acknowledged, &mut newest);
    }
    let program = Program::start(&args);
    assert!(acknowledged.lock().unwrap().is_subset(&names(&program)));
    assert!(version(&program) >= newest);
}

/// Writes from several threads, and kills the program after `writes` acknowledgements, during other writes.
fn write_until_killed(
    program: Program,
    round: usize,
    writes: usize,
    acknowledged: &Mutex<BTreeSet<String>>,
    newest: &mut u64,
) {
    let (sender, acknowledgements) = mpsc::channel();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (sender, address) = (sender.clone(), program.address().to_owned());
            scope.spawn(move || {
                for number in 0.. {
                    let name = format!("r{round}-w{writer}-{number}");
                    let body = format!("{{\"metadata\":{{\"name\":\"{name}\"}}}}");
                    let headers = "Content-Type: application/json\r\n";
                    let Ok(answer) = send(&address, "POST", CONFIG_MAPS, headers, body.as_bytes()) else { return };
                    // A truncated body is no acknowledgement.
                    let Ok(stored) = serde_json::from_slice::<serde_json::Value>(&answer.body) else { return };
                    assert_eq!(answer.code, 201, "{stored}");
                    let version =
                        stored["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse::<u64>().ok());
                    acknowledged.lock().unwrap().insert(name);
                    if sender.send(version.unwrap()).is_err() {
                        return;
                    }
                }
            });
        }
        for version in acknowledgements.iter().take(writes) {
            *newest = version.max(*newest);
        }
        program.kill();
        drop(acknowledgements);
    });
}

/// After a kill, redb restores the last state with an fsync, as after a power failure.
#[test]
fn versions_are_not_used_again_after_a_kill_without_fsync() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["--data-dir", directory.path().to_str().unwrap(), "--no-fsync"];
    let mut newest = 0;
    for (round, writes) in [0, 1, 30, 600, 0].into_iter().enumerate() {
        let program = Program::start(&args);
        let restored = version(&program);
        assert!(restored > newest, "round {round}: {restored} after {newest}");
        if newest > 0 {
            // A client that received a lost write relists.
            let watch = format!("{CONFIG_MAPS}?watch=true&resourceVersion={newest}&timeoutSeconds=1");
            let events = program.get(&watch, "");
            assert!(events.text().contains("too old resource version"), "round {round}: {}", events.text());
        }
        newest = restored;
        for number in 0..writes {
            let body = format!(r#"{{"metadata":{{"name":"r{round}-{number}"}}}}"#);
            let stored = program.post(CONFIG_MAPS, body.as_bytes()).json();
            let version = stored["metadata"]["resourceVersion"].as_str().and_then(|version| version.parse().ok());
            let previous = std::mem::replace(&mut newest, version.unwrap());
            assert!(previous < newest, "round {round}");
        }
        program.kill();
    }
}

#[test]
fn kinds_and_deletions_survive_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["--data-dir", directory.path().to_str().unwrap(), "--no-fsync"];
    let program = Program::start(&args);
    let definition = serde_json::json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": "ides.example.com" },
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": { "kind": "Ide", "plural": "ides" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": { "type": "object" } } }],
        },
    });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(program.post(path, definition.to_string().as_bytes()).code, 201);
    for name in ["a", "b"] {
        program.post(CONFIG_MAPS, format!("{{\"metadata\":{{\"name\":\"{name}\"}}}}").as_bytes());
    }
    assert_eq!(send(program.address(), "DELETE", &format!("{CONFIG_MAPS}/a"), "", b"").unwrap().code, 200);
    let before = version(&program);
    program.terminate();
    assert!(program.wait().success());
    let program = Program::start(&args);
    assert_eq!(program.get("/apis/example.com/v1/ides", "").code, 200);
    assert_eq!(names(&program), ["b".to_owned()].into());
    assert_eq!(version(&program), before);
    assert_eq!(program.get(&format!("{CONFIG_MAPS}?resourceVersion=1&resourceVersionMatch=Exact"), "").code, 410);
}

#[test]
fn objects_preserve_their_storage_version_across_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["--data-dir", directory.path().to_str().unwrap()];
    let program = Program::start(&args);
    let version = |name: &str| {
        let schema = serde_json::json!({
            "type": "object", "properties": { "spec": { "type": "object", "default": { "of": name }, "properties": {
                "of": { "type": "string" } } } },
        });
        serde_json::json!({ "name": name, "served": true, "storage": name == "v1", "schema": { "openAPIV3Schema": schema } })
    };
    let definition = serde_json::json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": "ides.example.com" },
        "spec": {
            "group": "example.com", "scope": "Cluster", "names": { "kind": "Ide", "plural": "ides" },
            "versions": [version("v1"), version("v2")],
        },
    });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(program.post(path, definition.to_string().as_bytes()).code, 201);
    let ide = br#"{"apiVersion":"example.com/v1","kind":"Ide","metadata":{"name":"a"},"spec":null}"#;
    assert_eq!(program.post("/apis/example.com/v1/ides", ide).code, 201);
    let swap = br#"[{"op":"replace","path":"/spec/versions/0/storage","value":false},
        {"op":"replace","path":"/spec/versions/1/storage","value":true}]"#;
    let headers = "Content-Type: application/json-patch+json\r\n";
    let definition = format!("{path}/ides.example.com");
    assert_eq!(send(program.address(), "PATCH", &definition, headers, swap).unwrap().code, 200);
    let before = program.get("/apis/example.com/v2/ides/a", "").json();
    program.terminate();
    assert!(program.wait().success());
    let after = Program::start(&args).get("/apis/example.com/v2/ides/a", "").json();
    assert_eq!((&after, &after["spec"]["of"]), (&before, &serde_json::json!("v1")));
}

#[test]
fn two_servers_cannot_share_a_data_directory() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["--data-dir", directory.path().to_str().unwrap()];
    let _first = Program::start(&args);
    let second = command(&args).output().unwrap();
    assert!(!second.status.success());
    let stderr = String::from_utf8_lossy(&second.stderr);
    assert!(stderr.contains("is in use by another server"), "{stderr}");
}

fn version(program: &Program) -> u64 {
    let list = program.get(CONFIG_MAPS, "").json();
    list["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}
