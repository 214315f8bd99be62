//! Attacks on the folder of cells, whose files Seatmap obeys as root.

use crate::common::{Arguments, Place};
use crate::real_cells::{is_root, seatmap, stderr};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

const NOBODY: u32 = 65_534;

/// A run folder with a journal that would make Seatmap write into `victim`.
fn planted(place: &Place) {
    place.file("victim", "precious");
    let run = place.path("run");
    fs::create_dir(&run).unwrap();
    fs::set_permissions(&run, Permissions::from_mode(0o700)).unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let boot = boot.trim();
    let victim = place.path("victim");
    let lines = [
        serde_json::json!({"boot_id": boot, "entry": "begin", "format": "seatmap-cell-journal/1", "cell": "x",
            "cpus": "1", "serial": 1}),
        serde_json::json!({"boot_id": boot, "entry": "change", "what": "value", "path": victim,
            "old": "* * * * * root sh", "new": "precious"}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let journal = place.path("run/x.journal");
    fs::write(&journal, text).unwrap();
    fs::set_permissions(&journal, Permissions::from_mode(0o600)).unwrap();
}

fn told(place: &Place, arguments: impl Arguments, code: i32) -> String {
    let output = seatmap(place, arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    stderr(&output)
}

#[test]
fn planted_journal_writes_only_settings() {
    let place = Place::new();
    planted(&place);
    let told = told(&place, "cell list", 0);
    let victim = place.path("victim");
    assert!(
        told.contains(&format!("{} is not restored: a cell never makes", victim.display())),
        "{told}"
    );
    assert_eq!(place.read("victim"), "precious");
    assert!(!place.path("run/x.journal").exists());
}

#[test]
fn foreign_state_folder_is_refused() {
    if !is_root() {
        return seatmap_needs::skipped!("only root gives folders to another user");
    }
    let place = Place::new();
    planted(&place);
    std::os::unix::fs::chown(place.path("run"), Some(NOBODY), Some(NOBODY)).unwrap();
    for arguments in ["cell list", "cell restore", "guardian cell x"] {
        assert!(told(&place, arguments, 1).contains("belongs to user 65534"), "{arguments}");
    }
    assert_eq!(place.read("victim"), "precious");
    assert!(place.path("run/x.journal").exists(), "nothing in it is touched");
}

#[test]
fn writable_or_linked_state_folder_is_refused() {
    let place = Place::new();
    planted(&place);
    let mode = |mode| fs::set_permissions(place.path("run"), Permissions::from_mode(mode)).unwrap();
    mode(0o770);
    assert!(told(&place, "cell list", 1).contains("run 'chmod go-w "));
    mode(0o700);
    fs::rename(place.path("run"), place.path("real")).unwrap();
    symlink(place.path("real"), place.path("run")).unwrap();
    assert!(
        told(&place, "cell list", 1).contains("is a symbolic link or a file; name a real folder")
    );
    assert_eq!(place.read("victim"), "precious");
}

#[test]
fn links_in_state_folder_are_not_followed() {
    let link = |place: &Place, name: &str| {
        fs::remove_file(place.path("run/x.journal")).unwrap();
        symlink(place.path("victim"), place.path("run").join(name)).unwrap();
    };
    let verbs =
        [("lock", "cell list"), ("x.journal", "cell list"), ("x.guardian", "guardian cell x")];
    for (name, arguments) in verbs {
        let place = Place::new();
        planted(&place);
        link(&place, name);
        let told = told(&place, arguments, 1);
        assert!(told.contains(name), "{name}: {told}");
        assert_eq!(place.read("victim"), "precious", "{name}");
        assert!(fs::symlink_metadata(place.path("run").join(name)).unwrap().is_symlink(), "{name}");
    }
}
