//! A Dockerfile: its stages, and the files that they copy.

/// An instruction, such as `COPY . .`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The first word.
    pub keyword: String,
    /// The other words.
    pub args: Vec<String>,
}

/// The files of a `COPY` instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied<'a> {
    /// The stage with the files; `None` if they are sources of the build.
    pub stage: Option<&'a str>,
    /// The paths of the files.
    pub sources: Vec<&'a str>,
    /// The path of the copy, or of its directory.
    pub destination: &'a str,
}

/// A Dockerfile.
#[derive(Clone, Debug)]
pub struct Dockerfile {
    instructions: Vec<Instruction>,
}

impl Dockerfile {
    /// Parses the text of a Dockerfile.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let is_content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let lines: Vec<_> = text.lines().filter(is_content).collect();
        let instruction = |line: &str| {
            let mut words = line.split_whitespace().map(str::to_owned);
            Some(Instruction { keyword: words.next()?, args: words.collect() })
        };
        let text = lines.join("\n").replace("\\\n", " ");
        Dockerfile { instructions: text.lines().filter_map(instruction).collect() }
    }

    /// Returns all instructions, without comments.
    #[must_use]
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// Returns the stages with a name, and their instructions without `FROM`.
    pub fn stages(&self) -> impl Iterator<Item = (&str, &[Instruction])> {
        let stages = self.instructions.chunk_by(|_, next| next.keyword != "FROM");
        stages.filter_map(|stage| {
            let (from, instructions) = stage.split_first()?;
            let [.., separator, name] = &from.args[..] else { return None };
            (from.keyword == "FROM" && separator == "AS").then_some((name.as_str(), instructions))
        })
    }

    /// Returns the instructions of the stage with this name, without `FROM`.
    #[must_use]
    pub fn stage(&self, name: &str) -> Option<&[Instruction]> {
        self.stages().find(|(found, _)| *found == name).map(|(_, instructions)| instructions)
    }
}

impl Instruction {
    /// Returns the copied files if this is a `COPY` instruction.
    #[must_use]
    pub fn copied(&self) -> Option<Copied<'_>> {
        if self.keyword != "COPY" {
            return None;
        }
        let args = self.args.iter().map(String::as_str);
        let (options, paths): (Vec<&str>, Vec<&str>) = args.partition(|arg| arg.starts_with("--"));
        let (&destination, sources) = paths.split_last()?;
        let stage = options.into_iter().find_map(|option| option.strip_prefix("--from="));
        Some(Copied { stage, sources: sources.to_vec(), destination })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A comment.\nARG RUST=1\nFROM rust:${RUST} AS build\nWORKDIR /source\nCOPY . .\n\n\
                        RUN cargo build \\\n  # Another comment.\n  --locked\nFROM scratch\nFROM scratch AS image\n\
                        COPY --from=build --chmod=755 /a /b /c/\n";

    #[test]
    fn stages_have_the_instructions_until_the_next_one() {
        let dockerfile = Dockerfile::parse(TEXT);
        let names: Vec<_> = dockerfile.stages().map(|(name, _)| name).collect();
        assert_eq!(names, ["build", "image"]);
        let keywords: Vec<_> =
            dockerfile.stage("build").unwrap().iter().map(|instruction| instruction.keyword.as_str()).collect();
        assert_eq!(keywords, ["WORKDIR", "COPY", "RUN"]);
        assert_eq!(dockerfile.stage("build").unwrap()[2].args, ["cargo", "build", "--locked"]);
        assert_eq!((dockerfile.stage("image").unwrap().len(), dockerfile.stage("other")), (1, None));
        assert_eq!(dockerfile.instructions()[0].args, ["RUST=1"]);
    }

    #[test]
    fn copied_files_are_those_of_a_stage_or_of_the_sources() {
        let dockerfile = Dockerfile::parse(TEXT);
        let copied: Vec<_> = dockerfile.instructions().iter().filter_map(Instruction::copied).collect();
        let sources = Copied { stage: None, sources: vec!["."], destination: "." };
        let files = Copied { stage: Some("build"), sources: vec!["/a", "/b"], destination: "/c/" };
        assert_eq!(copied, [sources, files]);
    }
}
