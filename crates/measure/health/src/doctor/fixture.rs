//! Files of a fictitious computer for tests.

use seatmap_os::Root;
use std::process::Command;

pub struct Fixture {
    folder: tempfile::TempDir,
    pub root: Root,
}

impl Fixture {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        let fixture = Fixture { folder, root };
        files.iter().for_each(|(path, text)| fixture.put(path, text));
        fixture
    }

    pub fn put(&self, path: &str, text: &str) {
        let path = self.root.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{text}\n")).unwrap();
    }

    pub fn execute(&self, command: &str) {
        let folder = self.folder.path().display().to_string();
        let here = command
            .replace(" /proc/", &format!(" {folder}/proc/"))
            .replace(" /sys/", &format!(" {folder}/sys/"));
        assert!(Command::new("sh").args(["-c", &here]).status().unwrap().success(), "{here}");
    }
}
