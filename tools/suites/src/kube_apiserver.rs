//! The flags of kube-apiserver, translated to those of `kubewright-apiserver`.

use std::{collections::BTreeMap, path::Path};

/// Flags that `kubewright-apiserver` has as well, and their names there.
const TRANSLATED: &[(&str, &str)] = &[
    ("anonymous-auth", "anonymous-auth"),
    ("bind-address", "address"),
    ("client-ca-file", "client-ca-file"),
    ("max-mutating-requests-inflight", "max-mutating-requests-inflight"),
    ("max-requests-inflight", "max-requests-inflight"),
    ("secure-port", "port"),
    ("service-account-issuer", "service-account-issuer"),
    ("tls-cert-file", "tls-cert-file"),
    ("tls-private-key-file", "tls-private-key-file"),
    ("token-auth-file", "token-auth-file"),
];

/// Flags without an effect. The server has no etcd, allocates no addresses of the network, and signs tokens of service
/// accounts with a generated key. It has no admission plugin that envtest disables.
const IGNORED: &[&str] = &[
    "advertise-address",
    "allow-privileged",
    "disable-admission-plugins",
    "endpoint-reconciler-type",
    "etcd-servers",
    "service-account-key-file",
    "service-account-signing-key-file",
    "service-cluster-ip-range",
    "shutdown-watch-termination-grace-period",
    "v",
];

const AUTHORIZATION_MODE: &str = "authorization-mode";
const CERT_DIR: &str = "cert-dir";
/// The certificate and its key in the directory of `--cert-dir`.
const SERVING: [(&str, &str); 2] = [("tls-cert-file", "apiserver.crt"), ("tls-private-key-file", "apiserver.key")];

/// What a command line of kube-apiserver requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invocation {
    /// Prints the [`help`].
    Help,
    /// Runs `kubewright-apiserver` with these arguments.
    Serve(Vec<String>),
}

/// A command line that cannot be translated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    /// The flag is neither translated nor known to have no effect.
    #[error("unknown flag: --{0}")]
    Unknown(String),
    /// The argument is not `--name` or `--name=value`.
    #[error("`{0}` is not a flag; use `--name=value`")]
    NotAFlag(String),
    /// The server does not have the mode.
    #[error("unsupported `--authorization-mode` `{0}`; use `AlwaysAllow` or `RBAC`")]
    AuthorizationMode(String),
}

/// Translates the arguments of kube-apiserver: flags as `--name=value`, or as `--name` for `true`. The last occurrence
/// of a flag counts.
///
/// `--cert-dir` selects the certificate in it if it contains one and no flag selects another. The server collects no
/// garbage, like kube-apiserver without kube-controller-manager.
///
/// # Errors
/// Fails for unknown flags, and for authorization modes that the server does not have.
pub fn translate(args: &[String]) -> Result<Invocation, FlagError> {
    let mut flags: BTreeMap<&str, &str> = BTreeMap::new();
    for arg in args {
        let flag = arg.strip_prefix("--").ok_or_else(|| FlagError::NotAFlag(arg.clone()))?;
        let (name, value) = flag.split_once('=').unwrap_or((flag, "true"));
        if name == "help" {
            return Ok(Invocation::Help);
        }
        if !names().any(|known| known == name) {
            return Err(FlagError::Unknown(name.to_owned()));
        }
        flags.insert(name, value);
    }
    let mut translated = vec!["--no-garbage-collection".to_owned()];
    for (name, ours) in TRANSLATED {
        translated.extend(flags.get(name).map(|value| format!("--{ours}={value}")));
    }
    if let Some(modes) = flags.get(AUTHORIZATION_MODE) {
        translated.push(format!("--authorization-mode={}", authorization_mode(modes)?));
    }
    if !flags.contains_key(SERVING[0].0)
        && let Some(directory) = flags.get(CERT_DIR)
    {
        translated.extend(serving(Path::new(directory)));
    }
    Ok(Invocation::Serve(translated))
}

/// Returns the help, which lists the known flags in the format of kube-apiserver: envtest searches it for flags.
pub fn help() -> String {
    let flags: String = names().map(|name| format!("      --{name}\n")).collect();
    format!("The in-memory API server with flags of kube-apiserver.\n\nFlags:\n{flags}")
}

fn names() -> impl Iterator<Item = &'static str> {
    let translated = TRANSLATED.iter().map(|(name, _)| *name);
    translated.chain([AUTHORIZATION_MODE, CERT_DIR]).chain(IGNORED.iter().copied())
}

/// Returns the mode that allows what a list of modes allows: each of them can allow a request. Nodes have no dedicated
/// mode.
fn authorization_mode(modes: &str) -> Result<&'static str, FlagError> {
    let is_listed = |name| modes.split(',').any(|mode| mode == name);
    match modes.split(',').find(|mode| !["AlwaysAllow", "Node", "RBAC"].contains(mode)) {
        Some(unsupported) => Err(FlagError::AuthorizationMode(unsupported.to_owned())),
        None if is_listed("AlwaysAllow") => Ok("AlwaysAllow"),
        None if is_listed("RBAC") => Ok("RBAC"),
        None => Err(FlagError::AuthorizationMode(modes.to_owned())),
    }
}

/// Returns the flags of the certificate in a directory and of its key; none unless both exist.
fn serving(directory: &Path) -> Vec<String> {
    let files = SERVING.map(|(flag, file)| (flag, directory.join(file)));
    let exist = files.iter().all(|(_, file)| file.is_file());
    let flags = files.iter().map(|(flag, file)| format!("--{flag}={}", file.display()));
    flags.filter(|_| exist).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn strings(args: &[&str]) -> Vec<String> {
        args.iter().map(|arg| (*arg).to_owned()).collect()
    }

    fn served(args: &[&str]) -> Vec<String> {
        match translate(&strings(args)) {
            Ok(Invocation::Serve(args)) => args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_flags_of_controller_runtimes_envtest_are_translated() {
        let directory = tempfile::tempdir().unwrap();
        for file in ["apiserver.crt", "apiserver.key"] {
            fs::write(directory.path().join(file), "").unwrap();
        }
        let path = directory.path().display();
        let args = served(&[
            "--allow-privileged=true",
            "--authorization-mode=RBAC",
            "--bind-address=127.0.0.1",
            &format!("--cert-dir={path}"),
            &format!("--client-ca-file={path}/client-cert-auth-ca.crt"),
            "--disable-admission-plugins=ServiceAccount",
            "--etcd-servers=http://127.0.0.1:40001",
            "--secure-port=40002",
            "--service-account-issuer=https://127.0.0.1:40002/",
            &format!("--service-account-key-file={path}/sa-signer.crt"),
            &format!("--service-account-signing-key-file={path}/sa-signer.key"),
            "--service-cluster-ip-range=10.0.0.0/24",
        ]);
        let expected = [
            "--no-garbage-collection".to_owned(),
            "--address=127.0.0.1".to_owned(),
            format!("--client-ca-file={path}/client-cert-auth-ca.crt"),
            "--port=40002".to_owned(),
            "--service-account-issuer=https://127.0.0.1:40002/".to_owned(),
            "--authorization-mode=RBAC".to_owned(),
            format!("--tls-cert-file={path}/apiserver.crt"),
            format!("--tls-private-key-file={path}/apiserver.key"),
        ];
        assert_eq!(args, expected);
    }

    #[test]
    fn the_flags_of_this_workspaces_envtest_are_known() {
        let args = served(&[
            "--bind-address=127.0.0.1",
            "--secure-port=40002",
            "--etcd-servers=http://127.0.0.1:40001",
            "--cert-dir=d",
            "--tls-cert-file=d/apiserver.crt",
            "--tls-private-key-file=d/apiserver.key",
            "--token-auth-file=d/tokens.csv",
            "--authorization-mode=RBAC",
            "--allow-privileged=true",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-signing-key-file=d/service-account.key",
            "--service-account-key-file=d/service-account.pub",
            "--disable-admission-plugins=ServiceAccount",
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",
            "--shutdown-watch-termination-grace-period=1s",
        ]);
        let expected = [
            "--no-garbage-collection",
            "--address=127.0.0.1",
            "--port=40002",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--tls-cert-file=d/apiserver.crt",
            "--tls-private-key-file=d/apiserver.key",
            "--token-auth-file=d/tokens.csv",
            "--authorization-mode=RBAC",
        ];
        assert_eq!(args, expected);
    }

    #[test]
    fn a_selected_certificate_precedes_that_of_the_directory() {
        let directory = tempfile::tempdir().unwrap();
        let cert_dir = format!("--cert-dir={}", directory.path().display());
        assert_eq!(served(&[&cert_dir]), ["--no-garbage-collection"]);
        for file in ["apiserver.crt", "apiserver.key"] {
            fs::write(directory.path().join(file), "").unwrap();
        }
        let args = served(&[&cert_dir, "--tls-cert-file=a", "--tls-private-key-file=b"]);
        assert_eq!(args, ["--no-garbage-collection", "--tls-cert-file=a", "--tls-private-key-file=b"]);
    }

    #[test]
    fn the_last_occurrence_of_a_flag_counts() {
        let args = served(&["--secure-port=1", "--anonymous-auth", "--secure-port=2"]);
        assert_eq!(args, ["--no-garbage-collection", "--anonymous-auth=true", "--port=2"]);
    }

    #[test]
    fn a_list_of_modes_allows_what_one_of_them_allows() {
        assert_eq!(authorization_mode("Node,RBAC"), Ok("RBAC"));
        assert_eq!(authorization_mode("RBAC,AlwaysAllow"), Ok("AlwaysAllow"));
        for (modes, unsupported) in [("RBAC,Webhook", "Webhook"), ("Node", "Node"), ("", "")] {
            assert_eq!(authorization_mode(modes), Err(FlagError::AuthorizationMode(unsupported.to_owned())));
        }
    }

    #[test]
    fn other_arguments_are_errors_that_name_them() {
        let error = |arg: &str| translate(&strings(&[arg])).unwrap_err().to_string();
        assert_eq!(error("--insecure-port=0"), "unknown flag: --insecure-port");
        assert_eq!(error("serve"), "`serve` is not a flag; use `--name=value`");
        assert_eq!(error("-v=2"), "`-v=2` is not a flag; use `--name=value`");
    }

    #[test]
    fn the_help_lists_flags_at_the_start_of_lines() {
        assert_eq!(translate(&strings(&["--help"])), Ok(Invocation::Help));
        let help = help();
        let lists = |flag: &str| help.lines().any(|line| line.trim_start() == flag);
        assert!(lists("--secure-port") && lists("--cert-dir") && lists("--etcd-servers"), "{help}");
        assert!(!lists("--insecure-port"), "{help}");
    }
}
