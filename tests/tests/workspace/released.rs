//! Objects of released versions: their files are written once, and decode and convert for ever.

use std::process::ExitCode;

use kubewright_codegen::{Command, ReleaseFixtures};
use kubewright_core::{Converter, Scheme, conversion::testing::verify_released};
use logger_types::{v1, v2};
use tests::workspace_root;

fn scheme() -> Scheme {
    let mut scheme = Scheme::new();
    v1::add_to_scheme(&mut scheme).unwrap();
    v2::add_to_scheme(&mut scheme).unwrap();
    scheme
}

fn converters() -> [Converter; 1] {
    [Converter::hub::<v2::Logger>().spoke::<v1::Logger>().build()]
}

#[test]
fn released_loggers_decode_and_convert() {
    let count = verify_released(&scheme(), &converters(), workspace_root().join("tests/released")).unwrap();
    assert!(count >= 4, "the objects of release 0.1.0");
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
    assert_eq!(verify_released(&scheme(), &converters(), &released).unwrap(), 16);
    let path = released.join("1.0.0/example.com_v1_loggers.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("timeInterval", "interval")).unwrap();
    let failure = verify_released(&scheme(), &converters(), &released).unwrap_err().to_string();
    assert!(failure.contains("example.com_v1_loggers.yaml"), "{failure}");
}
