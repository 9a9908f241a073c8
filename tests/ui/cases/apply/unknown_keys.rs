//! Unknown keys.

use kubewright_core::ApplyConfiguration;

#[derive(ApplyConfiguration)]
#[apply(atomic)]
pub struct Spec {
    #[apply(atomc)]
    pub size: Option<i32>,
    #[apply(atomic = true)]
    pub width: Option<i32>,
    #[apply = "atomic"]
    pub height: Option<i32>,
}

fn main() {}
