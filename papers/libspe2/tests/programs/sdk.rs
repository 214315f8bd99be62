//! A tree of Makefiles in the style of the Cell's SDK, built with the installed library.

use crate::tool::Tool;
use std::path::Path;
use std::process::Command;

pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            _ = std::fs::copy(entry.path(), target).unwrap()
        }
    }
}

fn make(tree: &Path, top: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("make");
    command
        .args(["-s", "--no-print-directory"])
        .args(arguments)
        .current_dir(tree)
        .env("CELL_TOP", top);
    // An outer make must have no effect, nor a compiler installed elsewhere.
    for name in ["MAKEFLAGS", "MAKELEVEL", "SEATMAP_CELLCC"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && words.is_empty(), "make {arguments:?}: {words}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn sdk_tree_builds_unchanged() {
    let Some(tool) = Tool::with_cplusplus() else { return };
    if !seatmap_needs::tool("make") {
        return;
    }
    let top = tool.install();
    let tree = tool.path("tree");
    copy(&tool.source("tests/sdk"), &tree);
    // Of a compiler whose headers are not here.
    let stale = tree.join("spu/add_up.d");
    std::fs::write(&stale, "add_up.o: add_up.c /usr/spu/include/none.h\n").unwrap();
    assert_eq!(make(&tree, &top, &["-j2", "run"]), "sum 405136, largest 99\n");
    std::fs::remove_file(stale).unwrap();
    // All folders notice a changed header.
    let header = std::fs::read_to_string(tree.join("statistics.h")).unwrap();
    std::fs::write(tree.join("statistics.h"), header.replace("2048", "1024")).unwrap();
    assert_eq!(make(&tree, &top, &["run"]), "sum 202560, largest 99\n");
    make(&tree, &top, &["install", &format!("DESTDIR={}", tool.path("installed").display())]);
    assert!(tool.path("installed/samples/statistics/statistics").exists());
    make(&tree, &top, &["clean"]);
    let left = Command::new("find")
        .arg(&tree)
        .args(["-name", "*.o", "-o", "-name", "*.a", "-o", "-name", "*.d"])
        .output();
    assert_eq!(String::from_utf8(left.unwrap().stdout).unwrap(), "");
}
