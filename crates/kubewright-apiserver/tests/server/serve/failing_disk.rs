//! Failed writes are not acknowledged, and corrupt files are reported without a panic.

use std::fs;

use super::program::{Program, command, names};

const FILE: &str = "objects.redb";
const PAGE: usize = 4096;
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// The largest file that the program may write, in the shell's blocks of 512 or 1024 bytes.
const BLOCKS: u32 = 4096;

/// A limit of the file size simulates a full disk.
#[test]
fn a_failed_write_is_rejected_and_acknowledged_writes_are_preserved() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["--data-dir", directory.path().to_str().unwrap()];
    let program = Program::start_with_file_size_limit(BLOCKS, &args);
    let (acknowledged, rejection) = write_until_rejected(&program);
    assert_eq!((rejection.0, rejection.1["reason"].as_str()), (500, Some("InternalError")), "{}", rejection.1);
    let message = rejection.1["message"].as_str().unwrap();
    assert!(message.contains("changes cannot be persisted any more, restart the server"), "{message}");
    assert_eq!(program.get("/readyz", "").code, 500);
    assert!(program.get("/readyz?verbose", "").text().contains("[-]storage failed"));
    assert_eq!(program.get("/livez/ping", "").code, 200);
    // The state in memory may be ahead of the disk, so the server does not return it.
    assert_eq!(program.get(CONFIG_MAPS, "").code, 500);
    program.kill();
    let program = Program::start(&args);
    let stored = names(&program);
    assert!(acknowledged.iter().all(|name| stored.contains(name)), "{} of {}", stored.len(), acknowledged.len());
    assert!(stored.len() <= acknowledged.len() + 1, "the rejected write is stored completely or not at all");
    assert_eq!(program.get("/readyz", "").code, 200);
}

/// Returns the acknowledged names, and the code and body of the first rejection.
fn write_until_rejected(program: &Program) -> (Vec<String>, (u16, serde_json::Value)) {
    let large = "x".repeat(100_000);
    let mut acknowledged = Vec::new();
    for number in 0..200 {
        let name = format!("cm-{number}");
        let body = format!(r#"{{"metadata":{{"name":"{name}"}},"data":{{"large":"{large}"}}}}"#);
        let answer = program.post(CONFIG_MAPS, body.as_bytes());
        match answer.code {
            201 => acknowledged.push(name),
            code => return (acknowledged, (code, answer.json())),
        }
    }
    panic!("no write is rejected");
}

/// A power failure during a write leaves only some of its pages on the disk.
#[test]
fn a_torn_write_is_stored_completely_or_not_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["--data-dir", directory.path().to_str().unwrap()];
    let file = directory.path().join(FILE);
    let program = Program::start(&args);
    (0..20).for_each(|number| create(&program, number));
    let before = fs::read(&file).unwrap();
    create(&program, 20);
    let after = fs::read(&file).unwrap();
    program.kill();
    let written = pages(&before, &after);
    assert!(written.len() > 1, "{written:?}");
    for split in 0..=written.len() {
        let page = written.get(split).into_iter().copied();
        for reached in [written[..split].to_vec(), written[split..].to_vec(), page.collect()] {
            fs::write(&file, torn(&before, &after, &reached)).unwrap();
            let program = Program::start(&args);
            let stored = names(&program);
            assert!((0..20).all(|number| stored.contains(&name(number))), "{reached:?} of {written:?} are on disk");
            assert!(stored.len() == 20 || stored.contains(&name(20)), "{reached:?} of {written:?} are on disk");
        }
    }
}

/// Returns the pages in which two states of a file differ.
fn pages(before: &[u8], after: &[u8]) -> Vec<usize> {
    let content = |bytes: &[u8], page: usize| bytes.chunks(PAGE).nth(page).map(<[u8]>::to_vec);
    (0..after.len().div_ceil(PAGE)).filter(|page| content(before, *page) != content(after, *page)).collect()
}

/// Returns the previous file with these pages of the new one.
fn torn(before: &[u8], after: &[u8], pages: &[usize]) -> Vec<u8> {
    let mut torn = before.to_vec();
    torn.resize(after.len(), 0);
    for page in pages {
        let range = page * PAGE..((page + 1) * PAGE).min(after.len());
        torn[range.clone()].copy_from_slice(&after[range]);
    }
    torn
}

#[test]
fn corrupt_data_files_are_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["--data-dir", directory.path().to_str().unwrap()];
    let program = Program::start(&args);
    (0..20).for_each(|number| create(&program, number));
    program.kill();
    let file = directory.path().join(FILE);
    let whole = fs::read(&file).unwrap();
    let mut without_magic = whole.clone();
    without_magic[..64].fill(0xa5);
    for (label, contents) in [
        ("trailing garbage", [whole.as_slice(), &[0xa5; 10_000]].concat()),
        ("truncated to half", whole[..whole.len() / 2].to_vec()),
        ("truncated after the header", whole[..4096].to_vec()),
        ("another file", b"apiVersion: v1\n".repeat(1000)),
        ("overwritten header", without_magic),
        ("overwritten body", overwritten(&whole)),
    ] {
        fs::write(&file, &contents).unwrap();
        let output = command(&args).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{label}: {stderr}");
        assert!(stderr.starts_with("error: the data directory"), "{label}: {stderr}");
    }
}

fn overwritten(whole: &[u8]) -> Vec<u8> {
    let mut broken = whole.to_vec();
    broken[4096..].fill(0xa5);
    broken
}

fn create(program: &Program, number: usize) {
    let body = format!(r#"{{"metadata":{{"name":"{}"}}}}"#, name(number));
    assert_eq!(program.post(CONFIG_MAPS, body.as_bytes()).code, 201);
}

fn name(number: usize) -> String {
    format!("cm-{number}")
}
