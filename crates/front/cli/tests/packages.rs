//! The product as packages for a registry: all crates can be packed, and the library does not
//! depend on the command line.
//!
//! Builds and uploads nothing.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

fn cargo(arguments: &[&str]) -> Output {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(arguments)
        .arg("--offline")
        .current_dir(repository())
        .output()
        .unwrap()
}

/// Whether cargo has all dependencies offline. A plain copy of the sources may lack them.
fn knows_dependencies() -> bool {
    let knows = cargo(&["metadata", "--locked", "--format-version", "1"]).status.success();
    if !knows {
        seatmap_needs::skipped!("cargo has not downloaded the dependencies of the workspace");
    }
    knows
}

#[test]
fn product_packages_can_be_packed() {
    if !knows_dependencies() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().to_str().unwrap();
    // The default members of the workspace are the product.
    let packed =
        cargo(&["package", "--quiet", "--no-verify", "--allow-dirty", "--target-dir", target]);
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    let packages = std::fs::read_dir(folder.path().join("package")).unwrap();
    let names: Vec<String> = packages
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".crate"))
        .collect();
    let facade = format!("seatmap-{}.crate", env!("CARGO_PKG_VERSION"));
    assert!(names.contains(&facade) && names.len() > 30, "{names:?}");
}

#[test]
fn library_needs_no_command_line_crates() {
    if !knows_dependencies() {
        return;
    }
    let tree = |features: &[&str]| {
        let words = ["tree", "--package", "seatmap", "--edges", "normal", "--prefix", "none"];
        String::from_utf8(cargo(&[&words, features].concat()).stdout).unwrap()
    };
    let library = tree(&["--no-default-features"]);
    assert!(library.contains("seatmap-place v"), "{library}");
    for unwanted in ["clap v", "ratatui v", "seatmap-console v", "indicatif v"] {
        assert!(!library.contains(unwanted), "the library has {unwanted}");
        assert!(tree(&[]).contains(unwanted), "the command has no {unwanted}: does this test see?");
    }
}

fn included(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    ["include_str!(\"", "include_bytes!(\""]
        .iter()
        .flat_map(|start| code.split(start).skip(1))
        .filter_map(|rest| rest.split('"').next())
        .collect()
}

/// The path without `..`. Links count as their targets, which cargo packs.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path.ends_with("tests") || path.ends_with("tests.rs");
        if path.is_dir() && !is_test {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
            found.push(path);
        }
    }
}

/// An included file outside the package is missing if the package is built alone.
#[test]
fn packages_include_only_own_files() {
    let mut count = 0;
    for floor in std::fs::read_dir(repository().join("crates")).unwrap() {
        for package in std::fs::read_dir(floor.unwrap().path()).unwrap() {
            let package = package.unwrap().path();
            let mut files = Vec::new();
            sources(&package.join("src"), &mut files);
            for file in files {
                let text = std::fs::read_to_string(&file).unwrap();
                for path in included(&text) {
                    let target = plain(&file.parent().unwrap().join(path));
                    assert!(target.starts_with(&package), "{} includes {path}", file.display());
                    count += 1;
                }
            }
        }
    }
    assert!(count > 10, "{count} files are included");
}
