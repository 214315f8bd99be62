//! Installs a machine's files.
//!
//! All mounts are in a private namespace, which ends with its last process, so that nothing remains
//! on this computer even after a crash.

use crate::tree::{CPUINFO, CPUS, GROUPS, MachineTree, NODES, STAT, TreeFile};
use seatmap_os::Root;
use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::io;
use std::ptr;

/// This folder is replaced if a kernel without NUMA has no folder of nodes to mount on.
const SYSTEM: &str = "sys/devices/system";

/// The longest map of a namespace's user or group: three numbers and spaces.
const MAP_BYTES: usize = 40;

#[derive(Clone, Debug)]
enum Step {
    Cover(CString),
    Folder(CString),
    File(CString, Vec<u8>),
    Link(CString, CString),
    /// Covers a file with one written by the process, which then loses its name.
    Bind(CString, CString),
    /// Forbids writing, as in the kernel's files.
    Seal(CString),
}

#[derive(Clone, Debug)]
pub(crate) struct ViewSetup {
    steps: Vec<Step>,
    user_map: [u8; MAP_BYTES],
    group_map: [u8; MAP_BYTES],
    is_root: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StageFailure {
    UserNamespace,
    Mounts,
    Listener,
}

impl StageFailure {
    /// The byte with which a new process reports it.
    pub fn letter(self) -> u8 {
        match self {
            StageFailure::UserNamespace => b'U',
            StageFailure::Mounts => b'M',
            StageFailure::Listener => b'L',
        }
    }

    pub fn of_letter(letter: u8) -> Option<Self> {
        [StageFailure::UserNamespace, StageFailure::Mounts, StageFailure::Listener]
            .into_iter()
            .find(|failure| failure.letter() == letter)
    }
}

impl ViewSetup {
    pub fn new(tree: &MachineTree, root: &Root) -> Self {
        let has_nodes = root.has(NODES);
        let folders: &[&str] = if has_nodes { &[CPUS, NODES] } else { &[SYSTEM] };
        let mut steps: Vec<Step> =
            folders.iter().map(|folder| Step::Cover(whole(folder))).collect();
        let has_groups = root.has(GROUPS);
        if has_groups {
            steps.push(Step::Cover(whole(GROUPS)));
        }
        let covered = [folders, if has_groups { &[GROUPS] } else { &[] }].concat();
        let mut made: BTreeSet<&str> = covered.iter().copied().collect();
        let files = tree
            .files
            .iter()
            .filter(|(path, _)| covered.iter().any(|folder| path.starts_with(folder)));
        for (path, file) in files {
            folders_of(path, &mut made, &mut steps);
            steps.push(match file {
                TreeFile::Text(text) => Step::File(whole(path), text.clone().into_bytes()),
                TreeFile::Link(target) => Step::Link(text_of(target), whole(path)),
            });
        }
        for path in [CPUINFO, STAT] {
            if let Some(TreeFile::Text(text)) = tree.files.get(path).filter(|_| root.has(path)) {
                let name = path.replace('/', ".");
                let written = whole(&format!("{CPUS}/.{name}"));
                steps.push(Step::File(written.clone(), text.clone().into_bytes()));
                steps.push(Step::Bind(written, whole(path)));
            }
        }
        steps.extend(covered.iter().map(|folder| Step::Seal(whole(folder))));
        // SAFETY: these calls only return a number of this process.
        let [user, group] = unsafe { [libc::geteuid(), libc::getegid()] };
        ViewSetup { steps, user_map: same(user), group_map: same(group), is_root: user == 0 }
    }

    /// Executes the steps in a new process. Allocates nothing.
    ///
    /// # Errors
    /// The step that failed, with the kernel's error.
    pub fn take(&self) -> Result<(), (StageFailure, io::Error)> {
        self.enter().map_err(|error| (StageFailure::UserNamespace, error))?;
        // SAFETY: both paths are texts that live, and the kernel takes no other memory.
        let private = unsafe {
            let flags = libc::MS_REC | libc::MS_PRIVATE;
            libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), flags, ptr::null())
        };
        done(private).map_err(|error| (StageFailure::Mounts, error))?;
        self.steps.iter().try_for_each(step).map_err(|error| (StageFailure::Mounts, error))
    }

    /// Root needs no user namespace unless a container has removed its rights.
    fn enter(&self) -> io::Result<()> {
        let own = libc::CLONE_NEWNS | libc::CLONE_NEWCGROUP;
        // SAFETY: makes namespaces for this process, and touches no memory.
        if self.is_root && unsafe { libc::unshare(own) } == 0 {
            return Ok(());
        }
        // SAFETY: as above.
        done(unsafe { libc::unshare(own | libc::CLONE_NEWUSER) })?;
        // An unprivileged user may map a group only after giving up setgroups(2).
        write(c"/proc/self/setgroups", b"deny", 0)?;
        write(c"/proc/self/uid_map", text_in(&self.user_map), 0)?;
        write(c"/proc/self/gid_map", text_in(&self.group_map), 0)
    }
}

fn step(step: &Step) -> io::Result<()> {
    // SAFETY: all paths are texts that live, and the kernel checks them itself.
    unsafe {
        match step {
            Step::Cover(folder) => done(libc::mount(
                c"seatmap".as_ptr(),
                folder.as_ptr(),
                c"tmpfs".as_ptr(),
                libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC,
                c"mode=0755".as_ptr().cast(),
            )),
            Step::Folder(folder) => done(libc::mkdir(folder.as_ptr(), 0o755)),
            Step::File(path, text) => write(path, text, libc::O_CREAT),
            Step::Link(target, path) => done(libc::symlink(target.as_ptr(), path.as_ptr())),
            Step::Bind(file, over) => {
                let none = ptr::null();
                let flags = libc::MS_BIND;
                done(libc::mount(file.as_ptr(), over.as_ptr(), none, flags, none.cast()))?;
                done(libc::unlink(file.as_ptr()))
            }
            Step::Seal(folder) => {
                let flags = libc::MS_REMOUNT
                    | libc::MS_BIND
                    | libc::MS_RDONLY
                    | libc::MS_NOSUID
                    | libc::MS_NODEV
                    | libc::MS_NOEXEC;
                let none = ptr::null();
                done(libc::mount(none, folder.as_ptr(), none, flags, none.cast()))
            }
        }
    }
}

fn write(path: &CStr, text: &[u8], flags: i32) -> io::Result<()> {
    // SAFETY: the path and the text live, and the descriptor is closed here.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC | flags, 0o444);
        done(file)?;
        let mut rest = text;
        while !rest.is_empty() {
            let written = libc::write(file, rest.as_ptr().cast(), rest.len());
            if written <= 0 {
                let error = io::Error::last_os_error();
                libc::close(file);
                return Err(error);
            }
            rest = &rest[written as usize..];
        }
        libc::close(file);
    }
    Ok(())
}

fn done(status: i32) -> io::Result<()> {
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn folders_of<'a>(path: &'a str, made: &mut BTreeSet<&'a str>, steps: &mut Vec<Step>) {
    let Some((folder, _)) = path.rsplit_once('/') else { return };
    if made.contains(folder) {
        return;
    }
    folders_of(folder, made, steps);
    made.insert(folder);
    steps.push(Step::Folder(whole(folder)));
}

/// A tree's paths contain no zero.
fn whole(path: &str) -> CString {
    text_of(&format!("/{path}"))
}

fn text_of(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

fn same(number: u32) -> [u8; MAP_BYTES] {
    let mut map = [0; MAP_BYTES];
    let text = format!("{number} {number} 1");
    map[..text.len()].copy_from_slice(text.as_bytes());
    map
}

fn text_in(map: &[u8]) -> &[u8] {
    map.split(|byte| *byte == 0).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpuinfo::HostFacts;
    use crate::machine::made::small;

    #[test]
    fn folders_are_created_before_their_files() {
        let tree = MachineTree::of(&small(), &HostFacts::default());
        let stage = ViewSetup::new(&tree, &Root::new("/"));
        let mut known: BTreeSet<String> = BTreeSet::new();
        for step in &stage.steps {
            let (path, is_folder) = match step {
                Step::Cover(path) => {
                    known.insert(path.to_string_lossy().into_owned());
                    continue;
                }
                Step::Folder(path) => (path, true),
                Step::File(path, _) | Step::Link(_, path) => (path, false),
                Step::Bind(..) | Step::Seal(_) => continue,
            };
            let path = path.to_string_lossy().into_owned();
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
        assert_eq!(text_in(&same(1000)), b"1000 1000 1");
    }
}
