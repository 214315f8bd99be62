//! Why a request is refused, as numbers of errno(3).

use rustix::io::Errno;

/// A refusal's reason: a number of errno(3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", std::io::Error::from_raw_os_error(self.0.cast_signed()))]
pub struct Refusal(pub u32);

macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident = $errno:ident),* $(,)?) => {
        impl Refusal {
            $($(#[$doc])* pub const $name: Refusal = Refusal(libc::$errno as u32);)*
        }
    };
}

refusals! {
    /// The fid does not exist, is in use, or is open in another way or not at all (`EBADF`).
    FID = EBADF,
    /// Too many fids (`EMFILE`).
    MANY = EMFILE,
    /// An invalid name or message (`EINVAL`).
    INVALID = EINVAL,
    /// The file does not exist (`ENOENT`).
    ABSENT = ENOENT,
    /// The export is read-only (`EROFS`).
    READ_ONLY = EROFS,
    /// The client has no permission (`EACCES`).
    ACCESS = EACCES,
    /// It is not a folder (`ENOTDIR`).
    NO_FOLDER = ENOTDIR,
    /// It is a folder (`EISDIR`).
    FOLDER = EISDIR,
    /// Devices and pipes are not opened (`ENXIO`).
    DEVICE = ENXIO,
    /// Symbolic links are not followed (`ELOOP`).
    LINK = ELOOP,
    /// An unknown request (`EOPNOTSUPP`).
    UNKNOWN = EOPNOTSUPP,
    /// Another failure (`EIO`).
    FAILED = EIO,
}

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Self {
        Refusal(errno.raw_os_error().unsigned_abs())
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        error.raw_os_error().map_or(Refusal::FAILED, |code| Refusal(code.unsigned_abs()))
    }
}

impl From<Refusal> for std::io::Error {
    fn from(refusal: Refusal) -> Self {
        std::io::Error::from_raw_os_error(refusal.0.cast_signed())
    }
}
