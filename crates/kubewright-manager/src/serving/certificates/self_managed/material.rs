//! The certificates and keys of a Secret.

use std::{
    collections::BTreeMap,
    fmt,
    net::{Ipv4Addr, Ipv6Addr},
};

use jiff::Timestamp;
use k8s_openapi::ByteString;
use x509_parser::{extensions::GeneralName, x509::X509Name};

use super::super::pair::{Pair, PairError, certificates, parse, validity_of};

/// The keys of the Secret. The first certificate of the bundle is that of the authority which signs.
const LEAF: (&str, &str) = ("tls.crt", "tls.key");
const BUNDLE: &str = "ca.crt";
const AUTHORITY_KEY: &str = "ca.key";
const NEXT: (&str, &str) = ("ca-next.crt", "ca-next.key");
const NEXT_PUBLISHED: &str = "ca-next.published";
const FORMER_UNTIL: &str = "ca-former.until";
const REVOCATION: &str = "ca.revocation";

/// The end of a certificate in PEM format.
const END: &str = "-----END CERTIFICATE-----";

/// A certificate in PEM format, and what the rotation needs of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Certificate {
    pub(super) pem: String,
    /// The common name of the subject.
    pub(super) subject: String,
    /// The common name of the issuer.
    pub(super) issuer: String,
    /// The DNS names and the IP addresses.
    pub(super) names: Vec<String>,
    pub(super) not_after: Timestamp,
}

/// A private key in PEM format. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct PrivateKey(pub(super) String);

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey(..)")
    }
}

/// A certificate with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Credentials {
    pub(super) certificate: Certificate,
    pub(super) key: PrivateKey,
}

/// An authority that clients are to trust before it signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NextAuthority {
    pub(super) authority: Credentials,
    /// Since when all objects have contained it; `None` while one does not.
    pub(super) published: Option<Timestamp>,
}

/// The contents of the Secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Material {
    /// The certificate of the server.
    pub(super) leaf: Option<Credentials>,
    /// The authority that signs.
    pub(super) authority: Option<Credentials>,
    /// The authority that will sign.
    pub(super) next: Option<NextAuthority>,
    /// The authorities that no longer sign, but are still trusted.
    pub(super) former: Vec<Certificate>,
    /// Until when former authorities are trusted.
    pub(super) former_until: Option<Timestamp>,
    /// The last revocation of all authorities that was executed: the value of its annotation.
    pub(super) revocation: Option<String>,
}

impl Certificate {
    /// Parses one certificate in PEM format.
    pub(super) fn parse(pem: &str) -> Result<Self, String> {
        let chain = certificates(pem.as_bytes())?;
        let [certificate] = &chain[..] else { return Err("it contains several certificates".to_owned()) };
        let parsed = parse(certificate)?;
        let (_, not_after) = validity_of(&parsed)?;
        let names = parsed.subject_alternative_name().map_err(|error| error.to_string())?;
        let names = names.iter().flat_map(|names| &names.value.general_names).filter_map(name).collect();
        let (subject, issuer) = (common_name(parsed.subject()), common_name(parsed.issuer()));
        Ok(Certificate { pem: format!("{}\n", pem.trim()), subject, issuer, names, not_after })
    }

    /// Returns whether the certificate has not expired.
    pub(super) fn is_valid(&self, now: Timestamp) -> bool {
        now < self.not_after
    }
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => match <[u8; 4]>::try_from(*bytes) {
            Ok(bytes) => Some(Ipv4Addr::from(bytes).to_string()),
            Err(_) => <[u8; 16]>::try_from(*bytes).ok().map(|bytes| Ipv6Addr::from(bytes).to_string()),
        },
        _ => None,
    }
}

fn common_name(name: &X509Name<'_>) -> String {
    let name = name.iter_common_name().next().and_then(|name| name.as_str().ok());
    name.unwrap_or_default().to_owned()
}

impl Credentials {
    /// Parses a certificate and its key, and validates that they match.
    pub(super) fn parse(certificate: &str, key: &str) -> Result<Self, String> {
        match Pair::from_pem(certificate.as_bytes(), key.as_bytes()) {
            Ok(_) => {}
            Err(PairError::Certificate(reason) | PairError::Key(reason)) => return Err(reason),
            Err(PairError::Mismatch) => return Err("the key does not match the certificate".to_owned()),
        }
        Ok(Credentials { certificate: Certificate::parse(certificate)?, key: PrivateKey(key.to_owned()) })
    }
}

impl Material {
    /// Parses the data of the Secret. Parts that are invalid are omitted, and described without their contents.
    pub(super) fn parse(data: &BTreeMap<String, ByteString>) -> (Self, Vec<String>) {
        let mut parser = Parser { data, problems: Vec::new() };
        let leaf = parser.credentials(LEAF);
        let mut bundle = parser.bundle();
        let mut authority = None;
        if let (Some(first), Some(key)) = (bundle.first(), parser.text(AUTHORITY_KEY)) {
            authority = parser.report(AUTHORITY_KEY, Credentials::parse(&first.pem, &key));
        }
        let next = parser.credentials(NEXT);
        let is_former = |certificate: &Certificate| {
            let is =
                |other: &Option<Credentials>| other.as_ref().is_some_and(|other| other.certificate == *certificate);
            !is(&authority) && !is(&next)
        };
        bundle.retain(is_former);
        let published = parser.time(NEXT_PUBLISHED);
        let former_until = parser.time(FORMER_UNTIL);
        let next = next.map(|authority| NextAuthority { authority, published });
        let revocation = parser.text(REVOCATION);
        (Material { leaf, authority, next, former: bundle, former_until, revocation }, parser.problems)
    }

    /// Returns the data of the Secret.
    pub(super) fn data(&self) -> BTreeMap<String, ByteString> {
        let mut data = BTreeMap::new();
        let mut insert = |key: &str, text: &str| data.insert(key.to_owned(), ByteString(text.as_bytes().to_vec()));
        insert(BUNDLE, &self.bundle());
        if let Some(leaf) = &self.leaf {
            insert(LEAF.0, &leaf.certificate.pem);
            insert(LEAF.1, &leaf.key.0);
        }
        if let Some(authority) = &self.authority {
            insert(AUTHORITY_KEY, &authority.key.0);
        }
        if let Some(next) = &self.next {
            insert(NEXT.0, &next.authority.certificate.pem);
            insert(NEXT.1, &next.authority.key.0);
            if let Some(published) = next.published {
                insert(NEXT_PUBLISHED, &published.to_string());
            }
        }
        if let Some(until) = self.former_until {
            insert(FORMER_UNTIL, &until.to_string());
        }
        if let Some(revocation) = &self.revocation {
            insert(REVOCATION, revocation);
        }
        data
    }

    /// Returns all trusted authorities in PEM format: the signing one first.
    pub(super) fn bundle(&self) -> String {
        let next = self.next.as_ref().map(|next| &next.authority);
        let signing = self.authority.iter().chain(next).map(|authority| authority.certificate.pem.as_str());
        signing.chain(self.former.iter().map(|former| former.pem.as_str())).collect()
    }
}

/// Returns the certificates of a bundle, each in PEM format.
pub(super) fn blocks(bundle: &str) -> impl Iterator<Item = String> {
    let blocks = bundle.split_inclusive(END).map(str::trim).filter(|block| block.ends_with(END));
    blocks.map(|block| format!("{block}\n"))
}

/// Reads the data of a Secret, and collects what is wrong with it.
struct Parser<'a> {
    data: &'a BTreeMap<String, ByteString>,
    problems: Vec<String>,
}

impl Parser<'_> {
    fn text(&self, key: &str) -> Option<String> {
        let bytes = self.data.get(key).filter(|bytes| !bytes.0.is_empty())?;
        Some(String::from_utf8_lossy(&bytes.0).into_owned())
    }

    fn report<T>(&mut self, key: &str, result: Result<T, String>) -> Option<T> {
        result.map_err(|reason| self.problems.push(format!("`{key}`: {reason}"))).ok()
    }

    fn credentials(&mut self, (certificate, key): (&str, &str)) -> Option<Credentials> {
        let (text, key) = (self.text(certificate)?, self.text(key).unwrap_or_default());
        self.report(certificate, Credentials::parse(&text, &key))
    }

    fn bundle(&mut self) -> Vec<Certificate> {
        let bundle = self.text(BUNDLE).unwrap_or_default();
        blocks(&bundle).filter_map(|block| self.report(BUNDLE, Certificate::parse(&block))).collect()
    }

    fn time(&mut self, key: &str) -> Option<Timestamp> {
        let text = self.text(key)?;
        self.report(key, text.trim().parse::<Timestamp>().map_err(|error| error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{
        super::{
            super::self_signed::later,
            issue::{Issue, Rcgen},
        },
        *,
    };

    fn authority() -> Credentials {
        Rcgen.authority(Timestamp::now(), Duration::from_hours(1)).unwrap()
    }

    fn material() -> Material {
        let (now, active, next) = (Timestamp::now(), authority(), authority());
        let names = ["a.b.svc".to_owned(), "127.0.0.1".to_owned()];
        let until = later(now, Duration::from_mins(30));
        Material {
            leaf: Some(Rcgen.leaf(&active, &names, now, until).unwrap()),
            authority: Some(active),
            next: Some(NextAuthority { authority: next, published: Some(now) }),
            former: vec![authority().certificate],
            former_until: Some(now),
            revocation: Some("1".to_owned()),
        }
    }

    #[test]
    fn material_is_parsed_as_it_was_written() {
        let material = material();
        let (parsed, problems) = Material::parse(&material.data());
        assert_eq!((&parsed, problems), (&material, Vec::new()));
        assert_eq!(blocks(&material.bundle()).count(), 3);
        let (authority, leaf) = (material.authority.unwrap(), material.leaf.unwrap());
        assert_eq!(leaf.certificate.issuer, authority.certificate.subject);
        assert_eq!(leaf.certificate.names, ["a.b.svc", "127.0.0.1"]);
    }

    #[test]
    fn half_written_parts_are_omitted_and_named() {
        let material = material();
        let mut data = material.data();
        let half = |bytes: &ByteString| ByteString(bytes.0[..bytes.0.len() / 2].to_vec());
        let key = half(&data["tls.key"]);
        data.insert("tls.key".to_owned(), key);
        data.insert("ca.key".to_owned(), ByteString(b"?".to_vec()));
        data.insert("ca-former.until".to_owned(), ByteString(b"soon".to_vec()));
        let (parsed, problems) = Material::parse(&data);
        assert_eq!((parsed.leaf, parsed.authority, parsed.former_until), (None, None, None));
        assert_eq!(parsed.next, material.next);
        assert_eq!(parsed.former.len(), 2, "the authority without a key is still trusted");
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert!(problems[0].starts_with("`tls.crt`: "), "{problems:?}");
    }

    #[test]
    fn a_key_of_another_certificate_is_a_problem() {
        let mut data = material().data();
        let other = data["ca-next.key"].clone();
        data.insert("tls.key".to_owned(), other);
        let (parsed, problems) = Material::parse(&data);
        assert_eq!(parsed.leaf, None);
        assert_eq!(problems, ["`tls.crt`: the key does not match the certificate"]);
    }

    #[test]
    fn an_empty_secret_is_empty_material() {
        assert_eq!(Material::parse(&BTreeMap::new()), (Material::default(), Vec::new()));
    }

    #[test]
    fn keys_are_never_printed() {
        let material = material();
        let key = material.leaf.as_ref().unwrap().key.0.lines().nth(1).unwrap().to_owned();
        assert!(!format!("{material:?}").contains(&key));
    }
}
