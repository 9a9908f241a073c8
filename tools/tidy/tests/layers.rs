//! Folders are layers: a module imports only from its own layer and from those below.

use tidy::{assert_none, modules};

/// A crate with the layers of its top-level modules, lowest first.
type Layers = (&'static str, &'static [&'static [&'static str]]);

const CRATES: [Layers; 1] = [(
    "logger-apiserver",
    &[
        &["api"],
        &["wire"],
        &["resource"],
        &["storage"],
        &["lifecycle"],
        &["handlers", "controllers"],
        &["response"],
        &["meta"],
        &["server"],
        &["testing"],
    ],
)];

#[test]
fn modules_import_only_from_below() {
    for (directory, layers) in CRATES {
        let rank = |module: &str| layers.iter().position(|layer| layer.contains(&module));
        let modules = modules::of_crate(directory);
        assert!(modules.len() > 20, "{directory} has {} modules", modules.len());
        let mut violations = Vec::new();
        for module in modules.iter().filter(|module| !module.path.is_empty()) {
            let own = &module.path[0];
            let Some(own_rank) = rank(own) else {
                violations.push(format!("{}: `{own}` is in no layer", module.file));
                continue;
            };
            for (path, line) in &module.references {
                let Some(target) = path.first().filter(|target| *target != own) else { continue };
                match rank(target) {
                    Some(rank) if rank < own_rank => {}
                    Some(_) => violations.push(format!("{}:{line}: `{own}` is not above `{target}`", module.file)),
                    None => violations.push(format!("{}:{line}: `crate::{target}` is in no layer", module.file)),
                }
            }
        }
        assert_none(&format!("violations of the layers of {directory}"), &violations);
    }
}

#[test]
fn every_layer_exists() {
    for (directory, layers) in CRATES {
        let modules = modules::of_crate(directory);
        for name in layers.iter().flat_map(|layer| layer.iter()) {
            assert!(modules.iter().any(|module| module.path == [*name]), "{directory} has no module `{name}`");
        }
    }
}
