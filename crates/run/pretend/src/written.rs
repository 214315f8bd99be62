//! A machine's files in a folder, for containers and tests without Seatmap.

use crate::tree::{CPUS, KIND_LISTS, NODES, TreeFile};
use crate::{HostFacts, MachineTree, PretendError, PretendedMachine};
use seatmap_data::words::joined;
use seatmap_os::Root;
use seatmap_os::visible::visible;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::{fs, io};

/// The devices that a pod sees: only those of the tree, with lists of core kinds among them.
const ALL_DEVICES: &str = "sys/devices";

/// Files that show the folder in containers, with words in braces that depend on the machine.
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
        let words = [
            ("{machine}", visible(&self.name)),
            ("{folder}", quotable(&place)),
            ("{devices}", tree.device_mounts()),
        ];
        for (name, template) in USES {
            let path = folder.join(name);
            let text = words
                .iter()
                .fold(template.to_owned(), |text, (mark, word)| text.replace(mark, word));
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

/// A path within YAML's double quotes.
fn quotable(path: &Path) -> String {
    visible(&path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\""))
}

impl MachineTree {
    /// The lines of a pod that mount the folders of devices.
    fn device_mounts(&self) -> String {
        let mut lists = KIND_LISTS.iter().map(|list| format!("{list}/cpus"));
        let has_lists = lists.any(|list| self.files.contains_key(&list));
        let folders: &[&str] = if has_lists { &[ALL_DEVICES] } else { &[CPUS, NODES] };
        let lines = folders.iter().map(|path| {
            format!(
                "        - {{name: machine, subPath: {path}, mountPath: /{path}, readOnly: true}}"
            )
        });
        joined(lines, "\n")
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::made::small;

    #[test]
    fn odd_names_stay_within_comments_and_quotes() {
        let machine = PretendedMachine { name: "a\nrm b".to_owned(), ..small() };
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join(r#"x "y\z"#);
        machine.write(&folder).unwrap();
        let [script, kind, pod] = ["mount.sh", "kind.yaml", "pod.yaml"]
            .map(|name| fs::read_to_string(folder.join(name)).unwrap());
        for text in [&script, &kind, &pod] {
            assert!(text.contains("a\\nrm b") && !text.contains("\nrm b"), "{text}");
        }
        assert!(kind.contains(r#"/x \"y\\z/proc/cpuinfo", containerPath"#), "{kind}");
        assert!(pod.contains("subPath: sys/devices/system/node, mountPath"), "{pod}");
        let info = fs::read_to_string(folder.join("proc/cpuinfo")).unwrap();
        assert!(!info.contains("\nrm b"), "{info}");
    }
}
