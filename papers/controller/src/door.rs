//! Sockets in the file system: listening and connecting.

use rustix::fs::{self, AtFlags, FileType, Mode};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use seatmap_os::trusted::TrustedFolder;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

/// The longest path of a socket (`sun_path` of unix(7), without the terminating zero).
const LONGEST: usize = 107;

const BACKLOG: i32 = 128;

/// Listens in a folder that no other user can change. All users can connect, so that the server can
/// give a reason for a rejection.
///
/// # Errors
/// The system's error; `AddrInUse` if a program already listens there or another file exists; the
/// folder is not exclusively this user's.
pub fn open(path: &Path) -> io::Result<UnixListener> {
    check(path)?;
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let parent =
        path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = TrustedFolder::open(parent)?;
    if is_socket(&folder, name) {
        if is_attended(path)? {
            return Err(io::Error::new(io::ErrorKind::AddrInUse, "another process listens there"));
        }
        // The socket is left over from a killed controller.
        folder.remove(name)?;
    }
    let socket = bound(path)?;
    // Clients cannot connect before `listen`.
    fs::chmodat(&folder, name, Mode::from_raw_mode(0o666), AtFlags::empty())?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

fn is_socket(folder: &TrustedFolder, name: &OsStr) -> bool {
    let found = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Socket)
}

fn bound(path: &Path) -> io::Result<OwnedFd> {
    let socket = rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    // The file gets the socket's permissions, independent of the umask.
    fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

/// Connects to the controller.
///
/// # Errors
/// The system's error.
pub fn knock(path: &Path) -> io::Result<UnixStream> {
    check(path)?;
    UnixStream::connect(path)
}

/// Rejects a long path readably: the standard library's message names a constant.
fn check(path: &Path) -> io::Result<()> {
    match path.as_os_str().len() {
        ..=LONGEST => Ok(()),
        length => Err(io::Error::other(format!(
            "a socket's path has at most {LONGEST} bytes, but this one has {length}"
        ))),
    }
}

fn is_attended(path: &Path) -> io::Result<bool> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let own = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&own, &SocketAddrUnix::new(path)?) {
        Err(Errno::CONNREFUSED | Errno::NOENT) => Ok(false),
        _ => Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_socket_is_replaced_and_live_one_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let first = open(&path).unwrap();
        assert_eq!(open(&path).unwrap_err().to_string(), "another process listens there");
        assert!(knock(&path).is_ok(), "the first is still there");
        // A child that another test is just starting still has a copy of a closed socket.
        rustix::net::shutdown(&first, rustix::net::Shutdown::Both).unwrap();
        drop(first);
        assert!(path.exists() && open(&path).is_ok());
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert_eq!(open(&file).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        assert!(file.exists());
    }

    #[test]
    fn links_and_writable_folders_are_refused() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let _socket = open(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o666);
        let target = folder.path().join("target");
        let link = folder.path().join("link");
        symlink(&target, &link).unwrap();
        assert_eq!(open(&link).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        assert!(!target.exists());
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let told = open(&folder.path().join("t")).unwrap_err().to_string();
        assert!(told.starts_with("other users can write"), "{told}");
    }

    #[test]
    fn overlong_socket_path_is_refused() {
        let path = Path::new("/nowhere").join("x".repeat(99));
        assert_eq!(
            knock(&path).unwrap_err().to_string(),
            "a socket's path has at most 107 bytes, but this one has 108"
        );
        assert!(
            knock(&Path::new("/nowhere").join("x".repeat(98)))
                .unwrap_err()
                .raw_os_error()
                .is_some()
        );
    }
}
