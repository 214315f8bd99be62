//! Sockets in the file system: opened, and knocked at.

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

/// Bytes in a socket's path (`sun_path` of unix(7), but for the zero at its end).
const LONGEST: usize = 107;

/// Listens. Everybody may connect: whoever may not come in is to be told so.
///
/// # Errors
/// What the system says; `AddrInUse` where somebody listens there already, or something else lies there.
pub(crate) fn open(path: &Path) -> io::Result<UnixListener> {
    check(path)?;
    if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
        if is_attended(path)? {
            return Err(io::Error::new(io::ErrorKind::AddrInUse, "somebody listens there already"));
        }
        // What a killed controller left.
        fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o666))?;
    Ok(listener)
}

/// Connects.
///
/// # Errors
/// What the system says.
pub(crate) fn knock(path: &Path) -> io::Result<UnixStream> {
    check(path)?;
    UnixStream::connect(path)
}

/// The standard library's own words name a constant.
fn check(path: &Path) -> io::Result<()> {
    match path.as_os_str().len() {
        ..=LONGEST => Ok(()),
        length => Err(io::Error::other(format!("a socket's path has {LONGEST} bytes at most, and this one {length}"))),
    }
}

/// Whether somebody listens there; one whose queue is full does.
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
    fn what_a_dead_one_left_is_taken_over_and_a_living_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let first = open(&path).unwrap();
        assert_eq!(open(&path).unwrap_err().to_string(), "somebody listens there already");
        assert!(knock(&path).is_ok(), "the first is still there");
        drop(first);
        assert!(path.exists() && open(&path).is_ok());
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(open(&file).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        assert!(file.exists());
    }

    #[test]
    fn a_path_has_so_many_bytes() {
        let path = Path::new("/nowhere").join("x".repeat(99));
        assert_eq!(knock(&path).unwrap_err().to_string(), "a socket's path has 107 bytes at most, and this one 108");
        assert!(knock(&Path::new("/nowhere").join("x".repeat(98))).unwrap_err().raw_os_error().is_some());
    }
}
