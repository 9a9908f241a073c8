//! The picture of the quickstart. It shows the lines that each run prints in the same order:
//!
//! - neither the address of the API server, nor the directory of the files, nor the durations of the steps;
//! - of the events, whose number differs because slow handlers receive coalesced ones, those of the creation and of the
//!   deletion, and the latest one at the end of the steps that wait for the status;
//! - of the Pods and files after the loss of an agent, whose order differs, the replacement and the file of the lost
//!   agent.
//!
//! These lines are compared after a normalization:
//!
//! - the names of Pods and nodes become numbers, in the order of their appearance;
//! - numbers of bytes and records become equal;
//! - the states in the events of the creation and of the deletion are removed.

use std::fs;

use tests::{terminal, workspace_root};

const PATH: &str = "docs/images/quickstart.svg";
const TITLE: &str = "The output of cargo xtask quickstart: a node is killed, its agent is replaced, no record is lost";
const COMMAND: &str = "$ cargo xtask quickstart";
/// The steps that wait until the status of the Logger reports all agents.
const WAITING: [&str; 2] = ["[4/", "[10/"];
const POD: &str = "logger-activity-";
const NODE: &str = "zone-";

/// Asserts that the picture shows the output of a run. `GOLDEN=record` draws it if it does not.
pub(super) fn assert_shows(output: &str) {
    let path = workspace_root().join(PATH);
    let (svg, expected) = (fs::read_to_string(&path).unwrap_or_default(), selected(output));
    let shown = terminal::lines(&svg);
    let is_current = normalized(&shown) == normalized(&expected) && terminal::draw(TITLE, &shown) == svg;
    if !is_current && std::env::var("GOLDEN").is_ok_and(|value| value == "record") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, terminal::draw(TITLE, &expected)).unwrap();
        return;
    }
    assert_eq!(normalized(&shown), normalized(&expected), "{PATH} differs: run the test with GOLDEN=record\n{output}");
    assert_eq!(terminal::draw(TITLE, &shown), svg, "{PATH} is drawn differently: run the test with GOLDEN=record");
}

/// Returns the lines that the picture shows.
fn selected(output: &str) -> Vec<String> {
    let mut lines = vec![COMMAND.to_owned()];
    let (mut step, mut event, mut agents) = ("", None, Vec::new());
    for line in output.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["API", "server:", ..] | ["Files:", ..] => continue,
            ["MODIFIED", ..] => {
                event = Some(line);
                continue;
            }
            ["ok", _, "s)"] => {
                let is_waiting = WAITING.iter().any(|waiting| step.starts_with(waiting));
                lines.extend(event.filter(|_| is_waiting).map(str::to_owned));
                continue;
            }
            ["Pod", name, ..] if agents.contains(name) => continue,
            ["Pod", name, ..] => agents.push(*name),
            ["logger-agent", "verify:", file, ..] if !agents.first().is_some_and(|lost| file.contains(lost)) => {
                continue;
            }
            [number, ..] if number.starts_with('[') => step = line,
            _ => {}
        }
        lines.push(line.to_owned());
    }
    lines
}

/// Returns the lines without what differs between runs.
fn normalized(lines: &[String]) -> Vec<String> {
    let mut names = Names::default();
    // The line of the nodes lists all of them in the same order.
    lines.iter().map(|line| if line.starts_with("Nodes:") { line.clone() } else { names.normalize(line) }).collect()
}

/// The names of Pods and nodes in the order of their appearance.
#[derive(Default)]
struct Names {
    pods: Vec<String>,
    nodes: Vec<String>,
}

impl Names {
    fn normalize(&mut self, line: &str) -> String {
        if let Some((event, _)) = line.trim_start().split_once("  ")
            && ["ADDED ", "DELETED "].iter().any(|event_type| event.starts_with(event_type))
        {
            return event.to_owned();
        }
        let (is_measured, punctuation) = (line.contains(" bytes"), [' ', ':', ',', ';', '.']);
        let words = line.split_inclusive(punctuation).map(|part| {
            let word = part.trim_end_matches(punctuation);
            self.word(word, is_measured) + &part[word.len()..]
        });
        words.collect()
    }

    fn word(&mut self, word: &str, is_measured: bool) -> String {
        match word.find(POD) {
            Some(at) => format!("{}{POD}{}", &word[..at], number(&mut self.pods, &word[at..])),
            None if word.starts_with(NODE) => format!("{NODE}{}", number(&mut self.nodes, word)),
            None if is_measured && word.parse::<u64>().is_ok() => "N".to_owned(),
            None => word.to_owned(),
        }
    }
}

/// Returns the position of a name, which is added if it is new.
fn number(names: &mut Vec<String>, name: &str) -> usize {
    let known = names.iter().position(|known| known == name);
    known.unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}

#[test]
fn the_picture_is_small_and_needs_no_other_resources() {
    let svg = fs::read_to_string(workspace_root().join(PATH)).unwrap();
    assert!(svg.len() < 30_000, "{} bytes", svg.len());
    let root = svg.strip_prefix("<svg xmlns=\"http://www.w3.org/2000/svg\" ").unwrap();
    assert!(root.contains("role=\"img\"") && root.contains(&format!("<title>{TITLE}</title>")), "{svg}");
    for foreign in ["<script", "<style", "<image", "href", "url(", "http"] {
        assert!(!root.contains(foreign), "{foreign}: {svg}");
    }
}

/// Returns the output of a run with these names. If it is late, the event of step 4 is in that step, and the Pods of
/// step 8 and the files have another order.
fn run([lost, survivor, replacement]: [&str; 3], [first, second, third]: [&str; 3], is_late: bool) -> String {
    let available = "  MODIFIED a  Available, 2 of 2";
    let (early, late) = if is_late { ("  MODIFIED a  Unavailable", available) } else { (available, "") };
    let state = if is_late { "Unavailable, 0 of 2" } else { "no state yet, 0 of 2" };
    let mut pods = [
        format!("  Pod {POD}{survivor} on node {second} is ready"),
        format!("  Pod {POD}{replacement} on node {third} is ready"),
    ];
    let number = usize::from(is_late);
    let verify =
        |agent| format!("  logger-agent verify: activity-{POD}{agent}: 7{number} records, 9{number} bytes; 0 findings");
    let mut files = [lost, survivor].map(verify);
    if is_late {
        pods.reverse();
        files.reverse();
    }
    let lines = [
        format!("API server: http://127.0.0.1:4000{number}"),
        "Nodes:      zone-a-1, zone-a-2 and zone-b-1".to_owned(),
        format!("[3/11] Agents.\n  ADDED a  {state}\n{early}"),
        format!("  Pod {POD}{lost} on node {first}\n  Pod {POD}{survivor} on node {second}\n  ok (0.{number} s)"),
        format!("[4/11] Available.\n{late}\n  ok (0.{number} s)"),
        format!("[6/11] The node {first} is killed.\n  {POD}{survivor}: 1{number} to 2{number} bytes\n  ok (1.0 s)"),
        format!("[8/11] A replacement.\n{}\n  ok (1.{number} s)", pods.join("\n")),
        format!("[9/11] Files.\n{}\n  ok (0.0 s)", files.join("\n")),
    ];
    lines.join("\n").replace("\n\n", "\n")
}

#[test]
fn runs_that_differ_in_names_times_and_order_are_equal() {
    let first = selected(&run(["5d-x", "5d-y", "5d-z"], ["zone-a-1", "zone-b-1", "zone-a-2"], false));
    let second = selected(&run(["7f-c", "7f-b", "7f-a"], ["zone-b-1", "zone-a-1", "zone-a-2"], true));
    assert_ne!(first, second);
    assert_eq!(normalized(&first), normalized(&second));
    let shown = normalized(&first);
    assert!(shown.contains(&format!("  Pod {POD}2 on node {NODE}2 is ready")), "{shown:?}");
    assert!(shown.contains(&"  MODIFIED a  Available, 2 of 2".to_owned()), "{shown:?}");
    let same_node = selected(&run(["5d-x", "5d-y", "5d-z"], ["zone-a-1", "zone-b-1", "zone-b-1"], false));
    assert_ne!(normalized(&first), normalized(&same_node), "the replacement is on the node of the survivor");
}
