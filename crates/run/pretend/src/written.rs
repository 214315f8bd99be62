//! A machine's files in a folder, for containers and tests without Seatmap.

use crate::tree::TreeFile;
use crate::{HostFacts, MachineTree, PretendError, PretendedMachine};
use seatmap_os::Root;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::{fs, io};

/// Files that show the folder in containers, with the machine's name and the folder in braces.
const USES: [(&str, &str); 3] = [
    ("mount.sh", include_str!("written/mount.sh")),
    ("kind.yaml", include_str!("written/kind.yaml")),
    ("pod.yaml", include_str!("written/pod.yaml")),
];

impl PretendedMachine {
    /// Writes the machine's files to a new folder, with a script that mounts them in a container
    /// and configurations for Kubernetes.
    ///
    /// # Errors
    /// [`PretendError::Written`], also if the folder exists.
    pub fn write(&self, folder: &Path) -> Result<(), PretendError> {
        fs::create_dir(folder).map_err(failed(folder))?;
        let tree = MachineTree::of(self, &HostFacts::read(&Root::new("/")));
        tree.write(folder).map_err(failed(folder))?;
        let place = folder.canonicalize().map_err(failed(folder))?;
        for (name, text) in USES {
            let path = folder.join(name);
            let text = text.replace("{machine}", &self.name);
            let text = text.replace("{folder}", &place.to_string_lossy());
            fs::write(&path, text).map_err(failed(&path))?;
        }
        let script = folder.join("mount.sh");
        fs::set_permissions(&script, Permissions::from_mode(0o755)).map_err(failed(&script))
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> PretendError {
    let path = path.to_owned();
    |source| PretendError::Written { path, source }
}

impl MachineTree {
    /// Writes the files below an existing folder.
    ///
    /// # Errors
    /// The kernel's.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        for (path, file) in &self.files {
            let path = folder.join(path);
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            match file {
                TreeFile::Text(text) => fs::write(path, text)?,
                TreeFile::Link(target) => symlink(target, path)?,
            }
        }
        Ok(())
    }
}
