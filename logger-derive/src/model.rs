//! What is declared, with its spans: the input of checks and emitters. A model can be invalid: parsing it reports errors
//! of syntax only.

mod kind;
mod list;
mod policy;
mod root;
mod verbs;

pub(crate) use kind::{Kind, release};
pub(crate) use list::List;
pub(crate) use policy::Policy;
pub(crate) use root::{Body, Root, RootField};
pub(crate) use verbs::{granted_verbs, method_verb};
