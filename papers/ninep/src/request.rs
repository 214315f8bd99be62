//! A client's requests: the known T-messages of 9P2000.L.
//!
//! Numbers and layouts are those of Linux's `include/net/9p/9p.h` and `net/9p/client.c`. Others
//! (locks, extended attributes, links, devices, authentication) get `EOPNOTSUPP`, which Linux's
//! client understands.

use crate::attributes::AttributeChange;
use crate::wire::{Data, messages};

messages! {
    /// A client's request. A *fid* is the client's number of a file.
    FileRequest {
        /// Get the file system's space.
        Statfs = 8 {
            /// The file.
            fid: u32
        }
        /// Open a file.
        Open = 12 {
            /// The file.
            fid: u32,
            /// Flags of open(2), with Linux's numbers on most machines.
            flags: u32
        }
        /// Create a file in a folder, and open it.
        Create = 14 {
            /// The folder; afterwards the file.
            fid: u32,
            /// Its name.
            name: &'a [u8],
            /// As in `Open`.
            flags: u32,
            /// Its permissions.
            mode: u32,
            /// Its group, ignored: it gets the user's.
            gid: u32
        }
        /// Get a symbolic link's target.
        Readlink = 22 {
            /// The link.
            fid: u32
        }
        /// Get a file's attributes.
        Attributes = 24 {
            /// The file.
            fid: u32,
            /// The requested attributes; the reply has all.
            mask: u64
        }
        /// Change a file's attributes.
        Change = 26 {
            /// The file.
            fid: u32,
            /// The change.
            change: AttributeChange
        }
        /// Get a folder's entries.
        List = 40 {
            /// The open folder.
            fid: u32,
            /// 0, or the offset of the last known entry.
            offset: u64,
            /// The most bytes to list.
            count: u32
        }
        /// Write a file's data to disk.
        Sync = 50 {
            /// The open file.
            fid: u32,
            /// Whether its attributes may be left out.
            only_data: u32
        }
        /// Create a folder.
        Folder = 72 {
            /// The parent folder.
            fid: u32,
            /// Its name.
            name: &'a [u8],
            /// Its permissions.
            mode: u32,
            /// Its group, ignored.
            gid: u32
        }
        /// Rename or move a file.
        Rename = 74 {
            /// Its folder.
            from: u32,
            /// Its name there.
            old: &'a [u8],
            /// The new folder.
            to: u32,
            /// The new name.
            new: &'a [u8]
        }
        /// Remove a file, or an empty folder.
        Remove = 76 {
            /// Its folder.
            fid: u32,
            /// Its name.
            name: &'a [u8],
            /// `AT_REMOVEDIR` (0x200) if it is a folder.
            flags: u32
        }
        /// Agree on the protocol, and reset the session.
        Version = 100 {
            /// The longest message, in bytes.
            size_bytes: u32,
            /// `9P2000.L`.
            version: &'a [u8]
        }
        /// Get a fid for the root.
        Attach = 104 {
            /// Its number.
            fid: u32,
            /// Ignored, because there is no authentication.
            auth: u32,
            /// Ignored, because there is no authentication.
            user: &'a [u8],
            /// Empty or `/`: there is one tree.
            tree: &'a [u8],
            /// The user, or 2^32 - 1 if unspecified.
            uid: u32
        }
        /// Do not answer an earlier request.
        Flush = 108 {
            /// The request's tag.
            tag: u16
        }
        /// Get a fid for a file below another, or for the same file.
        Walk = 110 {
            /// The first file's fid.
            fid: u32,
            /// Its number.
            new: u32,
            /// The names on the way.
            names: Vec<&'a [u8]>
        }
        /// Read from a file.
        Read = 116 {
            /// The open file.
            fid: u32,
            /// The offset to read from.
            offset: u64,
            /// The most bytes to read.
            count: u32
        }
        /// Write to a file.
        Write = 118 {
            /// The open file.
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
