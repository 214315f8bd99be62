//! Files named by the user, read up to a bound.
//!
//! A device such as `/dev/urandom` has no end, and a pipe without a writer blocks. So a file is
//! opened without waiting, and must be an ordinary one or the pipe of a shell's `<(...)`.

use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat, fstatfs};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// File system of unnamed pipes (`include/uapi/linux/magic.h`).
const PIPEFS_MAGIC: u64 = 0x5049_5045;

/// Opens a file for reading.
///
/// # Errors
/// The system's; or it is a folder, a device, a socket or a named pipe.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = match File::options().read(true).custom_flags(flags).open(path) {
        // A socket.
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => return Err(refused()),
        opened => opened?,
    };
    match FileType::from_raw_mode(fstat(&file)?.st_mode) {
        FileType::RegularFile => Ok(file),
        FileType::Directory => Err(ErrorKind::IsADirectory.into()),
        // The shell has opened the other end, so reading may wait.
        FileType::Fifo if u64::try_from(fstatfs(&file)?.f_type) == Ok(PIPEFS_MAGIC) => {
            fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
            Ok(file)
        }
        _ => Err(refused()),
    }
}

fn refused() -> io::Error {
    let why = "is a device, pipe or socket, not a regular file; save its output to a file first";
    io::Error::new(ErrorKind::InvalidInput, why)
}

/// Reads a file of at most `most_bytes`.
///
/// # Errors
/// As [`open`] and [`read_stream`].
pub fn read(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    check_length(file.metadata()?.len(), most_bytes)?;
    read_stream(file, most_bytes)
}

/// Reads a stream, such as stdin, of at most `most_bytes`.
///
/// # Errors
/// The system's; [`ErrorKind::FileTooLarge`] if it has more.
pub fn read_stream(stream: impl Read, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(most_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    check_length(bytes.len() as u64, most_bytes)?;
    Ok(bytes)
}

fn check_length(bytes: u64, most_bytes: u64) -> io::Result<()> {
    if bytes <= most_bytes {
        return Ok(());
    }
    let why = format!("is too long; no more than {most_bytes} B are read");
    Err(io::Error::new(ErrorKind::FileTooLarge, why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;

    fn refusal(path: impl AsRef<Path>) -> String {
        read(path.as_ref(), 10).unwrap_err().to_string()
    }

    #[test]
    fn plain_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "0123456789").unwrap();
        assert_eq!(read(&file, 10).unwrap(), b"0123456789");
        assert!(read(&file, 9).unwrap_err().kind() == ErrorKind::FileTooLarge);
        // A sparse file, not read into memory.
        File::options().write(true).open(&file).unwrap().set_len(1 << 40).unwrap();
        assert!(refusal(&file).contains("more than 10 B"));
        assert!(read(folder.path(), 10).unwrap_err().kind() == ErrorKind::IsADirectory);
    }

    #[test]
    fn endless_files_and_pipes_are_refused_immediately() {
        let folder = tempfile::tempdir().unwrap();
        let [pipe, socket] = ["pipe", "socket"].map(|name| folder.path().join(name));
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, mode, 0).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for path in [Path::new("/dev/urandom"), Path::new("/dev/zero"), &pipe, &socket] {
            assert!(refusal(path).contains("not a regular file"), "{path:?}");
        }
    }

    #[test]
    fn shell_pipe_is_awaited() {
        let (reader, mut writer) = io::pipe().unwrap();
        let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
        let late = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            writer.write_all(b"late").unwrap();
        });
        assert_eq!(read(Path::new(&path), 10).unwrap(), b"late");
        late.join().unwrap();
    }
}
