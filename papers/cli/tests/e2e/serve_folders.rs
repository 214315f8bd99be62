//! Attacks on the folders that a controller uses as root.

use crate::common::{Arguments, Place};
use crate::real_cells::stderr;
use crate::serve::controller;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;

/// Time limit, if a controller starts although it should not.
const PATIENCE_S: u32 = 120;

fn told(place: &Place, arguments: impl Arguments, code: i32) -> String {
    let mut command = controller(place, arguments);
    let end_at_last = || {
        // SAFETY: the call is async-signal-safe and concerns this process alone.
        unsafe { libc::alarm(PATIENCE_S) };
        Ok(())
    };
    // SAFETY: as above.
    unsafe { command.pre_exec(end_at_last) };
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    stderr(&output)
}

fn folder(place: &Place, name: &str, mode: u32) {
    fs::create_dir(place.path(name)).unwrap();
    fs::set_permissions(place.path(name), Permissions::from_mode(mode)).unwrap();
}

#[test]
fn links_in_state_folder_are_not_followed() {
    for (name, code) in [("controller.lock", 1), ("controller.sock", 2)] {
        let place = Place::new();
        place.file("victim", "precious");
        folder(&place, "run", 0o700);
        let link = place.path("run").join(name);
        symlink(place.path("victim"), &link).unwrap();
        let told = told(&place, "serve", code);
        assert!(told.contains(name), "{name}: {told}");
        assert_eq!(place.read("victim"), "precious", "{name}");
        assert!(fs::symlink_metadata(link).unwrap().is_symlink(), "{name}");
    }
}

#[test]
fn socket_in_writable_folder_is_refused() {
    let place = Place::new();
    folder(&place, "open", 0o777);
    let told = told(&place, "serve --socket open/s", 2);
    assert!(told.contains("other users can write"), "{told}");
    assert!(!place.path("open/s").exists());
}

#[test]
fn replaceable_folder_is_not_exported() {
    let place = Place::new();
    folder(&place, "open", 0o777);
    folder(&place, "open/shown", 0o700);
    symlink(Path::new("/"), place.path("link")).unwrap();
    for (folder, why) in
        [("open/shown", "other users can write"), ("link", "is a symbolic link or a file")]
    {
        let told = told(&place, ["serve", "--socket", "s", "--export", folder], 2);
        assert!(told.contains("cannot be exported to programs") && told.contains(why), "{told}");
    }
}
