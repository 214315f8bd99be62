//! The fuzz targets, which no test builds: they have a workspace and a toolchain of their own.

use super::{assert_none, root, rust, texts};

const DEFINITIONS: [&str; 7] = ["fn", "struct", "enum", "trait", "type", "const", "mod"];

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn targets() -> Vec<(String, String)> {
    rust().into_iter().filter(|(name, _)| name.starts_with("fuzz/")).collect()
}

/// The items of the workspace's crates in a text, each after its crate.
fn items(text: &str) -> Vec<(String, String)> {
    let mut items = Vec::new();
    for after in text.split("seatmap_").skip(1) {
        let Some((of, rest)) = after.split_once("::") else { continue };
        let path = rest.split(|c: char| !is_of_name(c) && c != ':').next().unwrap_or_default();
        let listed = rest[path.len()..].strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let names = match listed {
            Some((names, _)) => names.split(',').map(str::trim).collect(),
            None => vec![path.rsplit("::").next().unwrap_or_default()],
        };
        let names = names.into_iter().filter(|name| !name.is_empty() && *name != "self");
        items.extend(names.map(|name| (of.replace('_', "-"), name.to_owned())));
    }
    items
}

/// Items of macros are known by their public names.
fn defines(text: &str, name: &str) -> bool {
    let mut exports = text.lines().filter(|line| line.starts_with("pub use "));
    let is_exported = exports.any(|line| line.split(|c| !is_of_name(c)).any(|word| word == name));
    is_exported
        || DEFINITIONS.iter().any(|definition| {
            let begun = format!("{definition} {name}");
            text.split(&begun).skip(1).any(|after| !after.starts_with(is_of_name))
        })
}

#[test]
fn fuzz_targets_are_built_and_described() {
    let [manifest, guide] = ["Cargo.toml", "README.md"]
        .map(|file| std::fs::read_to_string(root().join("fuzz").join(file)).unwrap());
    let targets = targets();
    let names: Vec<&str> = targets
        .iter()
        .filter_map(|(path, _)| path.strip_prefix("fuzz/fuzz_targets/")?.strip_suffix(".rs"))
        .filter(|name| !name.contains('/'))
        .collect();
    assert_eq!(manifest.matches("[[bin]]").count(), names.len(), "{names:?}");
    let missing: Vec<String> = names
        .iter()
        .filter(|name| {
            !manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\""))
                || !guide.contains(&format!("`{name}`"))
        })
        .map(ToString::to_string)
        .collect();
    assert_none("fuzz targets that fuzz/Cargo.toml or fuzz/README.md omits", &missing);
}

#[test]
fn fuzz_targets_use_existing_items() {
    let manifests = texts(&["Cargo.toml"]);
    let sources = rust();
    let mut unknown = Vec::new();
    let mut known = 0;
    for (file, text) in targets() {
        for (of, name) in items(&text) {
            let package = format!("name = \"seatmap-{of}\"");
            let folder = manifests.iter().find(|(_, text)| text.contains(&package));
            let folder = folder.map_or("", |(path, _)| path.trim_end_matches("Cargo.toml"));
            let mut own = sources.iter().filter(|(path, _)| path.starts_with(folder));
            if !folder.is_empty() && own.any(|(_, text)| defines(text, &name)) {
                known += 1;
            } else {
                unknown.push(format!("{file}: seatmap_{of}::...{name}"));
            }
        }
    }
    assert!(known > 20, "the fuzz targets are not where they were");
    assert_none("items that fuzz targets use, and that do not exist", &unknown);
}

#[test]
fn items_are_found_in_uses_and_paths() {
    let text = "use seatmap_data::plan::{self, Plan};\nlet a = seatmap_place_c::bench::page(&b);";
    let found = items(text);
    let wanted = [("data", "Plan"), ("place-c", "page")];
    assert_eq!(found, wanted.map(|(of, name)| (of.to_owned(), name.to_owned())));
    assert!(defines("pub struct Plan<T> {", "Plan") && !defines("struct Planned;", "Plan"));
}
