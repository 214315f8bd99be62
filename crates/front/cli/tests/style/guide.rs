//! Checks every link of the guide's pages as mdbook builds them, if it is installed.

use super::root;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn is_installed(program: &str) -> bool {
    let mut probe = Command::new(program);
    probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

fn guide(verb: &str, folder: &Path) -> Output {
    Command::new(root().join("scripts/guide")).arg(verb).arg(folder).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

#[test]
fn site_has_no_dead_link() {
    if !is_installed("mdbook") || !is_installed("python3") {
        return seatmap_needs::skipped!("mdbook or python3 is not installed");
    }
    let place = tempfile::tempdir().unwrap();
    let site = place.path().join("site");
    let built = guide("build", &site);
    assert!(built.status.success(), "{}", said(&built));
    let checked = guide("check", &site);
    assert!(checked.status.success(), "{}", said(&checked));
}

#[test]
fn dead_link_of_site_is_found() {
    if !is_installed("python3") {
        return seatmap_needs::skipped!("python3 is not installed");
    }
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).unwrap();
    write("a.html", "<h1 id=top>A</h1><a href=b.html#here>b</a><a href=#top>up</a>");
    write("b.html", "<p id=here>B</p>");
    assert!(guide("check", place.path()).status.success());
    write("b.html", "<p>B</p><img src=none.svg>");
    let checked = guide("check", place.path());
    assert_eq!(checked.status.code(), Some(1));
    let said = said(&checked);
    assert!(said.contains("a.html: b.html#here") && said.contains("b.html: none.svg"), "{said}");
}
