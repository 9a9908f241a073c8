//! Certificates that are replaced while a server runs.

use std::fs;

use jiff::Timestamp;
use kubewright_manager::serving::{CertificateError, Certificates};
use kubewright_runtime::metrics::Metrics;

use crate::{
    fixture::{Client, Running, until},
    tls::{Pem, PemFiles, connect},
};

fn error(files: &PemFiles) -> String {
    Certificates::from_files(&files.certificate, &files.key).unwrap_err().to_string()
}

#[tokio::test]
async fn replaced_files_are_used_for_new_connections() {
    let (old, new) = (Pem::new(), Pem::new());
    let files = PemFiles::new(&old);
    let certificates = files.certificates();
    let running = Running::start_tls(&certificates).await;
    let mut client = Client::new(connect(&running, &old.der).await.unwrap()).await;
    assert!(connect(&running, &new.der).await.is_err());

    files.write(&new);
    until(async || connect(&running, &new.der).await.is_ok()).await;
    assert!(connect(&running, &old.der).await.is_err());
    assert_eq!(certificates.chain(), [new.der]);
    assert_eq!(client.get("/echo").await.0, 200, "old connections remain");
    until(async || certificates.last_error().is_none()).await;
}

#[tokio::test]
async fn the_old_pair_remains_until_certificate_and_key_match() {
    let (old, new) = (Pem::new(), Pem::new());
    let files = PemFiles::new(&old);
    let certificates = files.certificates();
    let running = Running::start_tls(&certificates).await;

    fs::write(&files.certificate, &new.certificate).unwrap();
    // A read can find the file while it is written.
    until(async || matches!(certificates.last_error(), Some(CertificateError::KeyMismatch { .. }))).await;
    certificates.check().expect("the old pair is valid");
    let error = certificates.last_error().unwrap();
    let (certificate, key) = (files.certificate.display(), files.key.display());
    assert_eq!(error.to_string(), format!("the private key `{key}` does not match the certificate `{certificate}`"));
    assert!(connect(&running, &old.der).await.is_ok());

    fs::write(&files.key, &new.key).unwrap();
    until(async || connect(&running, &new.der).await.is_ok()).await;
    until(async || certificates.last_error().is_none()).await;
}

#[tokio::test]
async fn the_old_pair_remains_while_the_files_are_invalid() {
    let (old, new) = (Pem::new(), Pem::new());
    let files = PemFiles::new(&old);
    let certificates = files.certificates();
    let running = Running::start_tls(&certificates).await;
    let half_written = &new.certificate[..new.certificate.len() / 2];
    let undecodable = "-----BEGIN CERTIFICATE-----\n?\n-----END CERTIFICATE-----\n";
    for content in ["", "no certificate", undecodable, half_written] {
        fs::write(&files.certificate, content).unwrap();
        until(async || matches!(certificates.last_error(), Some(CertificateError::Parse { .. }))).await;
        assert!(connect(&running, &old.der).await.is_ok());
        files.write(&old);
        until(async || certificates.last_error().is_none()).await;
    }
    fs::remove_file(&files.key).unwrap();
    until(async || matches!(certificates.last_error(), Some(CertificateError::Read { .. }))).await;
    assert!(connect(&running, &old.der).await.is_ok());
}

#[tokio::test]
async fn an_expired_certificate_fails_the_check_and_can_be_replaced() {
    let (expired, new) = (Pem::expired(), Pem::new());
    let files = PemFiles::new(&expired);
    let certificates = files.certificates();
    assert!(certificates.not_after().unwrap() < Timestamp::now());
    let error = certificates.check().unwrap_err();
    let expected = format!(
        "the certificate `{}` expired at {}; replace it",
        files.certificate.display(),
        certificates.not_after().unwrap()
    );
    assert_eq!(error.to_string(), expected);

    let running = Running::start_tls(&certificates).await;
    files.write(&new);
    until(async || certificates.check().is_ok()).await;
    assert!(connect(&running, &new.der).await.is_ok());
}

#[tokio::test]
async fn invalid_files_are_errors_that_name_the_file() {
    let pem = Pem::new();
    let files = PemFiles::new(&pem);
    let (certificate, key) = (files.certificate.display().to_string(), files.key.display().to_string());

    fs::write(&files.key, "").unwrap();
    let expected = format!("cannot parse the private key `{key}`: it contains no section `PRIVATE KEY` in PEM format");
    assert_eq!(error(&files), expected);
    fs::write(&files.key, Pem::new().key).unwrap();
    assert_eq!(error(&files), format!("the private key `{key}` does not match the certificate `{certificate}`"));
    fs::remove_file(&files.key).unwrap();
    assert!(error(&files).starts_with(&format!("cannot read the private key `{key}`: ")), "{}", error(&files));

    files.write(&pem);
    fs::write(&files.certificate, &pem.key).unwrap();
    let expected =
        format!("cannot parse the certificate `{certificate}`: it contains no section `CERTIFICATE` in PEM format");
    assert_eq!(error(&files), expected);
    fs::write(&files.certificate, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    assert!(error(&files).starts_with(&format!("cannot parse the certificate `{certificate}`: ")), "{}", error(&files));
    fs::write(&files.certificate, vec![b'a'; (1 << 20) + 1]).unwrap();
    assert_eq!(error(&files), format!("cannot read the certificate `{certificate}`: the file exceeds 1 MiB"));
}

#[tokio::test]
async fn reads_errors_and_the_expiration_are_measured() {
    let (old, new) = (Pem::new(), Pem::new());
    let (files, metrics) = (PemFiles::new(&old), Metrics::default());
    let certificates = files.certificates().metrics(&metrics, "webhook");
    let expiration = format!(
        "certwatcher_certificate_expiration_timestamp_seconds{{name=\"webhook\"}} {}.0\n",
        certificates.not_after().unwrap().as_second()
    );
    assert!(metrics.text().contains("certwatcher_read_certificate_total{} 1\n"), "{}", metrics.text());
    assert!(metrics.text().contains("certwatcher_read_certificate_errors_total{} 0\n"), "{}", metrics.text());
    assert!(metrics.text().contains(&expiration), "{}", metrics.text());

    let _running = Running::start_tls(&certificates).await;
    fs::write(&files.certificate, &new.certificate).unwrap();
    until(async || certificates.last_error().is_some()).await;
    assert!(!metrics.text().contains("certwatcher_read_certificate_errors_total{} 0\n"), "{}", metrics.text());
}

fn count(metrics: &Metrics, name: &str) -> u64 {
    let (text, begin) = (metrics.text(), format!("{name}{{}} "));
    text.lines().find_map(|line| line.strip_prefix(&begin)).unwrap_or_default().parse().unwrap()
}

/// Alerts use the rate of reads, and the share of errors.
#[tokio::test]
async fn each_read_is_counted_whether_it_fails_or_finds_the_same_files() {
    let (files, metrics) = (PemFiles::new(&Pem::new()), Metrics::default());
    let certificates = files.certificates().metrics(&metrics, "webhook");
    let _running = Running::start_tls(&certificates).await;
    until(async || count(&metrics, "certwatcher_read_certificate_total") >= 3).await;
    assert_eq!(count(&metrics, "certwatcher_read_certificate_errors_total"), 0);
    fs::remove_file(&files.key).unwrap();
    until(async || count(&metrics, "certwatcher_read_certificate_errors_total") >= 10).await;
    let errors = count(&metrics, "certwatcher_read_certificate_errors_total");
    assert!(errors <= count(&metrics, "certwatcher_read_certificate_total"));
}

#[test]
fn a_self_signed_certificate_passes_the_check() {
    let certificates = Certificates::self_signed(["localhost", "127.0.0.1"]).unwrap();
    certificates.check().unwrap();
    let debug = format!("{certificates:?}");
    assert!(debug.starts_with("Certificates { name: \"self-signed\", not_after: "), "{debug}");
}
