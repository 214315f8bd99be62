//! One process's own view of some files, in a private mount namespace (mount_namespaces(7)).
//!
//! All mounts end with the namespace's last process, so nothing remains even after a crash. Later
//! mounts of the host still arrive.

use crate::rights;
use crate::root::Root;
use std::ffi::{CStr, CString};
use std::io;
use std::ptr;

/// The longest map of a namespace's user or group: three numbers and spaces.
const MAP_BYTES: usize = 40;

/// The limit on user namespaces, and switches that forbid them.
const MOST_NAMESPACES: &str = "/proc/sys/user/max_user_namespaces";
const DEBIAN_SWITCH: &str = "/proc/sys/kernel/unprivileged_userns_clone";
const APPARMOR_SWITCH: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/// An exit status holds the kernel's error and, in this bit, whether mounts failed.
const OF_MOUNTS: i32 = 0x80;

/// One change of the files that a process sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileStep {
    /// Covers a folder with an empty one.
    Cover(CString),
    /// Creates a folder.
    Folder(CString),
    /// Creates a file with this text.
    File(CString, Vec<u8>),
    /// Gives a created file this second path too.
    Name(CString, CString),
    /// Creates a link with this target at the second path.
    Link(CString, CString),
    /// Shows the first file or folder in place of the second.
    Bind(CString, CString),
    /// Removes the name of a created file.
    Remove(CString),
    /// Forbids writing below a cover, as in the kernel's files.
    Seal(CString),
    /// Goes to a folder. Its files keep their relative paths when covered.
    Enter(CString),
    /// Shows the folder below a cover again.
    Uncover(CString),
}

/// Changes of the files that a process sees, prepared before its creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateFiles {
    steps: Vec<FileStep>,
    user_map: [u8; MAP_BYTES],
    group_map: [u8; MAP_BYTES],
    is_root: bool,
    is_container: bool,
}

/// The part of the view that the kernel refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PrivateFilesPart {
    /// The namespaces.
    Namespaces,
    /// The mounts.
    Mounts,
}

impl PrivateFiles {
    /// A view for an otherwise unchanged process: only unprivileged users get a user namespace, in
    /// which root could no longer become another user.
    pub fn new(steps: Vec<FileStep>) -> Self {
        // SAFETY: these calls only return a number of this process.
        let [user, group] = unsafe { [libc::geteuid(), libc::getegid()] };
        PrivateFiles {
            steps,
            user_map: same(user),
            group_map: same(group),
            is_root: user == 0,
            is_container: false,
        }
    }

    /// Adds a private root of control groups, and a user namespace even for root without the right
    /// to mount.
    pub fn in_container(self) -> Self {
        PrivateFiles { is_container: true, ..self }
    }

    /// The changes, in order.
    pub fn steps(&self) -> &[FileStep] {
        &self.steps
    }

    /// Changes the files of the calling process, which must have one thread. Allocates nothing.
    ///
    /// # Errors
    /// The refused part, with the kernel's error.
    pub fn take(&self) -> Result<(), (PrivateFilesPart, io::Error)> {
        self.enter().map_err(|error| (PrivateFilesPart::Namespaces, error))?;
        self.mount().map_err(|error| (PrivateFilesPart::Mounts, error))
    }

    /// Takes the view in a process that ends at once.
    ///
    /// # Errors
    /// As [`PrivateFiles::take`].
    pub fn try_out(&self) -> Result<(), (PrivateFilesPart, io::Error)> {
        // SAFETY: the child makes only system calls, and allocates nothing.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            let status = match self.take() {
                Ok(()) => 0,
                Err((part, error)) => {
                    let code = error.raw_os_error().unwrap_or(libc::EIO);
                    if part == PrivateFilesPart::Mounts { code | OF_MOUNTS } else { code }
                }
            };
            // SAFETY: ends the child.
            unsafe { libc::_exit(status) }
        }
        done(pid).map_err(|error| (PrivateFilesPart::Namespaces, error))?;
        let mut status = 0;
        // SAFETY: the status is writable.
        while unsafe { libc::waitpid(pid, &raw mut status, 0) } != pid {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err((PrivateFilesPart::Namespaces, error));
            }
        }
        match libc::WEXITSTATUS(status) {
            0 => Ok(()),
            code if code & OF_MOUNTS == 0 => {
                Err((PrivateFilesPart::Namespaces, io::Error::from_raw_os_error(code)))
            }
            code => {
                let error = io::Error::from_raw_os_error(code & !OF_MOUNTS);
                Err((PrivateFilesPart::Mounts, error))
            }
        }
    }

    /// Root needs no user namespace unless a container has removed its rights.
    fn enter(&self) -> io::Result<()> {
        let groups = if self.is_container { libc::CLONE_NEWCGROUP } else { 0 };
        let own = libc::CLONE_NEWNS | groups;
        // SAFETY: makes namespaces for this process, and touches no memory.
        if self.is_root && unsafe { libc::unshare(own) } == 0 {
            return Ok(());
        }
        if self.is_root && !self.is_container {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: as above.
        done(unsafe { libc::unshare(own | libc::CLONE_NEWUSER) })?;
        // An unprivileged user may map a group only after giving up setgroups(2).
        write(c"/proc/self/setgroups", b"deny", 0)?;
        write(c"/proc/self/uid_map", text_in(&self.user_map), 0)?;
        write(c"/proc/self/gid_map", text_in(&self.group_map), 0)
    }

    fn mount(&self) -> io::Result<()> {
        let mut folder = [0_u8; libc::PATH_MAX as usize];
        // SAFETY: all paths are texts that live, and the kernel takes no other memory. The
        // descriptor is closed below.
        let here = unsafe {
            let flags = libc::MS_REC | libc::MS_SLAVE;
            done(libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), flags, ptr::null()))?;
            libc::getcwd(folder.as_mut_ptr().cast(), folder.len());
            libc::open(c".".as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC)
        };
        done(here)?;
        self.steps.iter().try_for_each(step)?;
        // SAFETY: the path is a text, the descriptor is open, and no object owns it.
        unsafe {
            // A container's program must not see the files below a cover.
            if !self.is_container || libc::chdir(folder.as_ptr().cast()) < 0 {
                done(libc::fchdir(here))?;
            }
            done(libc::close(here))
        }
    }
}

fn step(step: &FileStep) -> io::Result<()> {
    let none = ptr::null();
    // SAFETY: all paths are texts that live, and the kernel checks them itself.
    unsafe {
        match step {
            FileStep::Cover(folder) => done(libc::mount(
                c"seatmap".as_ptr(),
                folder.as_ptr(),
                c"tmpfs".as_ptr(),
                libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC,
                c"mode=0755".as_ptr().cast(),
            )),
            FileStep::Folder(folder) => done(libc::mkdir(folder.as_ptr(), 0o755)),
            FileStep::File(path, text) => write(path, text, libc::O_CREAT),
            FileStep::Name(file, path) => done(libc::link(file.as_ptr(), path.as_ptr())),
            FileStep::Link(target, path) => done(libc::symlink(target.as_ptr(), path.as_ptr())),
            FileStep::Bind(from, over) => {
                let flags = libc::MS_BIND | libc::MS_REC;
                done(libc::mount(from.as_ptr(), over.as_ptr(), none, flags, none.cast()))
            }
            FileStep::Remove(path) => done(libc::unlink(path.as_ptr())),
            FileStep::Seal(folder) => {
                let flags = libc::MS_REMOUNT
                    | libc::MS_BIND
                    | libc::MS_RDONLY
                    | libc::MS_NOSUID
                    | libc::MS_NODEV
                    | libc::MS_NOEXEC;
                done(libc::mount(none, folder.as_ptr(), none, flags, none.cast()))
            }
            FileStep::Enter(folder) => done(libc::chdir(folder.as_ptr())),
            FileStep::Uncover(folder) => done(libc::umount2(folder.as_ptr(), libc::MNT_DETACH)),
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

fn same(number: u32) -> [u8; MAP_BYTES] {
    let mut map = [0; MAP_BYTES];
    let text = format!("{number} {number} 1");
    map[..text.len()].copy_from_slice(text.as_bytes());
    map
}

fn text_in(map: &[u8]) -> &[u8] {
    map.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// The remedy if the kernel allows no user namespace, as part of a sentence.
pub fn namespace_remedy(root: &Root) -> String {
    let switches = [
        (MOST_NAMESPACES, "0", "user.max_user_namespaces=1024"),
        (DEBIAN_SWITCH, "0", "kernel.unprivileged_userns_clone=1"),
        (APPARMOR_SWITCH, "1", "kernel.apparmor_restrict_unprivileged_userns=0"),
    ];
    let closed = switches
        .iter()
        .find(|(path, closed, _)| root.read(path).is_ok_and(|value| value == *closed));
    match closed {
        Some((_, _, setting)) => format!("'sysctl -w {setting}', {}", rights::as_root()),
        None => "a container may forbid it; run it outside, or as root".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::{with_files, write};

    #[test]
    fn user_map_names_one_user() {
        assert_eq!(text_in(&same(1000)), b"1000 1000 1");
    }

    #[test]
    fn refused_step_is_reported_and_changes_nothing_here() {
        let absent = c"/no/such/folder".to_owned();
        let files = PrivateFiles::new(vec![FileStep::Enter(absent)]);
        match files.try_out() {
            Err((PrivateFilesPart::Mounts, error)) => {
                assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
            }
            Err((PrivateFilesPart::Namespaces, error)) => {
                return seatmap_needs::skipped!("no private mounts here: {error}");
            }
            Ok(()) => panic!("the folder does not exist"),
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kept");
        std::fs::write(&file, "here").unwrap();
        let path = CString::new(folder.path().to_str().unwrap()).unwrap();
        let steps = vec![FileStep::Cover(path.clone()), FileStep::Seal(path)];
        PrivateFiles::new(steps).try_out().unwrap();
        assert_eq!(std::fs::read_to_string(file).unwrap(), "here");
    }

    #[test]
    fn namespace_remedy_names_kernel_switch() {
        let (_folder, root) = with_files(&[]);
        assert!(namespace_remedy(&root).starts_with("a container may forbid it"));
        for (path, text, name) in [
            (APPARMOR_SWITCH, "1", "apparmor_restrict_unprivileged_userns=0"),
            (DEBIAN_SWITCH, "0", "unprivileged_userns_clone=1"),
            (MOST_NAMESPACES, "0", "max_user_namespaces=1024"),
        ] {
            write(&root, path, text);
            let remedy = namespace_remedy(&root);
            assert!(remedy.contains(name), "{remedy}");
        }
    }
}
