//! A project with the crates of a git repository, on the machine of its author and on that of another user.

use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use tests::user_project::UserProject;

use super::{
    dockerfile::{Build, Image},
    project::{Scaffold, Source, copy, copy_toolchain, init},
};

/// The name of the repository with the crates, also of its directory in the cache of cargo.
const REPOSITORY: &str = "kubewright-test-repository";
/// The libraries in the base image of the Dockerfile.
const LIBRARIES: [&str; 5] = ["ld-linux", "libc.so.6", "libgcc_s.so.1", "libm.so.6", "linux-vdso.so.1"];

/// The author changes the source of the crates to a repository and commits; another user, with another home and an
/// empty cache of repositories, clones the project. Cargo resolves it with the committed lock file, and the steps of
/// its Dockerfile build the operator.
///
/// Cargo compares the paths of the packages of the registry, so that those in another directory would be compiled
/// again. Thus the resolution uses the `CARGO_HOME` of the other user, with the registry of this machine in it, and the
/// compilation that of this machine. Both users are the same one for the operating system.
pub(super) fn another_user_builds_a_clone_and_its_image(scaffold: &Scaffold) {
    let author = UserProject::create("clone-author", "my-operator", env!("CARGO_TARGET_TMPDIR"));
    let parent = author.path.parent().unwrap().to_owned();
    let url = repository(&parent.join(REPOSITORY));
    copy(&scaffold.copy(), &author.path);
    use_repository(&author, &parent, &url);

    let other = UserProject::create("clone-other", "work", env!("CARGO_TARGET_TMPDIR"));
    let home = other.path.parent().unwrap().join("home");
    let other = other
        .with_env("HOME", &home)
        .with_env("RUSTUP_HOME", machine_home("RUSTUP_HOME", ".rustup"))
        // The repository is a file; any other request fails at once.
        .with_env("CARGO_NET_OFFLINE", "false")
        .with_env("CARGO_HTTP_PROXY", "http://127.0.0.1:1")
        .with_env("CARGO_NET_RETRY", "0");
    fs::create_dir_all(home.join(".cargo")).unwrap();
    symlink(machine_home("CARGO_HOME", ".cargo").join("registry"), home.join(".cargo/registry")).unwrap();
    git(&["clone", "--quiet", &author.path.display().to_string(), &other.path.display().to_string()]);
    fs::rename(&author.path, parent.join("away")).unwrap();
    is_resolved(&other, &home);

    let images = other.path.parent().unwrap().join("images");
    let cache = RepositoryCache::clear();
    let machine = cache.home.display();
    let user = other.with_env("CARGO_HOME", machine.to_string());
    is_program(&build(&user, &images, "Dockerfile"));
    let bundle = build(&user, &images, "bundle.Dockerfile").root;
    assert!(bundle.join("manifests/my-operator.clusterserviceversion.yaml").exists());
    assert!(bundle.join("metadata/annotations.yaml").exists());
    fs::remove_dir_all(user.path.parent().unwrap()).unwrap();
    fs::remove_dir_all(parent).unwrap();
}

/// Creates a repository with the crates of this checkout, and returns its URL. Its commit depends on the files only.
fn repository(directory: &Path) -> String {
    copy_toolchain(directory);
    let directory = directory.display().to_string();
    git(&["init", "--quiet", &directory]);
    git(&["-C", &directory, "add", "--all"]);
    git(&["-C", &directory, "commit", "--quiet", "--message", "Add the crates"]);
    format!("file://{directory}")
}

/// Runs git as a user without settings at a fixed time.
fn git(args: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for role in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{role}_NAME"), "A").env(format!("GIT_{role}_EMAIL"), "a@example.com");
        git.env(format!("GIT_{role}_DATE"), "2026-01-01T00:00:00Z");
    }
    let output = git.output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Replaces the source of the crates in a project by that which `cargo kubewright init --git` writes, and commits.
fn use_repository(project: &UserProject, parent: &Path, url: &str) {
    let new = UserProject::create("clone-new", "my-operator", env!("CARGO_TARGET_TMPDIR"));
    init(&new, Source::Git(url));
    for file in ["Cargo.toml", "README.md"] {
        fs::copy(new.path.join(file), project.path.join(file)).unwrap();
    }
    fs::remove_dir_all(new.path.parent().unwrap()).unwrap();
    let commit = git(&["-C", &parent.join(REPOSITORY).display().to_string(), "rev-parse", "HEAD"]);
    let lock = project.path.join("Cargo.lock");
    let locked = locked(&fs::read_to_string(&lock).unwrap(), &format!("git+{url}#{}", commit.trim()));
    fs::write(lock, locked).unwrap();
    let root = project.path.display().to_string();
    git(&["-C", &root, "add", "--all"]);
    git(&["-C", &root, "commit", "--quiet", "--message", "Use the crates of a repository"]);
}

/// Returns a lock file in which the crates are those of a repository, as cargo writes it with a network.
fn locked(text: &str, source: &str) -> String {
    let is_crate = |package: &&str| {
        let name = package.lines().find_map(|line| line.strip_prefix("name = ")).unwrap_or_default().trim_matches('"');
        name == "logger-derive" || name == "kubewright" || name.starts_with("kubewright-")
    };
    let packages = text.split_inclusive("\n\n").map(|package| match is_crate(&package) {
        true => {
            package.replacen("\nversion = \"0.1.0\"\n", &format!("\nversion = \"0.1.0\"\nsource = \"{source}\"\n"), 1)
        }
        false => package.to_owned(),
    });
    packages.collect()
}

/// Returns the directory of a tool on this machine, which is in the home of the user unless a variable contains it.
fn machine_home(variable: &str, directory: &str) -> PathBuf {
    let in_home = || PathBuf::from(env::var_os("HOME").expect("a user has a home")).join(directory);
    env::var_os(variable).map_or_else(in_home, PathBuf::from)
}

/// Checks that cargo resolves the clone with its lock file, and that all packages are in the clone or in the home.
fn is_resolved(project: &UserProject, home: &Path) {
    let project = &project
        .run(&format!("CARGO_HOME={}/.cargo cargo metadata --quiet --locked --format-version 1", home.display()));
    let metadata: Value = serde_json::from_str(project).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let checkouts = home.join(".cargo/git/checkouts").canonicalize().unwrap();
    let path = |package: &Value| PathBuf::from(package["manifest_path"].as_str().unwrap());
    let of_repository: Vec<_> = packages.iter().filter(|package| path(package).starts_with(&checkouts)).collect();
    assert!(of_repository.iter().any(|package| package["name"] == "kubewright"), "{of_repository:?}");
    let parent = home.parent().unwrap().canonicalize().unwrap();
    for package in packages {
        assert!(path(package).starts_with(&parent), "{package}");
    }
}

/// The copies of the repository in the `CARGO_HOME` of this machine, which are removed on drop.
struct RepositoryCache {
    home: PathBuf,
}

impl RepositoryCache {
    /// Removes the copies of an interrupted run.
    fn clear() -> Self {
        let cache = RepositoryCache { home: machine_home("CARGO_HOME", ".cargo") };
        cache.remove();
        cache
    }

    fn remove(&self) {
        for directory in ["git/db", "git/checkouts"] {
            let entries = fs::read_dir(self.home.join(directory)).into_iter().flatten().flatten();
            let is_copy = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(REPOSITORY);
            for entry in entries.filter(is_copy) {
                drop(fs::remove_dir_all(entry.path()));
            }
        }
    }
}

impl Drop for RepositoryCache {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Performs the steps of a Dockerfile of the project.
fn build(user: &UserProject, images: &Path, name: &str) -> Image {
    let dockerfile = fs::read_to_string(user.path.join(name)).unwrap();
    Build { user, directory: &images.join(name) }.run(&dockerfile)
}

/// Checks that an image contains the operator, and that its libraries are in the base image.
fn is_program(image: &Image) {
    assert_eq!(image.user, "65532:65532");
    let [program] = &image.entry_point[..] else { panic!("{:?}", image.entry_point) };
    let program = image.root.join(program.trim_start_matches('/'));
    let printed = Command::new(&program).arg("version").env_clear().current_dir(&image.root).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&printed.stdout), "my-operator 0.1.0\n", "{printed:?}");
    let libraries = Command::new("ldd").arg(&program).output().unwrap();
    for line in String::from_utf8_lossy(&libraries.stdout).lines() {
        let name = line.trim().rsplit_once('/').map_or(line.trim(), |(_, name)| name);
        assert!(
            LIBRARIES.iter().any(|library| name.starts_with(library) || line.trim().starts_with(library)),
            "{line}"
        );
    }
}
