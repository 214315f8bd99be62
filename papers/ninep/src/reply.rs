//! A server's replies: the R-messages of 9P2000.L.

use crate::attributes::FileAttributes;
use crate::qid::Qid;
use crate::space::Space;
use crate::wire::{Data, messages};

messages! {
    /// A server's reply.
    Reply {
        /// The request failed.
        Error = 7 {
            /// The reason: a number of errno(3).
            code: u32
        }
        /// The file system's space.
        Statfs = 9 {
            /// The figures.
            space: Space
        }
        /// The file is open.
        Open = 13 {
            /// The file.
            qid: Qid,
            /// The most bytes of a read or write; 0: as many as fit into a message.
            unit_bytes: u32
        }
        /// The file is created and open.
        Create = 15 {
            /// The file.
            qid: Qid,
            /// As in `Open`.
            unit_bytes: u32
        }
        /// The link's target.
        Readlink = 23 {
            /// The path in the link.
            target: &'a [u8]
        }
        /// The file's attributes.
        Attributes = 25 {
            /// The attributes in this reply.
            valid: u64,
            /// The file.
            qid: Qid,
            /// The attributes.
            attributes: FileAttributes
        }
        /// The change was made.
        Change = 27 {}
        /// The folder's entries.
        List = 41 {
            /// Entries, for [`crate::entry::FolderEntries`].
            entries: Data<'a>
        }
        /// The file is on disk.
        Sync = 51 {}
        /// The folder was created.
        Folder = 73 {
            /// The folder.
            qid: Qid
        }
        /// The file was renamed.
        Rename = 75 {}
        /// The file was removed.
        Remove = 77 {}
        /// The protocol's agreed version.
        Version = 101 {
            /// The longest message, in bytes.
            size_bytes: u32,
            /// `9P2000.L`, or `unknown`.
            version: &'a [u8]
        }
        /// The client is attached.
        Attach = 105 {
            /// The root.
            qid: Qid
        }
        /// The earlier request has ended.
        Flush = 109 {}
        /// The walk's files.
        Walk = 111 {
            /// The qids of the files found.
            qids: Vec<Qid>
        }
        /// The data was read.
        Read = 117 {
            /// The data; empty at the file's end.
            data: Data<'a>
        }
        /// The data was written.
        Write = 119 {
            /// Bytes.
            count: u32
        }
        /// The fid was dropped.
        Clunk = 121 {}
    }
}
