//! The Dockerfile agrees with the workspace, and with the containers that run its images.

use std::{fs, path::Path};

use serde_json::Value;
use tidy::dockerfile::{Dockerfile, Instruction};

fn dockerfile() -> Dockerfile {
    Dockerfile::parse(&fs::read_to_string(tests::workspace_root().join("Dockerfile")).unwrap())
}

/// Returns the arguments of the only such instruction of a stage.
fn argument<'a>(stage: &'a [Instruction], keyword: &str) -> &'a [String] {
    let mut found = stage.iter().filter(|instruction| instruction.keyword == keyword);
    let instruction = found.next().unwrap_or_else(|| panic!("no {keyword}"));
    assert!(found.next().is_none(), "several {keyword}");
    &instruction.args
}

fn read(path: &str) -> Value {
    serde_saphyr::from_str(&fs::read_to_string(tests::workspace_root().join(path)).unwrap()).unwrap()
}

/// Compares an image with the Deployment that runs it.
fn assert_runs(program: &str, deployment: &Value) {
    let dockerfile = dockerfile();
    let stage = dockerfile.stage(program).unwrap_or_else(|| panic!("no stage {program}"));
    let pod = &deployment["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(argument(stage, "ENTRYPOINT"), [format!("[\"/{program}\"]")]);
    assert!(container.get("command").is_none(), "the entry point of the image is the command");
    let ports: Vec<String> =
        container["ports"].as_array().unwrap().iter().map(|port| port["containerPort"].to_string()).collect();
    assert_eq!(argument(stage, "EXPOSE"), ports);
    // The kubelet compares numbers only: `runAsNonRoot` rejects an image whose user has a name.
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    let user = pod["securityContext"].get("runAsUser").cloned().unwrap_or(Value::from(65532));
    assert_eq!(argument(stage, "USER"), [format!("{user}:{user}")]);
}

#[test]
fn the_image_of_the_operator_has_the_ports_and_the_user_of_its_deployment() {
    assert_runs("logger-operator", &read("config/manager/manager.yaml"));
}

#[test]
fn the_image_of_the_agent_has_the_ports_and_the_user_of_its_deployment() {
    let text =
        fs::read_to_string(tests::workspace_root().join("logger-operator/tests/golden/1-replicas.yaml")).unwrap();
    let children: Vec<Value> = text
        .split("---\n")
        .filter(|document| !document.trim().is_empty())
        .map(|document| serde_saphyr::from_str(document).unwrap())
        .collect();
    assert_runs("logger-agent", children.iter().find(|child| child["kind"] == "Deployment").unwrap());
}

#[test]
fn copied_files_exist() {
    let (root, dockerfile) = (tests::workspace_root(), dockerfile());
    let mut programs = Vec::new();
    for copied in dockerfile.instructions().iter().filter_map(Instruction::copied) {
        for source in copied.sources {
            match copied.stage {
                None => assert!(root.join(source).exists(), "{source} does not exist"),
                Some(_) => programs.extend(source.strip_prefix("/source/target/")),
            }
        }
    }
    programs.sort();
    assert_eq!(programs, ["image/logger-agent", "image/logger-operator"]);
    for program in programs {
        let (profile, package) = program.split_once('/').unwrap();
        assert!(root.join(package).join("src/main.rs").exists(), "{package} has no program");
        let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
        assert!(manifest.contains(&format!("[profile.{profile}]\n")), "no profile {profile}");
        let builds = |args: &[String]| args.ends_with(&["--package".to_owned(), package.to_owned()]);
        let is_build = |instruction: &Instruction| instruction.keyword == "RUN" && builds(&instruction.args);
        let built = dockerfile.instructions().iter().any(is_build);
        assert!(built, "{package} is not built");
    }
}

#[test]
fn images_are_built_with_the_compiler_of_the_repository() {
    let toolchain = fs::read_to_string(tests::workspace_root().join("rust-toolchain.toml")).unwrap();
    let version = toolchain.lines().find_map(|line| line.strip_prefix("channel = ")).unwrap().trim_matches('"');
    let expected = Instruction { keyword: "ARG".to_owned(), args: vec![format!("RUST={version}")] };
    assert!(dockerfile().instructions().contains(&expected));
}

#[test]
fn build_results_are_not_sent_to_the_builder() {
    let ignored = fs::read_to_string(tests::workspace_root().join(".dockerignore")).unwrap();
    for path in [".git", "target"] {
        assert!(ignored.lines().any(|line| line == path), "{path} is sent");
    }
    // Sources of programs are.
    assert!(!ignored.lines().any(|line| !line.is_empty() && Path::new("logger-operator/src").starts_with(line)));
}
