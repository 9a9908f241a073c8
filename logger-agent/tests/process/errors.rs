//! Bad input has one clear error.

use std::{fs, path::Path};

use logger_agent::segment::Series;

use crate::process::{Agent, output};

/// Runs an agent that fails, and returns what it prints.
fn error(directory: &Path, args: &[&str]) -> String {
    let directory = directory.to_str().unwrap();
    let output = output(&[&["run", "--listen", "127.0.0.1:0", "--directory", directory][..], args].concat());
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn unusable_options_are_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    for (directory, args, expected) in [
        (
            directory.path(),
            &["--name", "a/b"][..],
            "error: invalid name of the log `a/b`: a lowercase RFC 1123 subdomain",
        ),
        (directory.path(), &["--name", "a", "--interval", "0"], "error: the interval is 0; expected at least 1 ms"),
        (directory.path(), &["--name", "a", "--interval", "soon"], "expected seconds or a duration such as `1m30s`"),
        (missing.as_path(), &["--name", "a"], "error: cannot write to the directory `"),
    ] {
        let error = error(directory, args);
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is created");
}

#[test]
fn a_log_has_one_writer() {
    let directory = tempfile::tempdir().unwrap();
    let agent = Agent::start(directory.path(), &[]);
    let error = error(directory.path(), &["--name", "access"]);
    assert!(error.starts_with("error: another process writes this log: it has locked `"), "{error}");
    assert!(agent.terminate().success());
}

#[test]
fn a_corrupt_segment_is_found_and_does_not_stop_the_agent() {
    let directory = tempfile::tempdir().unwrap();
    let agent = Agent::start(directory.path(), &["--acknowledgement-delay", "1ms"]);
    let mut client = agent.client().unwrap();
    (0..3).for_each(|_| assert_eq!(client.post("/activity", "", "{}").unwrap(), 200));
    assert!(agent.terminate().success());
    let path = Series::new(directory.path(), "access", "0").unwrap().path(0);
    let mut bytes = fs::read(&path).unwrap();
    bytes[20] ^= 1;
    bytes.truncate(bytes.len() - 5);
    fs::write(&path, bytes).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    let verify = || output(&["verify", directory.path().to_str().unwrap()]);
    let (status, text) = (verify().status, String::from_utf8(verify().stdout).unwrap());
    assert_eq!(status.code(), Some(1));
    assert!(text.contains(&format!("{name}:1: corrupt: the checksum is `")), "{text}");
    assert!(text.contains(&format!("{name}: torn tail: ")), "{text}");
    let agent = Agent::start(directory.path(), &[]);
    assert_eq!(agent.client().unwrap().post("/activity", "", "{}").unwrap(), 200);
    assert!(agent.terminate().success());
    let text = String::from_utf8(verify().stdout).unwrap();
    assert!(text.ends_with("\n1 findings\n"), "only the corrupt record: {text}");
}

#[test]
fn a_directory_without_segments_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let output = output(&["verify", directory.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: no segments in `"));
}
