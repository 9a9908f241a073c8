//! A storage service outside of the cluster, which the operators of both libraries use.

use std::{
    collections::BTreeSet,
    io,
    sync::{Arc, Mutex, PoisonError},
};

/// A client of the service. Clones share its buckets.
#[derive(Clone, Debug, Default)]
pub struct Buckets(Arc<Mutex<BTreeSet<String>>>);

impl Buckets {
    /// Creates a bucket, unless it exists.
    ///
    /// # Errors
    /// Fails if the name is empty.
    pub async fn create(&self, name: &str) -> io::Result<()> {
        if name.is_empty() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        Ok(())
    }

    /// Deletes a bucket, if it exists.
    ///
    /// # Errors
    /// Fails if the name is empty.
    pub async fn delete(&self, name: &str) -> io::Result<()> {
        if name.is_empty() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        Ok(())
    }

    /// Returns whether a bucket exists.
    pub fn contains(&self, name: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
    }
}
