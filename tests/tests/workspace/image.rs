//! The Dockerfile agrees with the workspace, and with the containers that run its images.

use std::{fs, path::Path};

use serde_json::Value;

/// An instruction of the Dockerfile, without comments and with its arguments.
type Instruction = (String, Vec<String>);

fn instructions() -> Vec<Instruction> {
    let text = fs::read_to_string(tests::workspace_root().join("Dockerfile")).unwrap();
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let instruction = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        (words.next().unwrap(), words.collect())
    };
    lines.map(instruction).collect()
}

/// Returns the instructions of the stage with this name.
fn stage(name: &str) -> Vec<Instruction> {
    let mut instructions = instructions().into_iter();
    let is_start = |(keyword, args): &Instruction| keyword == "FROM" && args.last().is_some_and(|last| last == name);
    instructions.by_ref().find(is_start).unwrap_or_else(|| panic!("no stage {name}"));
    instructions.take_while(|(keyword, _)| keyword != "FROM").collect()
}

/// Returns the arguments of the only such instruction of a stage.
fn argument(stage: &[Instruction], keyword: &str) -> Vec<String> {
    let mut found = stage.iter().filter(|(one, _)| one == keyword);
    let (_, args) = found.next().unwrap_or_else(|| panic!("no {keyword}"));
    assert!(found.next().is_none(), "several {keyword}");
    args.clone()
}

fn read(path: &str) -> Value {
    serde_saphyr::from_str(&fs::read_to_string(tests::workspace_root().join(path)).unwrap()).unwrap()
}

/// Compares an image with the Deployment that runs it.
fn assert_runs(program: &str, deployment: &Value) {
    let stage = stage(program);
    let pod = &deployment["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(argument(&stage, "ENTRYPOINT"), [format!("[\"/{program}\"]")]);
    assert!(container.get("command").is_none(), "the entry point of the image is the command");
    let ports: Vec<String> =
        container["ports"].as_array().unwrap().iter().map(|port| port["containerPort"].to_string()).collect();
    assert_eq!(argument(&stage, "EXPOSE"), ports);
    // The kubelet compares numbers only: `runAsNonRoot` rejects an image whose user has a name.
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    let user = pod["securityContext"].get("runAsUser").cloned().unwrap_or(Value::from(65532));
    assert_eq!(argument(&stage, "USER"), [format!("{user}:{user}")]);
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
    let root = tests::workspace_root();
    let mut programs = Vec::new();
    for (keyword, args) in instructions() {
        if keyword != "COPY" {
            continue;
        }
        let (options, paths): (Vec<_>, Vec<_>) = args.into_iter().partition(|arg| arg.starts_with("--"));
        for source in &paths[..paths.len() - 1] {
            match options.iter().any(|option| option.starts_with("--from=")) {
                false => assert!(root.join(source).exists(), "{source} does not exist"),
                true => programs.extend(source.strip_prefix("/source/target/").map(str::to_owned)),
            }
        }
    }
    programs.sort();
    assert_eq!(programs, ["image/logger-agent", "image/logger-operator"]);
    for program in &programs {
        let (profile, package) = program.split_once('/').unwrap();
        assert!(root.join(package).join("src/main.rs").exists(), "{package} has no program");
        let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
        assert!(manifest.contains(&format!("[profile.{profile}]\n")), "no profile {profile}");
        let builds = |args: &[String]| args.ends_with(&["--package".to_owned(), package.to_owned()]);
        let built = instructions().into_iter().any(|(keyword, args)| keyword == "RUN" && builds(&args));
        assert!(built, "{package} is not built");
    }
}

#[test]
fn images_are_built_with_the_compiler_of_the_repository() {
    let toolchain = fs::read_to_string(tests::workspace_root().join("rust-toolchain.toml")).unwrap();
    let version = toolchain.lines().find_map(|line| line.strip_prefix("channel = ")).unwrap().trim_matches('"');
    assert!(instructions().contains(&("ARG".to_owned(), vec![format!("RUST={version}")])));
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
