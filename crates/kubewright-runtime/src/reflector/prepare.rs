//! Prepares received objects for the store: shard, managed fields, transform, and what is skipped.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{
    config::{Config, DecodeErrorPolicy},
    list_buffer::ListBuffer,
};
use crate::{
    decode::{DecodeError, SkippedObject},
    error::{SkippedObjects, UserCodePanicked, catch_panic},
    memory::{Origin, Stored},
    object::{ApiObject, ObjectKey, ResourceVersion},
};

impl SkippedObject {
    /// Returns the metadata by which objects are assigned to shards.
    pub(super) fn metadata(&self) -> ObjectMeta {
        let namespace = Some(self.key.namespace().to_owned()).filter(|namespace| !namespace.is_empty());
        ObjectMeta { namespace, uid: self.uid.clone(), ..ObjectMeta::default() }
    }

    /// Returns whether this UID is that of the same object, and not of one that was deleted and recreated.
    pub(super) fn is_same(&self, known: Option<&str>) -> bool {
        self.uid.is_none() || known.is_none() || self.uid.as_deref() == known
    }
}

/// An object for the store, or the reason why it is skipped.
pub(super) type Prepared<K> = Result<Stored<K>, Box<SkippedObject>>;

impl<K: ApiObject> Config<K> {
    pub(super) fn is_selected(&self, meta: &ObjectMeta) -> bool {
        self.shard.as_ref().is_none_or(|shard| shard.contains(meta))
    }

    /// Prepares an object, unless it is in another shard.
    pub(super) fn select(
        &self,
        object: K,
        prepare: impl FnOnce(&Self, K) -> Prepared<K>,
    ) -> Result<Option<Stored<K>>, Box<SkippedObject>> {
        self.is_selected(object.meta()).then(|| prepare(self, object)).transpose()
    }

    /// Prepares an object of a list with its text. If `can_reuse` is set, returns the known object if it has the same
    /// version.
    pub(super) fn prepare_listed(&self, object: K, text: Option<&[u8]>, can_reuse: bool) -> Prepared<K> {
        match can_reuse.then(|| self.reused(&object)).flatten() {
            Some(known) => Ok(known),
            None => self.prepare(object, Origin::Listed, text),
        }
    }

    /// Prepares an object that was created or changed.
    pub(super) fn prepare_changed(&self, object: K) -> Prepared<K> {
        self.prepare(object, Origin::Changed, None)
    }

    /// Prepares the final state of an object, which is not stored.
    pub(super) fn prepare_deleted(&self, object: K) -> Prepared<K> {
        Ok(Stored::Decoded(self.transformed(object)?.into()))
    }

    fn reused(&self, object: &K) -> Option<Stored<K>> {
        let (reuse, meta) = (self.reuse.as_ref()?, object.meta());
        let (name, version) = (meta.name.as_deref()?, meta.resource_version.as_deref()?);
        catch_panic(|| reuse(meta.namespace.as_deref().unwrap_or_default(), name, version)).ok()?
    }

    fn prepare(&self, object: K, origin: Origin, text: Option<&[u8]>) -> Prepared<K> {
        let text = text.filter(|_| self.transform.is_none());
        Ok(self.packer.pack(self.transformed(object)?, origin, text))
    }

    /// Drops the managed fields and applies the transform.
    fn transformed(&self, mut object: K) -> Result<K, Box<SkippedObject>> {
        if !self.keep_managed_fields {
            object.meta_mut().managed_fields = None;
        }
        let Some(transform) = &self.transform else { return Ok(object) };
        match catch_panic(|| transform(&mut object)) {
            Ok(()) => Ok(object),
            Err(panic) => {
                let key = ObjectKey::from_object(&object);
                let error = UserCodePanicked::new("the transform", Some(key.clone()), panic).into();
                let version = ResourceVersion::from_object(&object).unwrap_or_else(|| ResourceVersion::new(""));
                Err(Box::new(SkippedObject { key, uid: object.meta().uid.clone(), version, error }))
            }
        }
    }

    /// Skips an object of a list, whose last known state is retained.
    ///
    /// # Errors
    /// Fails if the policy is to fail.
    pub(super) fn skip_listed(
        &self,
        skipped: SkippedObject,
        buffer: &mut ListBuffer<K>,
        list_skipped: &SkippedObjects,
    ) -> Result<(), DecodeError> {
        if !self.is_selected(&skipped.metadata()) {
            return Ok(());
        }
        if self.decode_error_policy == DecodeErrorPolicy::Fail {
            return Err(skipped.error.into());
        }
        let known = self.last_known_state(&skipped.key).filter(|known| skipped.is_same(known.uid()));
        known.into_iter().for_each(|known| buffer.add_last_known(known));
        list_skipped.insert(skipped.key, skipped.error);
        Ok(())
    }

    pub(super) fn last_known_state(&self, key: &ObjectKey) -> Option<Stored<K>> {
        let last_known = self.last_known.as_ref()?;
        catch_panic(|| last_known(key)).ok()?
    }
}
