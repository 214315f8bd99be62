//! Files of the host, by descriptors and single names; a client's path is never resolved.
//!
//! A file's descriptor can only name it (`O_PATH`), and the file is opened through the descriptor's
//! entry in `/proc`. So the opened file is the one walked to, even if another process has renamed
//! or replaced it.

use crate::attributes::AttributeChange;
use crate::name;
use crate::refusal::Refusal;
use rustix::fs::{
    self, AtFlags, CWD, FileType, Gid, Mode, OFlags, Statx, StatxFlags, Timespec, Timestamps, Uid,
};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// A client's accepted flags. The others concern waiting, or are for the server to decide.
const HEEDED: OFlags = OFlags::ACCMODE
    .union(OFlags::TRUNC)
    .union(OFlags::APPEND)
    .union(OFlags::DSYNC)
    .union(OFlags::SYNC);

/// Nothing waits, becomes a terminal, or follows a link.
const ALWAYS: OFlags = OFlags::CLOEXEC.union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

pub fn folder(path: &Path) -> std::io::Result<OwnedFd> {
    Ok(fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

pub fn below(folder: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Refusal> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(fs::openat(folder, name::checked(name)?, flags, Mode::empty())?)
}

pub fn stat(file: BorrowedFd<'_>) -> Result<Statx, Refusal> {
    Ok(fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)?)
}

pub fn kind(file: BorrowedFd<'_>) -> Result<FileType, Refusal> {
    Ok(FileType::from_raw_mode(stat(file)?.stx_mode.into()))
}

pub fn may_change(flags: u32) -> bool {
    let flags = OFlags::from_bits_retain(flags);
    flags & OFlags::ACCMODE != OFlags::RDONLY || flags.contains(OFlags::TRUNC)
}

pub fn open_folder(folder: BorrowedFd<'_>) -> Result<OwnedFd, Refusal> {
    Ok(fs::openat(
        folder,
        c".",
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

/// Opens a named file. Pipes, sockets and devices would make readers wait, or have effects.
pub fn open_file(file: BorrowedFd<'_>, flags: u32) -> Result<OwnedFd, Refusal> {
    match kind(file)? {
        FileType::RegularFile => {
            let flags = OFlags::from_bits_retain(flags) & HEEDED | ALWAYS;
            Ok(fs::open(entry(file), flags, Mode::empty())?)
        }
        FileType::Directory => Err(Refusal::FOLDER),
        FileType::Symlink => Err(Refusal::LINK),
        _ => Err(Refusal::DEVICE),
    }
}

pub fn create(
    folder: BorrowedFd<'_>,
    name: &[u8],
    flags: u32,
    mode: u32,
) -> Result<(OwnedFd, OwnedFd), Refusal> {
    let flags = OFlags::from_bits_retain(flags) & HEEDED
        | ALWAYS
        | OFlags::CREATE
        | OFlags::EXCL
        | OFlags::NOFOLLOW;
    let opened = fs::openat(folder, name::checked(name)?, flags, permissions(mode))?;
    // The name may belong to another file by now.
    let named = fs::open(entry(opened.as_fd()), OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    Ok((named, opened))
}

pub fn make_folder(folder: BorrowedFd<'_>, name: &[u8], mode: u32) -> Result<OwnedFd, Refusal> {
    fs::mkdirat(folder, name::checked(name)?, permissions(mode))?;
    // Creating a folder does not open it, so its name is looked up.
    below(folder, name)
}

pub fn remove(folder: BorrowedFd<'_>, name: &[u8], flags: u32) -> Result<(), Refusal> {
    let flags = AtFlags::from_bits_retain(flags);
    if !AtFlags::REMOVEDIR.contains(flags) {
        return Err(Refusal::INVALID);
    }
    Ok(fs::unlinkat(folder, name::checked(name)?, flags)?)
}

pub fn rename(
    from: BorrowedFd<'_>,
    old: &[u8],
    to: BorrowedFd<'_>,
    new: &[u8],
) -> Result<(), Refusal> {
    Ok(fs::renameat(from, name::checked(old)?, to, name::checked(new)?)?)
}

pub fn target(link: BorrowedFd<'_>) -> Result<Vec<u8>, Refusal> {
    Ok(fs::readlinkat(link, c"", Vec::new())?.into_bytes())
}

/// A mode's permissions, without set-user-ID and set-group-ID, with which other users would act as
/// the client.
fn permissions(mode: u32) -> Mode {
    Mode::from_raw_mode(mode & 0o1777)
}

pub fn change(
    file: BorrowedFd<'_>,
    opened: Option<BorrowedFd<'_>>,
    change: &AttributeChange,
) -> Result<(), Refusal> {
    if change.has(AttributeChange::MODE) {
        fs::chmodat(CWD, entry(file), permissions(change.mode), AtFlags::empty())?;
    }
    if change.has(AttributeChange::UID | AttributeChange::GID) {
        // The number of no user means no change.
        let uid = (change.has(AttributeChange::UID) && change.uid != u32::MAX)
            .then(|| Uid::from_raw(change.uid));
        let gid = (change.has(AttributeChange::GID) && change.gid != u32::MAX)
            .then(|| Gid::from_raw(change.gid));
        fs::chownat(CWD, entry(file), uid, gid, AtFlags::empty())?;
    }
    if change.has(AttributeChange::SIZE) {
        resize(file, opened, change.size_bytes)?;
    }
    if change.has(AttributeChange::ACCESSED | AttributeChange::MODIFIED) {
        fs::utimensat(CWD, entry(file), &times(change), AtFlags::empty())?;
    }
    Ok(())
}

fn resize(
    file: BorrowedFd<'_>,
    opened: Option<BorrowedFd<'_>>,
    size_bytes: u64,
) -> Result<(), Refusal> {
    // A file opened for writing may be truncated, whatever its permissions are now.
    if opened.is_some_and(|opened| fs::ftruncate(opened, size_bytes).is_ok()) {
        return Ok(());
    }
    Ok(fs::ftruncate(open_file(file, OFlags::WRONLY.bits())?, size_bytes)?)
}

fn times(change: &AttributeChange) -> Timestamps {
    Timestamps {
        last_access: new_time(
            change,
            AttributeChange::ACCESSED,
            AttributeChange::ACCESSED_GIVEN,
            change.accessed_s,
            change.accessed_ns,
        ),
        last_modification: new_time(
            change,
            AttributeChange::MODIFIED,
            AttributeChange::MODIFIED_GIVEN,
            change.modified_s,
            change.modified_ns,
        ),
    }
}

fn new_time(
    change: &AttributeChange,
    counts: u32,
    given: u32,
    seconds: u64,
    nanoseconds: u64,
) -> Timespec {
    if !change.has(counts) {
        return Timespec { tv_sec: 0, tv_nsec: fs::UTIME_OMIT };
    }
    if !change.has(given) {
        return Timespec { tv_sec: 0, tv_nsec: fs::UTIME_NOW };
    }
    Timespec { tv_sec: seconds.cast_signed(), tv_nsec: nanoseconds.cast_signed() }
}

/// The entry leads to the file (proc_pid_fd(5)).
fn entry(file: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}
