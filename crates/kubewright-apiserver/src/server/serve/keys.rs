//! Private keys: ECDSA P-256, generated or persisted in files that only their owner can read.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, ErrorKind, Write},
    path::Path,
};

use rcgen::KeyPair;

use crate::{authentication::signing_key::SigningKey, server::serve::TlsError};

/// Opens the key `sa.key` of a directory, which signs the tokens of service accounts. It is generated if it does not
/// exist.
///
/// # Errors
/// The file cannot be read, parsed or written.
pub fn open_service_account_key(directory: &Path) -> Result<SigningKey, TlsError> {
    let path = directory.join("sa.key");
    let key = open(&path)?;
    SigningKey::from_pkcs8(key.serialized_der()).map_err(|error| TlsError::parse(&path, error))
}

pub(super) fn generate() -> Result<KeyPair, TlsError> {
    KeyPair::generate().map_err(TlsError::generate)
}

/// Reads a key, or generates and writes it.
pub(super) fn open(path: &Path) -> Result<KeyPair, TlsError> {
    match fs::read_to_string(path) {
        Ok(text) => return KeyPair::from_pem(&text).map_err(|error| TlsError::parse(path, error)),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(TlsError::read(path, &error)),
    }
    let key = generate()?;
    match create(path, &key.serialize_pem()) {
        Ok(()) => Ok(key),
        // Another process was first.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let text = fs::read_to_string(path).map_err(|error| TlsError::read(path, &error))?;
            KeyPair::from_pem(&text).map_err(|error| TlsError::parse(path, error))
        }
        Err(error) => Err(TlsError::write(path, &error)),
    }
}

/// Creates a file completely or not at all. It does not replace an existing one.
fn create(path: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        private_directory().create(directory)?;
    }
    let mut staged = path.as_os_str().to_owned();
    staged.push(format!(".{}", std::process::id()));
    let written = write_private(staged.as_ref(), text);
    let linked = written.and_then(|()| fs::hard_link(&staged, path));
    drop(fs::remove_file(&staged));
    linked
}

/// Writes a file that only its owner can read.
pub(super) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    // The mode applies to new files only.
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private_file().open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn private_directory() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_generated_once_and_readable_by_its_owner_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pki/ca.key");
        let key = open(&path).unwrap();
        assert_eq!(open(&path).unwrap().serialize_pem(), key.serialize_pem());
        let names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(names, std::slice::from_ref(&path), "no staged file remains");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        }
    }

    #[test]
    fn an_existing_file_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ca.key");
        fs::write(&path, "secret").unwrap();
        let error = open(&path).unwrap_err().to_string();
        assert!(error.starts_with("cannot parse `") && error.contains("ca.key"), "{error}");
        assert!(!error.contains("secret"), "{error}");
        assert_eq!(create(&path, "other").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "secret");
    }

    #[test]
    fn the_key_of_service_accounts_signs_tokens() {
        let directory = tempfile::tempdir().unwrap();
        let [first, second] = [(), ()].map(|()| open_service_account_key(directory.path()).unwrap());
        assert_eq!(format!("{first:?}"), format!("{second:?}"), "the ID is that of the key");
    }
}
