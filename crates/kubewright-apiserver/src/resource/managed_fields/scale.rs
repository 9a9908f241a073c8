//! Converts the ownership of replicas between an object and its Scale.

use std::{collections::BTreeMap, sync::LazyLock};

use serde_json::json;

use super::{
    managers::{Manager, Managers, Owned},
    path::{Path, fields},
    set::FieldSet,
    types::{Type, embedded},
};

pub(crate) const API_VERSION: &str = "autoscaling/v1";

/// The path of the replicas by version; `None` for versions without a scale subresource.
pub(crate) type ReplicaPaths = BTreeMap<String, Option<Path>>;

/// The type of a Scale.
pub(super) static TYPES: LazyLock<BTreeMap<String, Type>> = LazyLock::new(|| {
    let replicas = json!({ "type": "integer" });
    let scale = embedded(json!({
        "type": "object",
        "properties": {
            "spec": { "type": "object", "properties": { "replicas": replicas } },
            "status": { "type": "object", "properties": { "replicas": replicas, "selector": { "type": "string" } } },
        },
    }));
    [(API_VERSION.to_owned(), scale)].into()
});

fn replicas() -> Path {
    fields(&["spec", "replicas"])
}

/// Converts the managers of an object to those of its Scale.
pub(crate) fn to_scale(parent: &Managers, paths: &ReplicaPaths) -> Managers {
    let owner = |(manager, owned): (&Manager, &Owned)| {
        let path = paths.get(&owned.api_version)?.as_ref()?;
        let set = owned.set.contains(path).then(|| FieldSet::from_paths([replicas()]))?;
        let manager = Manager::new(&manager.name, manager.operation, API_VERSION, &manager.subresource);
        Some((manager, Owned { set, api_version: API_VERSION.to_owned(), time: owned.time.clone() }))
    };
    parent.iter().filter_map(owner).collect()
}

/// Returns the managers of an object after a write of its Scale. As on the real server, a new manager has no time.
pub(crate) fn to_parent(parent: &Managers, mut scale: Managers, paths: &ReplicaPaths, api_version: &str) -> Managers {
    let mut managers = Managers::new();
    for (manager, owned) in parent {
        let Some(path) = paths.get(&owned.api_version) else {
            continue;
        };
        let mut owned = owned.clone();
        if let Some(path) = path.as_ref().filter(|path| owned.set.contains(path))
            && scale.remove(manager).is_none()
        {
            owned.set = owned.set.difference(&FieldSet::from_paths([path.clone()]));
        }
        if !owned.set.is_empty() {
            managers.insert(manager.clone(), owned);
        }
    }
    let path = paths.get(api_version).cloned().flatten().unwrap_or_default();
    for (manager, _) in scale.into_iter().filter(|(_, owned)| owned.set.contains(&replicas())) {
        let time = parent.get(&manager).and_then(|owned| owned.time.clone());
        let set = FieldSet::from_paths([path.clone()]);
        managers.insert(manager, Owned { set, api_version: api_version.to_owned(), time });
    }
    managers
}

#[cfg(test)]
mod tests {
    use super::{super::managers::Operation, *};

    const VERSION: &str = "example.com/v1";

    fn owned(paths: &[&[&str]]) -> Owned {
        let set = FieldSet::from_paths(paths.iter().map(|path| fields(path)));
        Owned { set, api_version: VERSION.into(), time: None }
    }

    #[test]
    fn replicas_that_are_lost_in_the_scale_are_lost_in_the_object() {
        let paths: ReplicaPaths = [(VERSION.to_owned(), Some(fields(&["spec", "seats"])))].into();
        let maker = Manager::new("maker", Operation::Update, VERSION, "");
        let parent: Managers = [(maker.clone(), owned(&[&["spec", "seats"], &["spec", "name"]]))].into();
        let mut scale = to_scale(&parent, &paths);
        assert_eq!(scale.values().map(|owned| owned.set.paths()).collect::<Vec<_>>(), [[replicas()]]);
        scale.clear();
        let scaler = Manager::new("scaler", Operation::Update, API_VERSION, "scale");
        scale.insert(scaler.clone(), Owned { set: FieldSet::from_paths([replicas()]), ..owned(&[]) });
        let after = to_parent(&parent, scale, &paths, VERSION);
        assert_eq!(after, [(maker, owned(&[&["spec", "name"]])), (scaler, owned(&[&["spec", "seats"]]))].into());
    }
}
