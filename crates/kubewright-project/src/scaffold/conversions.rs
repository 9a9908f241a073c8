//! The attributes of conversion on the types of a kind.

use super::{
    files::kind_path,
    model::{Model, Resource},
    plan::{Problems, Step},
    tree::Tree,
};

/// Adds `#[convert(..)]` to the types of the versions of a kind that have none. Returns the edits, and a note for each
/// type that the hub does not have, and for each version whose kind does not derive `ApiObject`.
pub(super) fn convert_types(
    tree: &Tree,
    model: &Model,
    versions: &[&Resource],
    hub: &Resource,
) -> Result<(Vec<Step>, Vec<String>), Problems> {
    let (mut steps, mut notes, mut problems) = (Vec::new(), Vec::new(), Problems::default());
    let hub_types = tree.require(&kind_path(model, hub), &mut problems).map(types).unwrap_or_default();
    let hub_names: Vec<&str> = hub_types.iter().map(|ty| ty.name).collect();
    for version in versions {
        let path = kind_path(model, version);
        let Some(source) = tree.require(&path, &mut problems) else { continue };
        let module = (version.version != hub.version).then(|| model.version_module(hub));
        let (found, other): (Vec<_>, Vec<_>) = types(source).into_iter().partition(|ty| hub_names.contains(&ty.name));
        let missing = other.iter().filter(|ty| ty.attribute.is_none());
        notes.extend(
            missing.map(|ty| {
                format!("{path}: add `#[convert(hub = ..)]` with the type of {} to {}", hub.version, ty.name)
            }),
        );
        // Such as a kind with single derives.
        if found.iter().chain(&other).all(|ty| ty.name != version.kind) {
            notes.push(format!("{path}: derive `Convert` on {} and its types, with `#[convert(..)]`", version.kind));
        }
        steps.extend(edit(path, source, &found, module.as_deref()));
    }
    problems.or((steps, notes))
}

/// Replaces the `#[convert(hub)]` of copied types by that of a version that is not the hub.
pub(super) fn convert_to_hub(source: &str, hub_module: &str) -> String {
    let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
    for ty in types(source) {
        if let Some(line) = ty.attribute.filter(|line| lines[*line] == attribute(None, ty.name)) {
            lines[line] = attribute(Some(hub_module), ty.name);
        }
    }
    lines.join("\n") + "\n"
}

/// Returns the attribute of a type: of the hub, or of another version with the module of the hub.
fn attribute(hub_module: Option<&str>, name: &str) -> String {
    match hub_module {
        None => "#[convert(hub)]".to_owned(),
        Some(module) => format!("#[convert(hub = crate::{module}::{name})]"),
    }
}

fn edit(path: String, source: &str, types: &[Type<'_>], hub_module: Option<&str>) -> Option<Step> {
    let missing: Vec<&Type<'_>> = types.iter().filter(|ty| ty.attribute.is_none()).collect();
    let first = missing.first()?;
    let names: Vec<&str> = missing.iter().map(|ty| ty.name).collect();
    let explanation = format!("`{}` and the like on {}", attribute(hub_module, first.name), names.join(", "));
    let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
    for ty in missing.iter().rev() {
        lines.insert(ty.line, attribute(hub_module, ty.name));
    }
    Some(Step::Edit { path, contents: lines.join("\n") + "\n", explanation })
}

/// A type with `ApiObject` or `ApiType` among its derives.
struct Type<'a> {
    /// The line of its declaration.
    line: usize,
    name: &'a str,
    /// The line of its `#[convert(..)]`.
    attribute: Option<usize>,
}

/// Finds the types of a formatted source: their attributes are on the lines above, without blank lines.
fn types(source: &str) -> Vec<Type<'_>> {
    let (mut found, mut is_derived, mut attribute) = (Vec::new(), false, None);
    for (line, text) in source.lines().enumerate() {
        let declaration = text.strip_prefix("pub struct ").or_else(|| text.strip_prefix("pub enum "));
        if let Some(rest) = declaration {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.extend(is_derived.then(|| Type { line, name: &rest[..end], attribute }));
        }
        match text {
            _ if declaration.is_some() || text.is_empty() => (is_derived, attribute) = (false, None),
            _ if text.starts_with("#[convert(") => attribute = Some(line),
            _ if text.trim_start().starts_with("//") => {}
            _ => is_derived |= text.contains("ApiObject") || text.contains("ApiType"),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
/// The kind, an ApiObject.
#[derive(
    Clone, ApiObject,
)]
pub struct Widget {
    pub spec: WidgetSpec,
}

#[derive(ApiType)]
#[convert(hub)]
pub enum Mode {
    A,
}

/// No ApiType.
#[derive(Clone)]
pub struct Other;
";

    #[test]
    fn types_are_found_by_their_derives() {
        let found: Vec<_> = types(SOURCE).into_iter().map(|ty| (ty.line, ty.name, ty.attribute)).collect();
        assert_eq!(found, [(4, "Widget", None), (10, "Mode", Some(9))]);
    }

    #[test]
    fn types_without_an_attribute_get_one() {
        let Some(Step::Edit { contents, explanation, .. }) =
            edit("widget.rs".to_owned(), SOURCE, &types(SOURCE), Some("apps_v2"))
        else {
            panic!("nothing is edited")
        };
        let added = "\n)]\n#[convert(hub = crate::apps_v2::Widget)]\npub struct Widget {";
        assert!(contents.contains(added), "{contents}");
        assert_eq!(contents.matches("#[convert(").count(), 2, "{contents}");
        assert_eq!(explanation, "`#[convert(hub = crate::apps_v2::Widget)]` and the like on Widget");
        assert!(edit("widget.rs".to_owned(), &contents, &types(&contents), Some("apps_v2")).is_none());
    }

    #[test]
    fn a_copy_of_the_hub_is_converted_to_it() {
        let copied = convert_to_hub(SOURCE, "apps_v2");
        assert!(copied.contains("#[convert(hub = crate::apps_v2::Mode)]\npub enum Mode"), "{copied}");
        assert_eq!(convert_to_hub(&copied, "apps_v3"), copied);
    }
}
