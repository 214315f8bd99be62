//! The space of a file system.

use crate::wire::structure;
use rustix::fs::StatFs;

/// A file system's space, as in statfs(2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names and meanings are those of statfs(2)")]
pub struct Space {
    pub kind: u32,
    pub block_bytes: u32,
    pub blocks: u64,
    pub blocks_free: u64,
    pub blocks_available: u64,
    pub files: u64,
    pub files_free: u64,
    pub id: u64,
    pub longest_name_bytes: u32,
}

structure!(Space {
    kind,
    block_bytes,
    blocks,
    blocks_free,
    blocks_available,
    files,
    files_free,
    id,
    longest_name_bytes
});

impl From<&StatFs> for Space {
    fn from(stat: &StatFs) -> Self {
        Space {
            kind: stat.f_type as u32,
            block_bytes: stat.f_bsize as u32,
            blocks: stat.f_blocks,
            blocks_free: stat.f_bfree,
            blocks_available: stat.f_bavail,
            files: stat.f_files,
            files_free: stat.f_ffree,
            id: 0,
            longest_name_bytes: stat.f_namelen as u32,
        }
    }
}
