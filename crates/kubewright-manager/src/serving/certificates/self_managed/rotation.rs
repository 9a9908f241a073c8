//! The rotation of certificates, as a pure function of the Secret, of what the API server trusts, and of the time.
//!
//! A new authority is introduced in phases, so that at each moment every certificate in use is trusted:
//!
//! 1. it is added to the bundle of all objects, beside the one that signs;
//! 2. when all objects have contained it for a time, it signs the next certificate, which replaces the one in use;
//! 3. the former authority remains in the bundle until its last certificate is not used anymore.

#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::Timestamp;

use super::{
    super::self_signed::later,
    issue::Issue,
    material::{Certificate, Material, NextAuthority, blocks},
};

/// How many former authorities remain trusted at most.
const MAX_FORMER: usize = 8;

/// The lifetimes of certificates and the times between the phases.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    pub(super) leaf_lifetime: Duration,
    pub(super) authority_lifetime: Duration,
    /// How long all objects must contain a new authority before it signs.
    pub(super) publication_delay: Duration,
    /// How long a former authority remains trusted at most.
    pub(super) retention: Duration,
}

/// What the rotation depends on besides the Secret.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observed<'a> {
    /// The bundles of the objects; `None` for an object without one.
    pub(super) bundles: &'a [Option<String>],
    /// The requested revocation of all authorities.
    pub(super) revocation: Option<&'a str>,
    pub(super) now: Timestamp,
    /// Whether this process rotates. Others act only while there is no usable certificate, or it is not trusted: the
    /// leader can wait for caches, which can need a conversion webhook.
    pub(super) is_leader: bool,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Store this in the Secret, if it has not changed meanwhile.
    Store(Box<Material>, Reason),
    /// Write the bundle to the objects that have another one.
    Publish(String),
    /// Nothing until then, unless something changes.
    Wait(Timestamp),
}

/// Why the Secret changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// There is nothing yet that the API server trusts.
    FirstAuthority,
    /// The key of the authority is lost, so that a new one is introduced.
    LostAuthority,
    /// All authorities are revoked, so that a new one replaces them at once.
    Revoked,
    /// There is no certificate, or it is expired, has other names or another issuer.
    InvalidLeaf,
    /// A third of the lifetime is left.
    LeafDue,
    /// A third of the lifetime of the authority is left.
    AuthorityDue,
    /// All objects contain the next authority.
    Published,
    /// An object lacks the next authority again.
    Unpublished,
    /// The next authority signs.
    Switched,
    /// Former authorities are not trusted anymore.
    FormerDropped,
}

impl Reason {
    /// Describes the change in the log.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Reason::FirstAuthority => "the first authority was created",
            Reason::LostAuthority => "a new authority was created, because the key of the last one is lost",
            Reason::Revoked => "all authorities were revoked, and a new one was created",
            Reason::InvalidLeaf => "a certificate was issued, because there was no valid one",
            Reason::LeafDue => "the certificate was renewed",
            Reason::AuthorityDue => "the next authority was created",
            Reason::Published => "all objects contain the next authority",
            Reason::Unpublished => "an object lacks the next authority again",
            Reason::Switched => "the next authority signs",
            Reason::FormerDropped => "former authorities are not trusted anymore",
        }
    }
}

type Change = Option<(Material, Reason)>;

/// Decides what is to be done.
pub(super) struct Rotation<'a, I> {
    pub(super) policy: Policy,
    /// The names that the certificate must have.
    pub(super) names: &'a [String],
    pub(super) issuer: &'a I,
}

impl<I: Issue> Rotation<'_, I> {
    /// Returns the next step. Repeated steps lead to [`Decision::Wait`].
    ///
    /// # Errors
    /// Fails with the reason if a certificate cannot be issued, such as for an invalid name.
    pub(super) fn decide(&self, material: &Material, observed: &Observed<'_>) -> Result<Decision, String> {
        let bundle = material.bundle();
        if !observed.is_leader && self.serves(material, observed.now) {
            let is_distrusted = !observed.bundles.iter().all(|bundle| self.is_trusted(material, bundle.as_deref()));
            return Ok(match is_distrusted {
                true => Decision::Publish(bundle),
                false => Decision::Wait(Timestamp::MAX),
            });
        }
        if let Some((material, reason)) = self.change(material, observed)? {
            return Ok(Decision::Store(Box::new(material), reason));
        }
        match is_published(&bundle, observed) {
            true => Ok(Decision::Wait(self.next_time(material, observed.now))),
            false => Ok(Decision::Publish(bundle)),
        }
    }

    /// Returns whether the certificate can be used.
    pub(super) fn serves(&self, material: &Material, now: Timestamp) -> bool {
        let Some(leaf) = &material.leaf else { return false };
        let is_issuer = |certificate: &Certificate| certificate.subject == leaf.certificate.issuer;
        let has_issuer = match &material.authority {
            Some(authority) => is_issuer(&authority.certificate),
            None => material.former.iter().any(is_issuer),
        };
        has_issuer
            && leaf.certificate.is_valid(now)
            && self.names.iter().all(|name| leaf.certificate.names.contains(name))
    }

    /// Returns whether clients with this bundle trust the certificate.
    fn is_trusted(&self, material: &Material, bundle: Option<&str>) -> bool {
        let authority = material.authority.as_ref().map(|authority| &authority.certificate.pem);
        authority.is_none_or(|authority| bundle.is_some_and(|bundle| blocks(bundle).any(|block| block == *authority)))
    }

    /// Returns the first change of the Secret that is due.
    fn change(&self, material: &Material, observed: &Observed<'_>) -> Result<Change, String> {
        let now = observed.now;
        if let Some(revocation) = observed.revocation.filter(|value| material.revocation.as_deref() != Some(*value)) {
            let material = Material { revocation: Some(revocation.to_owned()), ..self.first(now)? };
            return Ok(Some((material, Reason::Revoked)));
        }
        let authority = material.authority.as_ref().filter(|authority| authority.certificate.is_valid(now));
        let next = material.next.as_ref().filter(|next| next.authority.certificate.is_valid(now));
        if authority.is_none() && next.is_none() {
            return self.create(material, observed).map(Some);
        }
        if let Some(changed) = self.renew_leaf(material, now)? {
            return Ok(Some(changed));
        }
        if let Some(next) = next {
            let changed = self.introduce(material, next, observed)?;
            return Ok(changed.or_else(|| drop_former(material, now)));
        }
        let is_due = authority.is_some_and(|authority| {
            now >= earlier(authority.certificate.not_after, self.policy.authority_lifetime / 3)
        });
        if is_due || material.next.is_some() {
            let authority = self.issuer.authority(now, self.policy.authority_lifetime)?;
            let next = Some(NextAuthority { authority, published: None });
            return Ok(Some((Material { next, ..material.clone() }, Reason::AuthorityDue)));
        }
        Ok(drop_former(material, now))
    }

    /// Creates an authority without one that can sign. If the API server trusts others, the new one is introduced
    /// beside them: replicas can still use their certificates.
    fn create(&self, material: &Material, observed: &Observed<'_>) -> Result<(Material, Reason), String> {
        let now = observed.now;
        let former = trusted(material, observed);
        if former.is_empty() {
            let material = Material { revocation: material.revocation.clone(), ..self.first(now)? };
            return Ok((material, Reason::FirstAuthority));
        }
        let authority = self.issuer.authority(now, self.policy.authority_lifetime)?;
        let created = Material {
            leaf: material.leaf.clone(),
            authority: None,
            next: Some(NextAuthority { authority, published: None }),
            former,
            former_until: Some(later(now, self.policy.retention)),
            revocation: material.revocation.clone(),
        };
        Ok((created, Reason::LostAuthority))
    }

    /// Creates an authority with a certificate, beside which no other is trusted.
    fn first(&self, now: Timestamp) -> Result<Material, String> {
        let authority = self.issuer.authority(now, self.policy.authority_lifetime)?;
        let leaf = self.issuer.leaf(&authority, self.names, now, later(now, self.policy.leaf_lifetime))?;
        Ok(Material { leaf: Some(leaf), authority: Some(authority), ..Material::default() })
    }

    /// Issues the certificate if it is invalid or due. It does not outlive its authority.
    fn renew_leaf(&self, material: &Material, now: Timestamp) -> Result<Change, String> {
        let lifetime = self.policy.leaf_lifetime;
        let is_usable = |not_after: &Timestamp| now < *not_after;
        let Some(authority) =
            material.authority.as_ref().filter(|authority| is_usable(&authority.certificate.not_after))
        else {
            return Ok(None);
        };
        let not_after = later(now, lifetime).min(authority.certificate.not_after);
        let reason = match &material.leaf {
            Some(leaf) if self.serves(material, now) => {
                let is_due = now >= earlier(leaf.certificate.not_after, lifetime / 3);
                // Near the end of the authority, a new certificate would not be valid for longer.
                if !is_due || not_after <= leaf.certificate.not_after {
                    return Ok(None);
                }
                Reason::LeafDue
            }
            _ => Reason::InvalidLeaf,
        };
        let leaf = Some(self.issuer.leaf(authority, self.names, now, not_after)?);
        Ok(Some((Material { leaf, ..material.clone() }, reason)))
    }

    /// Moves the next authority to its next phase.
    fn introduce(&self, material: &Material, next: &NextAuthority, observed: &Observed<'_>) -> Result<Change, String> {
        let now = observed.now;
        let with_published = |published: Option<Timestamp>, reason| {
            let next = Some(NextAuthority { authority: next.authority.clone(), published });
            Some((Material { next, ..material.clone() }, reason))
        };
        Ok(match (next.published, is_published(&material.bundle(), observed)) {
            (None, false) => None,
            (None, true) => with_published(Some(now), Reason::Published),
            (Some(_), false) => with_published(None, Reason::Unpublished),
            (Some(published), true) if now < later(published, self.policy.publication_delay) => None,
            (Some(_), true) => Some((self.switch(material, next, now)?, Reason::Switched)),
        })
    }

    /// Signs with the next authority.
    fn switch(&self, material: &Material, next: &NextAuthority, now: Timestamp) -> Result<Material, String> {
        let authority = next.authority.clone();
        let not_after = later(now, self.policy.leaf_lifetime).min(authority.certificate.not_after);
        let leaf = self.issuer.leaf(&authority, self.names, now, not_after)?;
        let retained = later(now, self.policy.retention);
        let last_use = material.leaf.as_ref().map_or(retained, |leaf| leaf.certificate.not_after.min(retained));
        let former = material.authority.iter().map(|authority| &authority.certificate).chain(&material.former);
        let former: Vec<_> = former.filter(|former| former.is_valid(now)).take(MAX_FORMER).cloned().collect();
        let former_until = (!former.is_empty()).then(|| last_use.max(material.former_until.unwrap_or(last_use)));
        let (leaf, authority, revocation) = (Some(leaf), Some(authority), material.revocation.clone());
        Ok(Material { leaf, authority, next: None, former, former_until, revocation })
    }

    /// Returns the time of the next change.
    fn next_time(&self, material: &Material, now: Timestamp) -> Timestamp {
        let Policy { leaf_lifetime, authority_lifetime, publication_delay, .. } = self.policy;
        let leaf = material.leaf.as_ref().map(|leaf| earlier(leaf.certificate.not_after, leaf_lifetime / 3));
        let authority = material.authority.as_ref();
        let authority = authority.map(|authority| earlier(authority.certificate.not_after, authority_lifetime / 3));
        let published = material.next.as_ref().and_then(|next| next.published);
        let switched = published.map(|published| later(published, publication_delay));
        let times = [leaf, authority, switched, material.former_until].into_iter().flatten();
        times.filter(|time| *time > now).min().unwrap_or(Timestamp::MAX)
    }
}

/// Returns whether all objects have this bundle.
fn is_published(bundle: &str, observed: &Observed<'_>) -> bool {
    observed.bundles.iter().all(|other| other.as_deref() == Some(bundle))
}

/// Stops to trust the former authorities when their time is over. While none signs, replicas can still use their
/// certificates.
fn drop_former(material: &Material, now: Timestamp) -> Change {
    let is_over = material.authority.is_some() && material.former_until.is_none_or(|until| now >= until);
    let is_due = is_over && !(material.former.is_empty() && material.former_until.is_none());
    let dropped = || Material { former: Vec::new(), former_until: None, ..material.clone() };
    is_due.then(|| (dropped(), Reason::FormerDropped))
}

/// Returns the valid authorities that the Secret or the API server trusts.
fn trusted(material: &Material, observed: &Observed<'_>) -> Vec<Certificate> {
    let mut trusted = material.former.clone();
    for block in observed.bundles.iter().flatten().flat_map(|bundle| blocks(bundle)) {
        // Clients trust nothing else than certificates.
        trusted.extend(Certificate::parse(&block).ok());
    }
    let mut unique: Vec<Certificate> = Vec::new();
    for certificate in trusted.into_iter().filter(|certificate| certificate.is_valid(observed.now)) {
        if unique.len() < MAX_FORMER && !unique.contains(&certificate) {
            unique.push(certificate);
        }
    }
    unique
}

/// Returns the time before a duration.
fn earlier(time: Timestamp, duration: Duration) -> Timestamp {
    time.saturating_sub(duration).unwrap_or(Timestamp::MIN)
}
