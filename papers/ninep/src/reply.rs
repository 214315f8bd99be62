//! A server's answers: the R-messages of 9P2000.L.

use crate::attributes::FileAttributes;
use crate::qid::Qid;
use crate::space::Space;
use crate::wire::{Data, messages};

messages! {
    /// A server's answer.
    Reply {
        /// It could not be done.
        Error = 7 {
            /// Why: a number of errno(3).
            code: u32
        }
        /// The space of the file system, used and free.
        Statfs = 9 {
            /// The figures.
            space: Space
        }
        /// The file is open.
        Open = 13 {
            /// The file.
            qid: Qid,
            /// The most that is read or written at once; 0 is as much as fits into a message.
            unit_bytes: u32
        }
        /// The file is made and open.
        Create = 15 {
            /// The file.
            qid: Qid,
            /// As in `Open`.
            unit_bytes: u32
        }
        /// The target of the link.
        Readlink = 23 {
            /// The path in the link.
            target: &'a [u8]
        }
        /// The attributes of the file.
        Attributes = 25 {
            /// The attributes that are told.
            valid: u64,
            /// The file.
            qid: Qid,
            /// The attributes.
            attributes: FileAttributes
        }
        /// The change is made.
        Change = 27 {}
        /// The entries of the folder.
        List = 41 {
            /// Entries; [`crate::entry::FolderEntries`] reads them.
            entries: Data<'a>
        }
        /// The file is on disk.
        Sync = 51 {}
        /// The folder is made.
        Folder = 73 {
            /// The folder.
            qid: Qid
        }
        /// The file is renamed.
        Rename = 75 {}
        /// The file is removed.
        Remove = 77 {}
        /// The protocol's version is agreed.
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
        /// The earlier request is not under way any more.
        Flush = 109 {}
        /// The files on the way.
        Walk = 111 {
            /// The qids of the files that were found.
            qids: Vec<Qid>
        }
        /// The data was read.
        Read = 117 {
            /// The data that was read; empty at the end of the file.
            data: Data<'a>
        }
        /// The data was written.
        Write = 119 {
            /// The number of bytes.
            count: u32
        }
        /// The fid was dropped.
        Clunk = 121 {}
    }
}
