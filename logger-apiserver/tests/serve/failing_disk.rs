//! What is not written is not acknowledged, and files that are broken are no reason to panic

use std::fs;

use crate::program::{Program, command, names};

const FILE: &str = "objects.redb";
const PAGE: usize = 4096;
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// The largest file that the program may write, in the shell's blocks of 512 or 1024 bytes.
const BLOCKS: u32 = 4096;

/// A disk that is full is played by a limit on the size of files: the next write fails, as there.
#[test]
fn a_write_that_fails_is_refused_and_what_was_acknowledged_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["--data-dir", directory.path().to_str().unwrap()];
    let program = Program::start_with_files_up_to(BLOCKS, &args);
    let (acknowledged, refused) = write_until_refused(&program);
    assert_eq!((refused.0, refused.1["reason"].as_str()), (500, Some("InternalError")), "{}", refused.1);
    let message = refused.1["message"].as_str().unwrap();
    assert!(message.contains("changes cannot be persisted any more, restart the server"), "{message}");
    assert_eq!(program.get("/readyz", "").code, 500);
    assert!(program.get("/readyz?verbose", "").text().contains("[-]storage failed"));
    assert_eq!(program.get("/livez/ping", "").code, 200);
    // What is in memory may be more than what is kept, so nothing of it is told.
    assert_eq!(program.get(CONFIG_MAPS, "").code, 500);
    program.kill();
    let program = Program::start(&args);
    let kept = names(&program);
    assert!(acknowledged.iter().all(|name| kept.contains(name)), "{} of {}", kept.len(), acknowledged.len());
    assert!(kept.len() <= acknowledged.len() + 1, "what was refused is there whole or not at all");
    assert_eq!(program.get("/readyz", "").code, 200);
}

/// The names that were acknowledged, and what was said to the one that was not.
fn write_until_refused(program: &Program) -> (Vec<String>, (u16, serde_json::Value)) {
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
    panic!("the disk is never full");
}

/// A power cut in the middle of a write leaves some of its pages on the disk and others not.
#[test]
fn of_a_write_that_is_torn_nothing_or_all_is_there() {
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
    for reached in 0..=written.len() {
        let one = written.get(reached).into_iter().copied();
        for there in [written[..reached].to_vec(), written[reached..].to_vec(), one.collect()] {
            fs::write(&file, torn(&before, &after, &there)).unwrap();
            let program = Program::start(&args);
            let kept = names(&program);
            assert!((0..20).all(|number| kept.contains(&name(number))), "{there:?} of {written:?} are there");
            assert!(kept.len() == 20 || kept.contains(&name(20)), "{there:?} of {written:?} are there");
        }
    }
}

/// The pages in which two states of a file differ.
fn pages(before: &[u8], after: &[u8]) -> Vec<usize> {
    let of = |bytes: &[u8], page: usize| bytes.chunks(PAGE).nth(page).map(<[u8]>::to_vec);
    (0..after.len().div_ceil(PAGE)).filter(|page| of(before, *page) != of(after, *page)).collect()
}

/// The file as it was, but for these pages, which are as they were to be.
fn torn(before: &[u8], after: &[u8], pages: &[usize]) -> Vec<u8> {
    let mut torn = before.to_vec();
    torn.resize(after.len(), 0);
    for page in pages {
        let place = page * PAGE..((page + 1) * PAGE).min(after.len());
        torn[place.clone()].copy_from_slice(&after[place]);
    }
    torn
}

#[test]
fn files_that_are_no_data_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["--data-dir", directory.path().to_str().unwrap()];
    let program = Program::start(&args);
    (0..20).for_each(|number| create(&program, number));
    program.kill();
    let file = directory.path().join(FILE);
    let whole = fs::read(&file).unwrap();
    let mut without_magic = whole.clone();
    without_magic[..64].fill(0xa5);
    for (what, broken) in [
        ("something is behind its end", [whole.as_slice(), &[0xa5; 10_000]].concat()),
        ("cut in half", whole[..whole.len() / 2].to_vec()),
        ("cut after its head", whole[..4096].to_vec()),
        ("another file", b"apiVersion: v1\n".repeat(1000)),
        ("its head is overwritten", without_magic),
        ("all behind its head is overwritten", overwritten(&whole)),
    ] {
        fs::write(&file, &broken).unwrap();
        let output = command(&args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{what}: {said}");
        assert!(said.starts_with("error: the data directory"), "{what}: {said}");
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
