//! The attributes of a file, and their changes.

use crate::wire::structure;
use rustix::fs::{Statx, makedev};

/// `P9_GETATTR_BASIC` of `include/net/9p/9p.h`: all attributes of stat(2).
pub const BASIC: u64 = 0x7ff;

/// A file's attributes, as in stat(2): times in seconds since 1970, with separate nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names and meanings are those of stat(2)")]
pub struct FileAttributes {
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub links: u64,
    pub device: u64,
    pub size_bytes: u64,
    pub block_bytes: u64,
    /// Its size in blocks of 512 bytes.
    pub blocks: u64,
    pub accessed_s: u64,
    pub accessed_ns: u64,
    pub modified_s: u64,
    pub modified_ns: u64,
    pub changed_s: u64,
    pub changed_ns: u64,
    pub born_s: u64,
    pub born_ns: u64,
    pub generation: u64,
    pub data_version: u64,
}

structure!(FileAttributes {
    mode,
    uid,
    gid,
    links,
    device,
    size_bytes,
    block_bytes,
    blocks,
    accessed_s,
    accessed_ns,
    modified_s,
    modified_ns,
    changed_s,
    changed_ns,
    born_s,
    born_ns,
    generation,
    data_version
});

impl From<&Statx> for FileAttributes {
    fn from(stat: &Statx) -> Self {
        FileAttributes {
            mode: stat.stx_mode.into(),
            uid: stat.stx_uid,
            gid: stat.stx_gid,
            links: stat.stx_nlink.into(),
            device: makedev(stat.stx_rdev_major, stat.stx_rdev_minor),
            size_bytes: stat.stx_size,
            block_bytes: stat.stx_blksize.into(),
            blocks: stat.stx_blocks,
            accessed_s: stat.stx_atime.tv_sec.cast_unsigned(),
            accessed_ns: stat.stx_atime.tv_nsec.into(),
            modified_s: stat.stx_mtime.tv_sec.cast_unsigned(),
            modified_ns: stat.stx_mtime.tv_nsec.into(),
            changed_s: stat.stx_ctime.tv_sec.cast_unsigned(),
            changed_ns: stat.stx_ctime.tv_nsec.into(),
            ..FileAttributes::default()
        }
    }
}

/// A change of those attributes that `valid` selects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttributeChange {
    /// The selected attributes: bits of this type.
    pub valid: u32,
    /// The new permissions.
    pub mode: u32,
    /// The new owner.
    pub uid: u32,
    /// The new group.
    pub gid: u32,
    /// The new length.
    pub size_bytes: u64,
    /// The last read's time, in seconds since 1970.
    pub accessed_s: u64,
    /// Its nanoseconds.
    pub accessed_ns: u64,
    /// The last write's time, in seconds since 1970.
    pub modified_s: u64,
    /// Its nanoseconds.
    pub modified_ns: u64,
}

structure!(AttributeChange {
    valid,
    mode,
    uid,
    gid,
    size_bytes,
    accessed_s,
    accessed_ns,
    modified_s,
    modified_ns
});

/// Bits of [`AttributeChange::valid`], the `P9_SETATTR_*` of `include/net/9p/9p.h`.
impl AttributeChange {
    /// Selects the permissions.
    pub const MODE: u32 = 1;
    /// Selects the owner.
    pub const UID: u32 = 1 << 1;
    /// Selects the group.
    pub const GID: u32 = 1 << 2;
    /// Selects the length.
    pub const SIZE: u32 = 1 << 3;
    /// Selects the time of reading: now, or the given one.
    pub const ACCESSED: u32 = 1 << 4;
    /// Selects the time of writing: now, or the given one.
    pub const MODIFIED: u32 = 1 << 5;
    /// The time of reading is given.
    pub const ACCESSED_GIVEN: u32 = 1 << 7;
    /// The time of writing is given.
    pub const MODIFIED_GIVEN: u32 = 1 << 8;

    /// A change of only the length.
    pub fn to_size(size_bytes: u64) -> Self {
        AttributeChange { valid: AttributeChange::SIZE, size_bytes, ..AttributeChange::default() }
    }

    /// Whether a bit is set.
    pub fn has(&self, bit: u32) -> bool {
        self.valid & bit != 0
    }
}
