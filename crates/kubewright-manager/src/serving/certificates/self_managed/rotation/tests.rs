//! The phases of the rotation one by one, and at random with stale replicas, lost Secrets and changed objects.

use std::collections::VecDeque;

use proptest::{prelude::*, test_runner::TestCaseResult};

use super::{
    super::{issue::Rcgen, material::Credentials},
    *,
};

const POLICY: Policy = Policy {
    leaf_lifetime: Duration::from_secs(600),
    authority_lifetime: Duration::from_secs(1800),
    publication_delay: Duration::from_secs(30),
    retention: Duration::from_secs(100),
};

fn time(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + seconds).unwrap()
}

fn names() -> [String; 1] {
    ["hooks.system.svc".to_owned()]
}

fn decide(material: &Material, bundles: &[Option<String>], seconds: i64, is_leader: bool) -> Decision {
    let observed = Observed { bundles, revocation: None, now: time(seconds), is_leader };
    Rotation { policy: POLICY, names: &names(), issuer: &Rcgen }.decide(material, &observed).unwrap()
}

fn stored(decision: Decision, expected: Reason) -> Material {
    match decision {
        Decision::Store(material, reason) if reason == expected => *material,
        decision => panic!("expected {expected:?}: {decision:?}"),
    }
}

/// Returns the first contents of the Secret, which all of two objects contain.
fn first() -> (Material, [Option<String>; 2]) {
    let material = stored(decide(&Material::default(), &[None, None], 0, true), Reason::FirstAuthority);
    let bundle = Some(material.bundle());
    (material, [bundle.clone(), bundle])
}

/// Returns whether clients with this bundle trust any certificate.
fn trusts_any(bundle: &str, now: Timestamp) -> bool {
    blocks(bundle).any(|block| Certificate::parse(&block).unwrap().is_valid(now))
}

fn is_issued_by(leaf: &Credentials, bundle: &str) -> bool {
    blocks(bundle).any(|block| Certificate::parse(&block).unwrap().subject == leaf.certificate.issuer)
}

#[test]
fn the_first_certificate_is_issued_at_once_by_any_replica() {
    let material = stored(decide(&Material::default(), &[None, None], 0, false), Reason::FirstAuthority);
    assert_eq!(decide(&material, &[None, None], 0, false), Decision::Publish(material.bundle()));
    let bundles = [Some(material.bundle()), Some(material.bundle())];
    assert_eq!(decide(&material, &bundles, 0, false), Decision::Wait(Timestamp::MAX));
    assert_eq!(decide(&material, &bundles, 0, true), Decision::Wait(time(400)));
}

#[test]
fn the_leader_renews_the_certificate_after_two_thirds_of_its_lifetime() {
    let (material, bundles) = first();
    assert_eq!(decide(&material, &bundles, 399, true), Decision::Wait(time(400)));
    assert_eq!(decide(&material, &bundles, 400, false), Decision::Wait(Timestamp::MAX));
    let renewed = stored(decide(&material, &bundles, 400, true), Reason::LeafDue);
    assert_eq!(renewed.authority, material.authority);
    assert_eq!(renewed.leaf.unwrap().certificate.not_after, time(1000));
}

#[test]
fn a_new_authority_is_trusted_before_it_signs() {
    let (material, bundles) = first();
    let old = bundles[0].clone();
    let renewed = stored(decide(&material, &bundles, 1200, true), Reason::InvalidLeaf);
    let prepared = stored(decide(&renewed, &bundles, 1200, true), Reason::AuthorityDue);
    assert_eq!(prepared.leaf, renewed.leaf);
    assert!(prepared.bundle().starts_with(old.as_deref().unwrap()));
    // All objects must contain it for the delay.
    let new = Some(prepared.bundle());
    for bundles in [[old.clone(), old.clone()], [new.clone(), old.clone()]] {
        assert_eq!(decide(&prepared, &bundles, 1210, true), Decision::Publish(prepared.bundle()));
    }
    let both = [new.clone(), new.clone()];
    let published = stored(decide(&prepared, &both, 1210, true), Reason::Published);
    assert_eq!(decide(&published, &both, 1239, true), Decision::Wait(time(1240)));
    let restarted = stored(decide(&published, &[new, old], 1240, true), Reason::Unpublished);
    assert_eq!(restarted, prepared);
    // It signs, and the former one remains trusted.
    let switched = stored(decide(&published, &both, 1240, true), Reason::Switched);
    assert_eq!(switched.former, [material.authority.unwrap().certificate]);
    let leaf = switched.leaf.clone().unwrap();
    assert!(is_issued_by(&leaf, both[0].as_deref().unwrap()));
    assert_eq!(switched.former_until, Some(time(1340)));
    // The order of the bundle has changed.
    assert_eq!(decide(&switched, &both, 1240, true), Decision::Publish(switched.bundle()));
    let bundles = [Some(switched.bundle()), Some(switched.bundle())];
    let dropped = stored(decide(&switched, &bundles, 1340, true), Reason::FormerDropped);
    assert_eq!((dropped.former.len(), dropped.former_until, &dropped.leaf), (0, None, &switched.leaf));
}

#[test]
fn a_certificate_with_other_names_is_replaced() {
    let (material, bundles) = first();
    let (other, observed) = (
        ["new.system.svc".to_owned()],
        Observed { bundles: &bundles, revocation: None, now: time(1), is_leader: false },
    );
    let rotation = Rotation { policy: POLICY, names: &other, issuer: &Rcgen };
    let replaced = stored(rotation.decide(&material, &observed).unwrap(), Reason::InvalidLeaf);
    assert_eq!(replaced.leaf.unwrap().certificate.names, other);
}

#[test]
fn a_revocation_distrusts_all_authorities_once() {
    let (material, bundles) = first();
    let names = names();
    let rotation = Rotation { policy: POLICY, names: &names, issuer: &Rcgen };
    let decide = |material: &Material, bundles: &[Option<String>], revocation| {
        let observed = Observed { bundles, revocation, now: time(1), is_leader: true };
        rotation.decide(material, &observed).unwrap()
    };
    let revoked = stored(decide(&material, &bundles, Some("1")), Reason::Revoked);
    assert!(revoked.former.is_empty() && !revoked.bundle().contains(&material.bundle()));
    assert!(is_issued_by(revoked.leaf.as_ref().unwrap(), &revoked.bundle()));
    assert_eq!(decide(&revoked, &bundles, Some("1")), Decision::Publish(revoked.bundle()), "nothing of the old bundle");
    let bundles = [Some(revoked.bundle()), Some(revoked.bundle())];
    assert!(matches!(decide(&revoked, &bundles, Some("1")), Decision::Wait(_)));
    assert!(matches!(decide(&revoked, &bundles, None), Decision::Wait(_)));
    stored(decide(&revoked, &bundles, Some("2")), Reason::Revoked);
}

#[test]
fn a_deleted_secret_is_replaced_without_distrust_of_certificates_in_use() {
    let (material, bundles) = first();
    let created = stored(decide(&Material::default(), &bundles, 10, false), Reason::LostAuthority);
    assert_eq!(created.leaf, None);
    assert!(is_issued_by(&material.leaf.unwrap(), &created.bundle()));
    let bundles = [Some(created.bundle()), Some(created.bundle())];
    let published = stored(decide(&created, &bundles, 10, false), Reason::Published);
    let switched = stored(decide(&published, &bundles, 40, false), Reason::Switched);
    assert_eq!(switched.former, created.former);
}

#[test]
fn an_expired_authority_is_replaced_at_once() {
    let (material, bundles) = first();
    let created = stored(decide(&material, &bundles, 1800, false), Reason::FirstAuthority);
    assert!(created.former.is_empty());
}

#[test]
fn near_the_end_of_the_authority_certificates_are_not_renewed_in_a_loop() {
    let (material, _) = first();
    let (mut material, mut stores) = (material, 0);
    // No object ever contains the next authority.
    for seconds in 0..1790 {
        while let Decision::Store(new, _) = decide(&material, &[None], seconds, true) {
            (material, stores) = (*new, stores + 1);
            assert!(stores < 10, "at {seconds} s");
        }
    }
}

#[test]
fn invalid_names_are_errors() {
    let (names, observed) =
        (["ä".to_owned()], Observed { bundles: &[], revocation: None, now: time(0), is_leader: true });
    let rotation = Rotation { policy: POLICY, names: &names, issuer: &Rcgen };
    assert!(rotation.decide(&Material::default(), &observed).is_err());
}

/// How long the API server can use a bundle that was replaced.
const LAG: i64 = 10;
const REPLICAS: usize = 3;
const OBJECTS: usize = 2;

#[derive(Clone, Debug)]
enum Action {
    /// Time passes. Replicas receive the Secret.
    Tick(i64),
    /// A replica receives the Secret.
    Sync(usize),
    /// A replica acts, and can write the bundle to these objects only.
    Act(usize, [bool; OBJECTS]),
    Elect(usize),
    /// A replica loses its memory.
    Restart(usize),
    DeleteSecret,
    LoseLeaf,
    LoseAuthorityKey,
    /// Another client removes the bundle of an object.
    Wipe(usize),
}

fn action() -> impl Strategy<Value = Action> {
    let replica = 0..REPLICAS;
    prop_oneof![
        4 => (1..60_i64).prop_map(Action::Tick),
        1 => (200..400_i64).prop_map(Action::Tick),
        2 => replica.clone().prop_map(Action::Sync),
        8 => (replica.clone(), any::<[bool; OBJECTS]>()).prop_map(|(replica, objects)| Action::Act(replica, objects)),
        1 => replica.clone().prop_map(Action::Elect),
        1 => replica.prop_map(Action::Restart),
        1 => prop_oneof![
            Just(Action::DeleteSecret),
            Just(Action::LoseLeaf),
            Just(Action::LoseAuthorityKey),
            (0..OBJECTS).prop_map(Action::Wipe),
        ],
    ]
}

#[derive(Clone, Default)]
struct Replica {
    /// The version and the contents of the Secret, as last received.
    seen: (u64, Option<Material>),
    leaf: Option<Credentials>,
}

#[derive(Default)]
struct World {
    now: i64,
    secret: (u64, Option<Material>),
    objects: [Option<String>; OBJECTS],
    /// The bundles of the last seconds, with the time of their end.
    replaced: [VecDeque<(i64, Option<String>)>; OBJECTS],
    replicas: [Replica; REPLICAS],
    leader: usize,
}

impl World {
    fn run(&mut self, action: &Action) {
        match action {
            Action::Tick(seconds) => {
                (0..REPLICAS).for_each(|replica| self.sync(replica));
                self.now += seconds;
            }
            Action::Sync(replica) => self.sync(*replica),
            Action::Act(replica, objects) => self.act(*replica, *objects),
            Action::Elect(replica) => self.leader = *replica,
            Action::Restart(replica) => {
                self.replicas[*replica] = Replica::default();
                self.sync(*replica);
            }
            Action::DeleteSecret => self.secret = (self.secret.0 + 1, None),
            Action::LoseLeaf => self.edit(|material| material.leaf = None),
            Action::LoseAuthorityKey => {
                self.edit(|material| material.former.extend(material.authority.take().map(|lost| lost.certificate)));
            }
            Action::Wipe(object) => self.publish(*object, None),
        }
    }

    fn edit(&mut self, change: impl FnOnce(&mut Material)) {
        if let Some(material) = &mut self.secret.1 {
            change(material);
            self.secret.0 += 1;
        }
    }

    fn sync(&mut self, replica: usize) {
        let replica = &mut self.replicas[replica];
        replica.seen = self.secret.clone();
        if let Some(leaf) = self.secret.1.as_ref().and_then(|material| material.leaf.clone()) {
            replica.leaf = Some(leaf);
        }
    }

    fn act(&mut self, replica: usize, objects: [bool; OBJECTS]) {
        let (version, seen) = self.replicas[replica].seen.clone();
        match decide(&seen.unwrap_or_default(), &self.objects, self.now, replica == self.leader) {
            Decision::Store(material, reason) if version == self.secret.0 => {
                let (parsed, problems) = Material::parse(&material.data());
                assert_eq!((&parsed, problems.len()), (&*material, 0));
                self.secret = (version + 1, Some(parsed));
                if reason == Reason::FirstAuthority {
                    // Neither the Secret nor an object records a trusted authority. The bundles that the API server can
                    // still use are not known to any process, and it soon trusts no certificate anyway.
                    self.replaced = Default::default();
                    (0..REPLICAS).for_each(|replica| self.sync(replica));
                }
            }
            Decision::Publish(bundle) => {
                for object in (0..OBJECTS).filter(|object| objects[*object]) {
                    self.publish(object, Some(bundle.clone()));
                }
            }
            Decision::Store(..) | Decision::Wait(_) => {}
        }
    }

    fn publish(&mut self, object: usize, bundle: Option<String>) {
        let old = std::mem::replace(&mut self.objects[object], bundle);
        self.replaced[object].push_back((self.now, old));
    }

    /// Checks that every certificate in use is trusted by every bundle that the API server can use. A bundle whose
    /// authorities have all expired is of no use: no process rotated in all that time.
    fn check(&mut self) -> TestCaseResult {
        for (object, replaced) in self.objects.iter().zip(&mut self.replaced) {
            replaced.retain(|(end, _)| self.now - end <= LAG);
            let bundles = replaced.iter().filter_map(|(_, bundle)| bundle.as_ref()).chain(object);
            for bundle in bundles.filter(|bundle| trusts_any(bundle, time(self.now))) {
                for leaf in self.replicas.iter().filter_map(|replica| replica.leaf.as_ref()) {
                    let is_trusted = !leaf.certificate.is_valid(time(self.now)) || is_issued_by(leaf, bundle);
                    prop_assert!(is_trusted, "at {} s: {} is not in {bundle}", self.now, leaf.certificate.issuer);
                }
            }
        }
        Ok(())
    }

    /// Lets the leader act until nothing is to be done.
    fn settle(&mut self) -> TestCaseResult {
        for _ in 0..200 {
            for _ in 0..6 {
                self.run(&Action::Sync(self.leader));
                self.act(self.leader, [true; OBJECTS]);
                self.check()?;
            }
            self.run(&Action::Tick(5));
            let material = self.secret.1.clone().unwrap_or_default();
            let is_settled = material.next.is_none() && material.former.is_empty() && material.leaf.is_some();
            if is_settled && self.objects.iter().all(|bundle| *bundle == Some(material.bundle())) {
                return Ok(());
            }
        }
        Err(TestCaseError::fail("the rotation does not end"))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn certificates_in_use_are_trusted_whatever_happens(actions in proptest::collection::vec(action(), 1..80)) {
        let mut world = World::default();
        for action in actions {
            world.run(&action);
            world.check()?;
        }
        world.settle()?;
    }
}
