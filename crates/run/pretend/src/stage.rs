//! The steps that show a machine's files to a program.

use crate::MachineTree;
use crate::tree::{
    CONTROLLERS, CPU_DEVICES, CPUINFO, CPUS, GROUPS, KIND_LISTS, NODE_DEVICES, NODES, STAT,
    TreeFile,
};
use seatmap_os::Root;
use seatmap_os::private_files::{FileStep, PrivateFiles, PrivateFilesPart};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::ffi::CString;

/// This folder is replaced if a kernel without NUMA has no folder of nodes to mount on.
const SYSTEM: &str = "sys/devices/system";
const DEVICES: &str = "sys/devices";

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StageFailure {
    UserNamespace = b'U' as isize,
    Mounts = b'M' as isize,
    Listener = b'L' as isize,
}

impl From<PrivateFilesPart> for StageFailure {
    fn from(part: PrivateFilesPart) -> Self {
        match part {
            PrivateFilesPart::Namespaces => StageFailure::UserNamespace,
            PrivateFilesPart::Mounts => StageFailure::Mounts,
        }
    }
}

impl StageFailure {
    /// The byte with which a new process reports it.
    pub fn letter(self) -> u8 {
        self as u8
    }

    pub fn of_letter(letter: u8) -> Option<Self> {
        [StageFailure::UserNamespace, StageFailure::Mounts, StageFailure::Listener]
            .into_iter()
            .find(|failure| failure.letter() == letter)
    }
}

pub fn files(tree: &MachineTree, root: &Root) -> PrivateFiles {
    let system: &[&str] = if root.has(NODES) { &[CPUS, NODES] } else { &[SYSTEM] };
    let others = [CPU_DEVICES, NODE_DEVICES, GROUPS].into_iter().filter(|folder| root.has(folder));
    let covered: Vec<&str> = system.iter().copied().chain(others).collect();
    let mut steps = Vec::new();
    for cover in &covered {
        cover_with(cover, tree, &mut steps);
    }
    for path in [CPUINFO, STAT, CONTROLLERS] {
        if let Some(TreeFile::Text(text)) = tree.files.get(path).filter(|_| root.has(path)) {
            let name = path.replace('/', ".");
            let written = whole(&format!("{CPUS}/.{name}"));
            steps.push(FileStep::File(written.clone(), text.clone().into_bytes()));
            steps.push(FileStep::Bind(written.clone(), whole(path)));
            steps.push(FileStep::Remove(written));
        }
    }
    steps.extend(covered.iter().map(|folder| FileStep::Seal(whole(folder))));
    // Last, because the folders below are shown again with their covers.
    steps.extend(kind_lists(tree, root));
    PrivateFiles::new(steps).in_container()
}

/// Covers a folder with its files of the tree. Their paths begin within the cover, because those
/// through the kernel's own folders take twice the time.
fn cover_with(cover: &str, tree: &MachineTree, steps: &mut Vec<FileStep>) {
    steps.extend([FileStep::Cover(whole(cover)), FileStep::Enter(whole(cover))]);
    let mut made: BTreeSet<&str> = BTreeSet::new();
    // A second name takes less time than another file with the same text.
    let mut written: HashMap<&str, &str> = HashMap::new();
    let first = format!("{cover}/");
    let files = tree.files.range(first.clone()..);
    for (path, file) in files.map_while(|(path, file)| Some((path.strip_prefix(&*first)?, file))) {
        folders_of(path, &mut made, steps);
        steps.push(match file {
            TreeFile::Text(text) => match written.entry(text) {
                Entry::Occupied(first) => FileStep::Name(text_of(first.get()), text_of(path)),
                Entry::Vacant(first) => {
                    first.insert(path);
                    FileStep::File(text_of(path), text.clone().into_bytes())
                }
            },
            TreeFile::Link(target) => FileStep::Link(text_of(target), text_of(path)),
        });
    }
}

/// The lists of Intel's kinds of cores, among the devices. The kernel's folder accepts no more, so
/// another one takes its place and shows all others.
fn kind_lists(tree: &MachineTree, root: &Root) -> Vec<FileStep> {
    let files =
        KIND_LISTS.iter().filter_map(|list| tree.files.get_key_value(&format!("{list}/cpus")));
    let files: Vec<(&String, &TreeFile)> = files.collect();
    let here = KIND_LISTS.iter().any(|list| root.has(list));
    if files.is_empty() && !here {
        return Vec::new();
    }
    let mut steps = vec![FileStep::Enter(whole(DEVICES)), FileStep::Cover(whole(DEVICES))];
    for name in root.folders(&format!("/{DEVICES}")).unwrap_or_default() {
        let path = format!("{DEVICES}/{name}");
        if !KIND_LISTS.contains(&path.as_str()) {
            steps.push(FileStep::Folder(whole(&path)));
            // From the folder below the cover.
            steps.push(FileStep::Bind(text_of(&name), whole(&path)));
        }
    }
    for (path, file) in files {
        if let (TreeFile::Text(text), Some((folder, _))) = (file, path.rsplit_once('/')) {
            steps.push(FileStep::Folder(whole(folder)));
            steps.push(FileStep::File(whole(path), text.clone().into_bytes()));
        }
    }
    steps.push(FileStep::Seal(whole(DEVICES)));
    steps
}

fn folders_of<'a>(path: &'a str, made: &mut BTreeSet<&'a str>, steps: &mut Vec<FileStep>) {
    let Some((folder, _)) = path.rsplit_once('/') else { return };
    if made.contains(folder) {
        return;
    }
    folders_of(folder, made, steps);
    made.insert(folder);
    steps.push(FileStep::Folder(text_of(folder)));
}

/// A tree's paths contain no zero.
fn whole(path: &str) -> CString {
    text_of(&format!("/{path}"))
}

fn text_of(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HostFacts;
    use crate::machine::made::small;

    #[test]
    fn folders_are_created_before_their_files() {
        let tree = MachineTree::of(&small(), &HostFacts::default());
        let files = files(&tree, &Root::new("/"));
        let mut known: BTreeSet<String> = BTreeSet::new();
        let mut here = String::new();
        for step in files.steps() {
            let (path, is_folder) = match step {
                FileStep::Cover(path) => {
                    known.insert(path.to_string_lossy().into_owned());
                    continue;
                }
                FileStep::Enter(path) => {
                    here = path.to_string_lossy().into_owned();
                    continue;
                }
                FileStep::Folder(path) => (path, true),
                FileStep::File(path, _) | FileStep::Link(_, path) | FileStep::Name(_, path) => {
                    (path, false)
                }
                _ => continue,
            };
            let path = path.to_string_lossy();
            let path = if path.starts_with('/') { path.into() } else { format!("{here}/{path}") };
            let above = path.rsplit_once('/').unwrap().0.to_owned();
            assert!(known.contains(&above), "{path} before {above}");
            if is_folder {
                known.insert(path);
            }
        }
    }

    #[test]
    fn stage_failures_round_trip_as_letters() {
        for failure in [StageFailure::UserNamespace, StageFailure::Mounts, StageFailure::Listener] {
            assert_eq!(StageFailure::of_letter(failure.letter()), Some(failure));
        }
        assert_eq!(StageFailure::of_letter(0), None);
    }
}
