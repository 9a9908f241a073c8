//! Kinds, fields, group and plural with the names of keywords and of each other.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubewright_core::{ApplyConfiguration, CrdSchema, DeepCopy, Object, ObjectList};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, CrdSchema, Object)]
#[genclient]
#[k8s(plural = "type")]
pub struct Type {
    pub metadata: ObjectMeta,
    pub spec: TypeSpec,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, ObjectList)]
pub struct TypeList {
    pub metadata: ListMeta,
    pub items: Vec<Type>,
}

/// A case.
#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, CrdSchema, Object)]
#[genclient]
pub struct Match {
    pub metadata: ObjectMeta,
    pub spec: TypeSpec,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, ObjectList)]
pub struct MatchList {
    pub metadata: ListMeta,
    pub items: Vec<Match>,
}

/// A case.
#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, CrdSchema, Object)]
#[genclient]
#[k8s(plural = "super")]
pub struct Crate {
    pub metadata: ObjectMeta,
    pub spec: TypeSpec,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, ObjectList)]
pub struct CrateList {
    pub metadata: ListMeta,
    pub items: Vec<Crate>,
}

/// A case.
#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, CrdSchema, Object)]
#[genclient]
pub struct Client {
    pub metadata: ObjectMeta,
    pub spec: TypeSpec,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, ObjectList)]
pub struct ClientList {
    pub metadata: ListMeta,
    pub items: Vec<Client>,
}

#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct TypeSpec {
    pub r#type: Option<Async>,
    pub r#match: Option<String>,
    pub r#in: Option<i32>,
    #[serde(rename = "self")]
    pub this: Option<bool>,
    #[schema(immutable)]
    pub namespace: Option<String>,
}

#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub enum Async {
    #[serde(rename = "Self")]
    Itself,
    Await,
}

kubewright_core::group_version! { group = "type.reports.example", version = "v1alpha1", kinds = [Type, TypeList, Match, MatchList, Crate, CrateList, Client, ClientList] }
