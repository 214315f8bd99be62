//! A client's requests: the T-messages of 9P2000.L that are known here.
//!
//! Numbers and layouts are those of Linux's `include/net/9p/9p.h` and `net/9p/client.c`. Requests
//! that are missing here (locks, extended attributes, links, devices, authentication) are answered
//! with `EOPNOTSUPP`, which Linux's client understands.

use crate::attributes::AttributeChange;
use crate::wire::{Data, messages};

messages! {
    /// A client's request. A *fid* is a number by which it calls a file that it has walked to.
    FileRequest {
        /// Ask for the space of the file system, used and free.
        Statfs = 8 {
            /// The file.
            fid: u32
        }
        /// Open a file.
        Open = 12 {
            /// The file.
            fid: u32,
            /// Flags of open(2), by Linux's own numbers on most machines.
            flags: u32
        }
        /// Make a file in a folder, and open it.
        Create = 14 {
            /// The folder; from then on, the file.
            fid: u32,
            /// Its name.
            name: &'a [u8],
            /// As in `Open`.
            flags: u32,
            /// Its permissions.
            mode: u32,
            /// Its group, which is not heeded: it has the user's.
            gid: u32
        }
        /// Ask for the target of a symbolic link.
        Readlink = 22 {
            /// The link.
            fid: u32
        }
        /// Asks for the attributes of a file.
        Attributes = 24 {
            /// The file.
            fid: u32,
            /// The attributes that are wanted; all are told.
            mask: u64
        }
        /// Change a file's attributes.
        Change = 26 {
            /// The file.
            fid: u32,
            /// The change to make.
            change: AttributeChange
        }
        /// Asks for the entries of a folder.
        List = 40 {
            /// The folder, opened.
            fid: u32,
            /// 0, or the offset of the last entry that is known.
            offset: u64,
            /// The most bytes to list.
            count: u32
        }
        /// Have what was written put on disk.
        Sync = 50 {
            /// The file, opened.
            fid: u32,
            /// Whether its attributes may stay behind.
            only_data: u32
        }
        /// Make a folder.
        Folder = 72 {
            /// The folder above.
            fid: u32,
            /// Its name.
            name: &'a [u8],
            /// Its permissions.
            mode: u32,
            /// Its group, which is not heeded.
            gid: u32
        }
        /// Give a file another name.
        Rename = 74 {
            /// The folder it is in.
            from: u32,
            /// Its name there.
            old: &'a [u8],
            /// The folder it comes into.
            to: u32,
            /// Its name there.
            new: &'a [u8]
        }
        /// Remove a file, or an empty folder.
        Remove = 76 {
            /// The folder it is in.
            fid: u32,
            /// Its name.
            name: &'a [u8],
            /// `AT_REMOVEDIR` (0x200) where it is a folder.
            flags: u32
        }
        /// Agree on the protocol, and forget all that was before.
        Version = 100 {
            /// The longest message, in bytes.
            size_bytes: u32,
            /// `9P2000.L`.
            version: &'a [u8]
        }
        /// Get a fid for the root.
        Attach = 104 {
            /// The number it gets.
            fid: u32,
            /// Ignored: no user authenticates by words here.
            auth: u32,
            /// Ignored, for the same reason.
            user: &'a [u8],
            /// Empty or `/`: there is one tree.
            tree: &'a [u8],
            /// For whom, or 2^32 - 1 where that is not said.
            uid: u32
        }
        /// Do not answer an earlier request.
        Flush = 108 {
            /// The tag of the request.
            tag: u16
        }
        /// Get a fid for a file below another, or for the same.
        Walk = 110 {
            /// The fid of the file to begin at.
            fid: u32,
            /// The number it gets.
            new: u32,
            /// The way, one name each.
            names: Vec<&'a [u8]>
        }
        /// Read from a file.
        Read = 116 {
            /// The file, opened.
            fid: u32,
            /// The offset to read from.
            offset: u64,
            /// The most bytes to read.
            count: u32
        }
        /// Write to a file.
        Write = 118 {
            /// The file, opened.
            fid: u32,
            /// The offset to write to.
            offset: u64,
            /// The data to write.
            data: Data<'a>
        }
        /// Drop a fid.
        Clunk = 120 {
            /// The fid.
            fid: u32
        }
    }
}
