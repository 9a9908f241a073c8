//! Objects of released versions: their files are written once, and decode and convert for ever.

use std::process::ExitCode;

use logger_codegen::{Command, ReleaseFixtures};
use logger_core::{Scheme, conversion::testing::verify_released};
use tests::workspace_root;

fn scheme() -> Scheme {
    let mut scheme = Scheme::new();
    logger_types::v1::add_to_scheme(&mut scheme).unwrap();
    scheme
}

#[test]
fn released_loggers_decode_and_convert() {
    verify_released(&scheme(), &[], workspace_root().join("tests/released")).unwrap();
}

#[test]
fn fixtures_of_a_release_are_written_once() {
    let directory = tempfile::tempdir().unwrap();
    let write = |release: &str| {
        let (root, release) = (Some(directory.path().to_owned()), Some(release.to_owned()));
        let command = Command::ReleaseFixtures(ReleaseFixtures { release, root, directory: "tests/released".into() });
        command.run(logger_types::groups())
    };
    assert_eq!(write("1.0.0"), ExitCode::SUCCESS);
    assert_eq!(write("1.0.0"), ExitCode::from(2), "the objects of a release never change");
    assert_eq!(write("1.1.0"), ExitCode::SUCCESS);
    assert_eq!(write("../1.2.0"), ExitCode::from(2));
    let released = directory.path().join("tests/released");
    assert_eq!(verify_released(&scheme(), &[], &released).unwrap(), 8);
    let path = released.join("1.0.0/example.com_v1_loggers.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("timeInterval", "interval")).unwrap();
    let failure = verify_released(&scheme(), &[], &released).unwrap_err().to_string();
    assert!(failure.contains("example.com_v1_loggers.yaml"), "{failure}");
}
