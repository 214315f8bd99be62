//! The drop-in files that systemd writes for properties of units; an undo removes them.
//!
//! `systemctl set-property` writes a drop-in even to restore an old value (`unit_write_setting` in
//! src/core/unit.c), which overrides later edits of the unit. So the journal has a line for each
//! new drop-in.

use seatmap_os::Root;
use seatmap_os::root::FileError;
use std::io;

/// `drop-in:NAME:PROPERTY`, or `kept-drop-in:NAME:PROPERTY` if it survives a reboot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropIn<'a> {
    /// The full name of the unit.
    pub name: &'a str,
    /// The property.
    pub property: &'a str,
    /// Whether it survives a reboot.
    pub is_kept: bool,
}

impl<'a> DropIn<'a> {
    pub fn of(path: &'a str) -> Option<Self> {
        let (kind, rest) = path.split_once(':')?;
        let (name, property) = rest.split_once(':')?;
        let is_kept = kind == "kept-drop-in";
        (is_kept || kind == "drop-in").then_some(DropIn { name, property, is_kept })
    }

    pub fn path(&self) -> String {
        let kind = if self.is_kept { "kept-drop-in" } else { "drop-in" };
        format!("{kind}:{}:{}", self.name, self.property)
    }

    /// The innermost first.
    fn folders(&self) -> [String; 2] {
        let above = if self.is_kept { "/etc" } else { "/run" };
        let above = format!("{above}/systemd/system.control");
        [format!("{above}/{}.d", self.name), above]
    }

    fn file(&self) -> String {
        format!("{}/50-{}.conf", self.folders()[0], self.property)
    }

    pub fn is_there(&self, root: &Root) -> bool {
        root.has(&self.file())
    }

    /// Removes it, and empty folders.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn remove(&self, root: &Root) -> Result<(), FileError> {
        match std::fs::remove_file(root.path(&self.file())) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(FileError { path: self.file(), source });
            }
            _ => {}
        }
        for folder in self.folders() {
            // Folders with other files remain.
            let _ = std::fs::remove_dir(root.path(&folder));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drop_in_removal_deletes_only_empty_folders() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        let cpus = DropIn::of("drop-in:redis.service:AllowedCPUs").unwrap();
        let nodes = DropIn { property: "AllowedMemoryNodes", ..cpus };
        for one in [cpus, nodes] {
            assert_eq!(DropIn::of(&one.path()), Some(one));
            seatmap_needs::plant(folder.path(), &[(&one.file(), "[Service]\n")]);
        }
        let file = "/run/systemd/system.control/redis.service.d/50-AllowedCPUs.conf";
        assert!(root.has(file) && cpus.is_there(&root));
        cpus.remove(&root).unwrap();
        assert!(!cpus.is_there(&root) && nodes.is_there(&root));
        nodes.remove(&root).unwrap();
        nodes.remove(&root).unwrap();
        assert!(root.has("/run/systemd") && !root.has("/run/systemd/system.control"));
        let kept = DropIn::of("kept-drop-in:redis.service:AllowedCPUs").unwrap();
        assert!(kept.file().starts_with("/etc/systemd/system.control/redis.service.d/"));
        assert_eq!(DropIn::of("unit:redis.service:AllowedCPUs"), None);
    }
}
