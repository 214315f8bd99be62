//! Checks the symbols that the library exports; shared by the tests of each C library.

use crate::installed::{library, name, stdout, there_is};
use std::collections::BTreeSet;
use std::process::Command;

fn header() -> String {
    std::fs::read_to_string(library().path(&format!("include/{}.h", name()))).unwrap()
}

fn shared() -> std::path::PathBuf {
    library().path(&format!("lib/lib{}.so", name()))
}

fn declared() -> BTreeSet<String> {
    let header = header();
    let code = header.lines().filter(|line| !line.trim_start().starts_with(['*', '/', '#']));
    let code = code.filter(|line| !line.starts_with("typedef"));
    let name = |line: &str| Some(line.split_once('(')?.0.rsplit([' ', '*']).next()?.to_owned());
    code.filter_map(name).collect()
}

#[test]
fn library_exports_exactly_declared_functions() {
    if !there_is("nm") {
        return;
    }
    let mut nm = Command::new("nm");
    nm.args(["--dynamic", "--defined-only", "--format=posix"]).arg(shared());
    let shown = stdout(&mut nm);
    let shown: BTreeSet<String> =
        shown.lines().filter_map(|line| Some(line.split(' ').next()?.to_owned())).collect();
    assert_eq!(shown, declared());
    assert!(shown.len() > 20, "{shown:?}");
}

#[test]
fn soname_contains_interface_version() {
    if !there_is("readelf") {
        return;
    }
    let mut readelf = Command::new("readelf");
    let dynamic = stdout(readelf.arg("--dynamic").arg(shared()));
    let (interface, _) = env!("CARGO_PKG_VERSION").rsplit_once('.').unwrap();
    let soname = format!("[lib{}.so.{interface}]", name());
    assert!(dynamic.contains(&soname), "{dynamic}");
}

#[test]
fn every_function_is_documented() {
    let header = header();
    let lines: Vec<&str> = header.lines().collect();
    let bare = |at: &usize| {
        lines[*at].contains('(') && lines[*at].starts_with(|c: char| c.is_ascii_lowercase())
    };
    let silent: Vec<&str> = (0..lines.len())
        .filter(bare)
        .filter(|at| lines[at - 1] != " */")
        .map(|at| lines[at])
        .collect();
    assert!(silent.is_empty(), "{silent:?}");
}
