//! Kernel files, opened for writing so that no path can redirect root's writes.
//!
//! Some paths come from a plan or journal, but only a kernel file changes:
//!
//! - the path is absolute and without `..`;
//! - each folder is opened from the one above it (openat(2) with `O_NOFOLLOW`); a link is followed
//!   only if root or this user made it in a folder that no other user can change, like those below
//!   `/sys/class`;
//! - the file is not a link, and before the first write its descriptor is checked to be on a kernel
//!   file system (fstatfs(2)).

use crate::mounts::{CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, PROC_SUPER_MAGIC, SYSFS_MAGIC};
use crate::root::Root;
use crate::trusted::{TrustError, to_control_folder};
use rustix::fs::{self, AtFlags, Mode, OFlags};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

/// From `include/uapi/linux/magic.h`.
const DEBUGFS_MAGIC: u64 = 0x6462_6720;

struct Place<'a> {
    folder: OwnedFd,
    name: &'a OsStr,
}

impl<'a> Place<'a> {
    fn of(root: &Root, path: &'a Path) -> io::Result<Self> {
        let is_plain = path.is_absolute()
            && path.components().all(|part| !matches!(part, Component::ParentDir));
        let (true, Some(above), Some(name)) = (is_plain, path.parent(), path.file_name()) else {
            let why = "is not a valid path of a kernel file: it contains '..' or has no file name";
            return Err(io::Error::new(ErrorKind::InvalidInput, why));
        };
        let folder = to_control_folder(&root.path("/"), above).map_err(|error| match error {
            TrustError::Io { source, .. } => source,
            other => other.into(),
        })?;
        Ok(Place { folder, name })
    }
}

/// Opens an existing control file for writing.
///
/// # Errors
/// The kernel's; or the path is not plain, contains another user's link, or leads outside the
/// kernel's files.
pub fn open(root: &Root, path: &Path) -> io::Result<File> {
    let place = Place::of(root, path)?;
    // Opening a pipe without a reader would block.
    let flags =
        OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(fs::openat(&place.folder, place.name, flags, Mode::empty())?);
    if root.is_this_computer() {
        check_kernels(&file, path)?;
    } else {
        // A kernel file's text is replaced by each write; a test's file must be emptied.
        file.set_len(0)?;
    }
    Ok(file)
}

/// Creates a control group, if it does not exist.
///
/// # Errors
/// As [`open`].
pub fn make_folder(root: &Root, path: &Path) -> io::Result<()> {
    let place = checked_place(root, path)?;
    let usual = Mode::RWXU | Mode::RWXG | Mode::RWXO;
    match fs::mkdirat(&place.folder, place.name, usual) {
        Err(rustix::io::Errno::EXIST) => Ok(()),
        made => Ok(made?),
    }
}

/// Removes a control group without members.
///
/// # Errors
/// As [`open`].
pub fn remove_folder(root: &Root, path: &Path) -> io::Result<()> {
    let place = checked_place(root, path)?;
    Ok(fs::unlinkat(&place.folder, place.name, AtFlags::REMOVEDIR)?)
}

fn checked_place<'a>(root: &Root, path: &'a Path) -> io::Result<Place<'a>> {
    let place = Place::of(root, path)?;
    if root.is_this_computer() {
        check_kernels(&place.folder, path)?;
    }
    Ok(place)
}

/// On `/proc` if its path is, otherwise on `/sys` or a control group.
fn check_kernels(file: &impl AsFd, path: &Path) -> io::Result<()> {
    let kind = u64::try_from(fs::fstatfs(file)?.f_type).unwrap_or_default();
    let is_kernels = if path.starts_with("/proc") {
        kind == PROC_SUPER_MAGIC
    } else {
        [CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC].contains(&kind)
    };
    if is_kernels {
        return Ok(());
    }
    let why = "is not a kernel file (control group, /proc or /sys), so it was not opened";
    Err(io::Error::new(ErrorKind::PermissionDenied, why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::symlink;

    fn refused(path: &str) -> String {
        open(&Root::new("/"), Path::new(path)).unwrap_err().to_string()
    }

    #[test]
    fn climbing_path_is_refused_before_opening() {
        for path in ["/sys/fs/cgroup/cpuset/../../../../tmp/x", "/..", "/", "", "proc/uptime"] {
            assert!(refused(path).contains("not a valid path of a kernel file"), "{path}");
        }
    }

    #[test]
    fn non_kernel_file_keeps_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        std::fs::write(&victim, "precious").unwrap();
        symlink(&victim, folder.path().join("cpuset.cpus")).unwrap();
        symlink(folder.path(), folder.path().join("group")).unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        assert!(refused(&at("victim")).contains("not a kernel file"));
        assert!(refused(&at("group/victim")).contains("not a kernel file"));
        open(&Root::new("/"), Path::new(&at("cpuset.cpus"))).unwrap_err();
        assert!(make_folder(&Root::new("/"), Path::new(&at("new"))).is_err());
        assert!(remove_folder(&Root::new("/"), Path::new(&at("new"))).is_err());
        assert_eq!(std::fs::read(victim).unwrap(), b"precious");
    }

    #[test]
    fn link_in_writable_folder_is_not_followed() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        std::fs::create_dir(folder.path().join("real")).unwrap();
        std::fs::write(folder.path().join("real/file"), "old").unwrap();
        symlink("real", folder.path().join("link")).unwrap();
        open(&root, Path::new("/link/file")).and_then(|mut file| file.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read(folder.path().join("real/file")).unwrap(), b"new");
        let everybodys = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(folder.path(), everybodys).unwrap();
        assert!(open(&root, Path::new("/link/file")).is_err());
        open(&root, Path::new("/real/file")).unwrap();
    }

    #[test]
    fn pipe_without_reader_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        open(&Root::new(folder.path()), Path::new("/pipe")).unwrap_err();
    }
}
