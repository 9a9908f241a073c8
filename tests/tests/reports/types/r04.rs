//! A recursive type without a list between its levels, in an apply configuration.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubewright_core::{ApplyConfiguration, CrdSchema, DeepCopy, Object, ObjectList};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, CrdSchema, Object)]
#[genclient]
pub struct Query {
    pub metadata: ObjectMeta,
    pub spec: QuerySpec,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, ObjectList)]
pub struct QueryList {
    pub metadata: ListMeta,
    pub items: Vec<Query>,
}

#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct QuerySpec {
    #[schema(depth = 3)]
    pub filter: Filter,
}

/// Either a term, or the negation or conjunction of filters.
#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct Filter {
    pub term: Option<String>,
    pub not: Option<Box<Filter>>,
    pub all: Option<Vec<Filter>>,
}

kubewright_core::group_version! { group = "r04.reports.example", version = "v1", kinds = [Query, QueryList] }
