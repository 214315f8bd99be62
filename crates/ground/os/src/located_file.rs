//! A file as another thread names it (path_resolution(7)).
//!
//! The kernel resolves `/proc/self` and the numbers of descriptors for its caller, so the path is
//! followed here name by name, from the thread's own root and folders.

use crate::mounts::PROC_SUPER_MAGIC;
use crate::task::Family;
use crate::{Tid, checked};
use rustix::fs::{FileType, Mode, OFlags, fstat, fstatfs, open, openat, readlinkat};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::PathBuf;

/// As many links as the kernel follows (`MAXSYMLINKS`, include/linux/namei.h).
const MOST_LINKS: u32 = 40;

/// The inode of the root of `/proc` (`PROC_ROOT_INO`, include/linux/proc_ns.h).
const PROC_ROOT: u64 = 1;

/// The kernel's mark on the path of a file without a name (fs/d_path.c).
const REMOVED: &str = " (deleted)";

const ONLY_LOCATED: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// A file found by its name, but not opened for reading.
#[derive(Debug)]
pub struct LocatedFile(OwnedFd);

impl LocatedFile {
    /// The file that a path names for a thread, below one of its open folders or `AT_FDCWD`. An
    /// empty path names the folder or descriptor itself.
    ///
    /// # Errors
    /// The kernel's: no such file, or another user's thread.
    pub fn named(tid: Tid, folder: RawFd, path: &[u8], follows_last: bool) -> io::Result<Self> {
        let root = object(tid, "root")?;
        let mut at = match folder {
            _ if path.starts_with(b"/") => root.try_clone()?,
            libc::AT_FDCWD => object(tid, "cwd")?,
            folder => object(tid, &format!("fd/{folder}"))?,
        };
        let mut names = names(path);
        let mut links = 0;
        while let Some(name) = names.pop() {
            let next = openat(&at, &*name, ONLY_LOCATED | OFlags::NOFOLLOW, Mode::empty())?;
            let is_link = FileType::from_raw_mode(fstat(&next)?.st_mode) == FileType::Symlink;
            if !is_link || names.is_empty() && !follows_last {
                at = next;
                continue;
            }
            links += 1;
            if links > MOST_LINKS {
                return Err(io::Error::from_raw_os_error(libc::ELOOP));
            }
            match target(tid, &at, &name)? {
                Some(target) => {
                    if target.starts_with(b"/") {
                        at = root.try_clone()?;
                    }
                    names.extend(self::names(&target));
                }
                None => at = openat(&at, &*name, ONLY_LOCATED, Mode::empty())?,
            }
        }
        Ok(LocatedFile(at))
    }

    /// The path by which this process would open the file.
    pub fn path(&self) -> Option<PathBuf> {
        let path = std::fs::read_link(format!("/proc/self/fd/{}", self.0.as_raw_fd())).ok()?;
        match path.to_str().and_then(|path| path.strip_suffix(REMOVED)) {
            Some(path) => Some(path.into()),
            None => Some(path),
        }
    }

    /// The bytes of `statfs`, with this number as the type of the file system.
    ///
    /// # Errors
    /// The kernel's.
    pub fn file_system(&self, kind: u32) -> io::Result<Vec<u8>> {
        // SAFETY: all-zero numbers are valid, the kernel fills them, and they have no padding.
        unsafe {
            let mut found: libc::statfs = std::mem::zeroed();
            checked(libc::fstatfs(self.0.as_raw_fd(), &raw mut found))?;
            found.f_type = kind.into();
            let bytes = (&raw const found).cast();
            Ok(std::slice::from_raw_parts(bytes, size_of_val(&found)).to_vec())
        }
    }
}

/// A folder or file that a thread holds open.
fn object(tid: Tid, name: &str) -> io::Result<OwnedFd> {
    Ok(open(format!("/proc/{tid}/{name}"), ONLY_LOCATED, Mode::empty())?)
}

/// The last name first. A path that ends with a slash names a folder.
fn names(path: &[u8]) -> Vec<Vec<u8>> {
    let end: &[u8] = if path.ends_with(b"/") { b"." } else { b"" };
    let names = path.split(|byte| *byte == b'/').chain([end]);
    names.filter(|name| !name.is_empty()).map(<[u8]>::to_vec).rev().collect()
}

/// The path in a link; `None` for those links of `/proc` that lead to open files.
fn target(tid: Tid, folder: &OwnedFd, name: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let is_proc = u64::try_from(fstatfs(folder)?.f_type) == Ok(PROC_SUPER_MAGIC);
    if is_proc && fstat(folder)?.st_ino != PROC_ROOT {
        return Ok(None);
    }
    if is_proc && [&b"self"[..], b"thread-self"].contains(&name) {
        let process = Family::of(tid).ok_or(io::ErrorKind::NotFound)?.pid;
        let thread = if name == b"self" { String::new() } else { format!("/task/{tid}") };
        return Ok(Some(format!("{process}{thread}").into_bytes()));
    }
    Ok(Some(readlinkat(folder, name, Vec::new())?.into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::own_tid;
    use std::os::unix::fs::symlink;

    fn path_of(folder: RawFd, path: &str) -> io::Result<String> {
        let file = LocatedFile::named(own_tid(), folder, path.as_bytes(), true)?;
        Ok(file.path().unwrap().to_str().unwrap().to_owned())
    }

    #[test]
    fn paths_lead_through_links_to_files_of_the_thread() {
        let own = format!("/proc/{}", std::process::id());
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink("/proc/self/./status", &link).unwrap();
        let status = std::fs::File::open("/proc/thread-self/status").unwrap();
        let open = std::fs::File::open(folder.path()).unwrap();
        let of_thread = format!("{own}/task/{}/status", own_tid());
        for (folder, path, named) in [
            (libc::AT_FDCWD, "//proc/self//status", format!("{own}/status")),
            (libc::AT_FDCWD, "/proc/mounts", format!("{own}/mounts")),
            (libc::AT_FDCWD, "/proc/thread-self/../../status", format!("{own}/status")),
            (libc::AT_FDCWD, link.to_str().unwrap(), format!("{own}/status")),
            (open.as_raw_fd(), "link", format!("{own}/status")),
            (status.as_raw_fd(), "", of_thread.clone()),
            (libc::AT_FDCWD, &format!("/dev/fd/{}", status.as_raw_fd()), of_thread),
        ] {
            assert_eq!(path_of(folder, path).unwrap(), named, "{path}");
        }
    }

    #[test]
    fn paths_without_a_file_fail_as_in_the_kernel() {
        let folder = tempfile::tempdir().unwrap();
        let loops = folder.path().join("loops");
        symlink("loops", &loops).unwrap();
        for (path, code) in [
            ("/no/such", libc::ENOENT),
            ("/proc/self/status/", libc::ENOTDIR),
            (loops.to_str().unwrap(), libc::ELOOP),
        ] {
            let failure = path_of(libc::AT_FDCWD, path).unwrap_err();
            assert_eq!(failure.raw_os_error(), Some(code), "{path}");
        }
    }

    #[test]
    fn file_system_has_the_given_type_and_the_real_size() {
        let file = LocatedFile::named(own_tid(), libc::AT_FDCWD, b"/", true).unwrap();
        let bytes = file.file_system(0x6367_7270).unwrap();
        assert_eq!(bytes[..4], 0x6367_7270_u32.to_ne_bytes());
        let blocks = u64::from_ne_bytes(bytes[8..16].try_into().unwrap());
        assert_eq!(blocks, rustix::fs::statfs("/").unwrap().f_bsize as u64);
    }
}
