//! The identity of a file for a client.

use crate::wire::structure;
use rustix::fs::{FileType, Statx, makedev};

/// `QTDIR` of the protocol: a folder.
pub const FOLDER: u8 = 0x80;

/// `QTSYMLINK`: a symbolic link.
pub const LINK: u8 = 0x02;

/// A file's identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Qid {
    /// [`FOLDER`], [`LINK`], or 0 for others.
    pub kind: u8,
    /// It changes with the content.
    pub version: u32,
    /// The file's number, unique in the server.
    pub path: u64,
}

structure!(Qid { kind, version, path });

impl Qid {
    /// The length in a message, in bytes.
    pub const SIZE_BYTES: usize = 13;

    /// The qid of a file of the host.
    pub fn of(stat: &Statx) -> Self {
        // Changes within one clock step may differ in length.
        let version =
            (stat.stx_mtime.tv_sec as u32) ^ stat.stx_mtime.tv_nsec ^ (stat.stx_size as u32);
        let kind = kind(FileType::from_raw_mode(stat.stx_mode.into()));
        Qid { kind, version, path: path(device(stat), stat.stx_ino) }
    }
}

pub(crate) fn kind(of: FileType) -> u8 {
    match of {
        FileType::Directory => FOLDER,
        FileType::Symlink => LINK,
        _ => 0,
    }
}

pub(crate) fn device(stat: &Statx) -> u64 {
    makedev(stat.stx_dev_major, stat.stx_dev_minor)
}

/// A file's number for a client. Inode numbers are unique only in a file system, and an export may
/// contain several.
pub(crate) fn path(device: u64, inode: u64) -> u64 {
    inode ^ device.rotate_right(16)
}
