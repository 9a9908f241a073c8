//! A union.

use serde::Deserialize;

#[kubewright_core::defaults]
#[derive(Deserialize)]
pub union Spec {
    #[default(1)]
    pub size: i32,
}

fn main() {}
