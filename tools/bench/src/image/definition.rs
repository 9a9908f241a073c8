//! What the Dockerfile compiles, and what its images contain.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use tidy::dockerfile::{Copied, Dockerfile, Instruction};

/// The directory of cargo in the official images of Rust.
const CARGO_HOME: &str = "/usr/local/cargo";
const REMAP: &str = "--remap-path-prefix=";

/// The parts of the Dockerfile that this benchmark repeats.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) builds: Vec<Build>,
    pub(super) images: Vec<Image>,
    /// The flags of the compiler.
    flags: Vec<String>,
    /// The directory of the sources.
    sources: String,
}

/// The compilation of a program.
#[derive(Debug, PartialEq)]
pub(super) struct Build {
    /// The arguments of cargo without the package.
    args: Vec<String>,
    pub(super) package: String,
    pub(super) profile: String,
}

/// An image with one program.
#[derive(Debug, PartialEq)]
pub(super) struct Image {
    pub(super) name: String,
    pub(super) files: Vec<File>,
    /// The path of the program in the image.
    pub(super) program: String,
    /// The user and the group of the program, by number.
    pub(super) user: String,
}

/// A file of an image.
#[derive(Debug, PartialEq)]
pub(super) struct File {
    pub(super) source: Source,
    /// The path in the image, relative to its root.
    pub(super) destination: String,
}

/// Where a file of an image comes from.
#[derive(Debug, PartialEq)]
pub(super) enum Source {
    /// A path relative to the target directory.
    Target(String),
    /// A path relative to the root of the workspace.
    Workspace(String),
}

impl Definition {
    /// Parses the text of the Dockerfile.
    pub(super) fn parse(text: &str) -> Result<Definition> {
        let dockerfile = Dockerfile::parse(text);
        let instructions = dockerfile.instructions();
        let sources = argument(instructions, "WORKDIR")?;
        let mut images = Vec::new();
        for (name, stage) in dockerfile.stages() {
            if stage.iter().any(|instruction| instruction.keyword == "ENTRYPOINT") {
                let image = Image::parse(name, stage, &sources);
                images.push(image.with_context(|| format!("cannot use the stage `{name}` of the Dockerfile"))?);
            }
        }
        let builds: Vec<_> = instructions.iter().filter_map(Build::parse).collect();
        ensure!(!images.is_empty(), "the Dockerfile has no stage with `ENTRYPOINT`");
        ensure!(!builds.is_empty(), "the Dockerfile has no `RUN cargo build --profile PROFILE --package PACKAGE`");
        Ok(Definition { builds, images, flags: flags(instructions), sources })
    }

    /// Returns the flags of the compiler with the paths of this machine instead of those of the builder.
    pub(super) fn flags(&self, workspace: &Path, cargo_home: &Path) -> Result<Vec<String>> {
        let local = |flag: &String| -> Result<String> {
            let Some((from, to)) = flag.strip_prefix(REMAP).and_then(|mapping| mapping.split_once('=')) else {
                return Ok(flag.clone());
            };
            let path = match from {
                CARGO_HOME => cargo_home,
                from if from == self.sources => workspace,
                _ => bail!("`{REMAP}{from}` of the Dockerfile has no counterpart on this machine"),
            };
            Ok(remap(path, to))
        };
        self.flags.iter().map(local).collect()
    }
}

/// Returns the flag that replaces the prefix of paths in programs.
pub(super) fn remap(from: &Path, to: &str) -> String {
    format!("{REMAP}{}={to}", from.display())
}

impl Build {
    fn parse(instruction: &Instruction) -> Option<Build> {
        let [program, args @ ..] = &instruction.args[..] else { return None };
        let is_build = program == "cargo" && args.iter().take(2).any(|arg| arg == "build");
        if instruction.keyword != "RUN" || !is_build {
            return None;
        }
        let value = |option: &str| args.windows(2).position(|pair| pair[0] == option);
        let (profile, package) = (value("--profile")?, value("--package")?);
        let mut without_package = args.to_vec();
        without_package.drain(package..package + 2);
        Some(Build { args: without_package, profile: args[profile + 1].clone(), package: args[package + 1].clone() })
    }

    /// Returns the arguments of cargo to compile this package with the same options.
    pub(super) fn args(&self, package: &str) -> Vec<String> {
        self.args.iter().cloned().chain(["--package".to_owned(), package.to_owned()]).collect()
    }
}

impl Image {
    fn parse(name: &str, stage: &[Instruction], sources: &str) -> Result<Image> {
        let entry_point = argument(stage, "ENTRYPOINT")?;
        let entry_point: Vec<String> = serde_json::from_str(&entry_point).context("`ENTRYPOINT` is no JSON array")?;
        let program = entry_point.into_iter().next().context("`ENTRYPOINT` is empty")?;
        let mut files = Vec::new();
        for copied in stage.iter().filter_map(Instruction::copied) {
            for source in &copied.sources {
                let destination = destination(source, copied.destination);
                files.push(File { source: Source::parse(source, &copied, sources)?, destination });
            }
        }
        Ok(Image { name: name.to_owned(), files, program, user: argument(stage, "USER")? })
    }
}

impl Source {
    fn parse(path: &str, copied: &Copied<'_>, sources: &str) -> Result<Source> {
        if copied.stage.is_none() {
            return Ok(Source::Workspace(path.to_owned()));
        }
        let built = path.strip_prefix(sources).and_then(|path| path.strip_prefix("/target/"));
        let built = built.with_context(|| format!("the source `{path}` of `COPY` is not in {sources}/target"))?;
        Ok(Source::Target(built.to_owned()))
    }
}

/// Returns the path of a copied file, relative to the root.
fn destination(source: &str, destination: &str) -> String {
    let name = source.rsplit('/').next().unwrap_or(source);
    let path = if destination.ends_with('/') { format!("{destination}{name}") } else { destination.to_owned() };
    path.trim_start_matches('/').to_owned()
}

/// Returns the arguments of the first such instruction.
fn argument(instructions: &[Instruction], keyword: &str) -> Result<String> {
    let found = instructions.iter().find(|instruction| instruction.keyword == keyword);
    Ok(found.with_context(|| format!("there is no `{keyword}`"))?.args.join(" "))
}

/// Returns the flags of the compiler in the environment of the build.
fn flags(instructions: &[Instruction]) -> Vec<String> {
    let value = |instruction: &Instruction| {
        let text = instruction.args.join(" ");
        let value = text.strip_prefix("RUSTFLAGS=").filter(|_| instruction.keyword == "ENV")?;
        Some(value.trim_matches('"').split(' ').map(str::to_owned).collect())
    };
    instructions.iter().find_map(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dockerfile() -> Definition {
        Definition::parse(include_str!("../../../../Dockerfile")).unwrap()
    }

    #[test]
    fn images_have_the_files_that_their_stage_copies() {
        let images = dockerfile().images;
        let [agent, operator] = &images[..] else { panic!("{images:?}") };
        assert_eq!((agent.program.as_str(), operator.program.as_str()), ("/logger-agent", "/logger-operator"));
        assert_eq!((agent.user.as_str(), operator.user.as_str()), ("65532:65532", "65532:65532"));
        let source = Source::Target("image/logger-operator".to_owned());
        assert_eq!(operator.files, [File { source, destination: "logger-operator".to_owned() }]);
    }

    #[test]
    fn programs_are_compiled_with_the_arguments_of_the_dockerfile() {
        let builds = dockerfile().builds;
        let packages: Vec<_> = builds.iter().map(|build| build.package.as_str()).collect();
        assert_eq!(packages, ["logger-operator", "logger-agent"]);
        assert_eq!(builds[0].profile, "image");
        let args = builds[0].args("other");
        assert_eq!(args, ["auditable", "build", "--locked", "--profile", "image", "--package", "other"]);
    }

    #[test]
    fn paths_of_the_builder_become_those_of_this_machine() {
        let flags = dockerfile().flags(Path::new("/here"), Path::new("/home/.cargo")).unwrap();
        assert_eq!(flags, ["--remap-path-prefix=/here=.", "--remap-path-prefix=/home/.cargo=cargo"]);
        let mut definition = dockerfile();
        definition.flags = vec!["-g".to_owned(), remap(Path::new("/other"), ".")];
        let error = definition.flags(Path::new("/"), Path::new("/")).unwrap_err().to_string();
        assert!(error.contains("/other"), "{error}");
    }

    #[test]
    fn unusable_stages_are_errors_with_their_name() {
        let error = |stage: &str| {
            let text = format!("WORKDIR /source\nFROM scratch AS one\nENTRYPOINT [\"/a\"]\n{stage}");
            format!("{:#}", Definition::parse(&text).unwrap_err())
        };
        assert_eq!(error(""), "cannot use the stage `one` of the Dockerfile: there is no `USER`");
        let elsewhere = error("COPY --from=build /a /\nUSER 1:1");
        assert!(elsewhere.ends_with("the source `/a` of `COPY` is not in /source/target"), "{elsewhere}");
        assert!(error("COPY a /\nUSER 1:1").starts_with("the Dockerfile has no `RUN cargo build"));
    }

    #[test]
    fn a_file_is_copied_to_a_directory_or_a_path() {
        assert_eq!(["/", "/bin/", "/bin/b"].map(|to| destination("/x/a", to)), ["a", "bin/a", "bin/b"]);
        let copied = Copied { stage: None, sources: vec!["a"], destination: "/" };
        assert_eq!(Source::parse("a", &copied, "/source").unwrap(), Source::Workspace("a".to_owned()));
    }
}
