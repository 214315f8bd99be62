//! Why a request was refused, in the words that the protocol has for it: numbers of errno(3).

use rustix::io::Errno;

/// Why a request was refused: a number of errno(3).
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
    /// No such fid, one that is in use already, or one that is not open, or open otherwise
    /// (`EBADF`).
    FID = EBADF,
    /// Too many fids (`EMFILE`).
    MANY = EMFILE,
    /// A name or message that is not valid (`EINVAL`).
    INVALID = EINVAL,
    /// There is no such file (`ENOENT`).
    ABSENT = ENOENT,
    /// Nothing is changed here (`EROFS`).
    READ_ONLY = EROFS,
    /// This client may not do that (`EACCES`).
    ACCESS = EACCES,
    /// It is not a folder (`ENOTDIR`).
    NO_FOLDER = ENOTDIR,
    /// It is a folder (`EISDIR`).
    FOLDER = EISDIR,
    /// It is neither a file nor a folder: devices and pipes are not opened (`ENXIO`).
    DEVICE = ENXIO,
    /// A symbolic link is not followed (`ELOOP`).
    LINK = ELOOP,
    /// A request that is not known here (`EOPNOTSUPP`).
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
