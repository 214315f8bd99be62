//! Operations on names.

use super::{FileClient, NOBODY, split};
use crate::request::FileRequest;
use std::io::{self, Read, Write};

impl<S: Read + Write> FileClient<S> {
    /// Creates a folder.
    ///
    /// # Errors
    /// The server's error.
    pub fn make_folder(&mut self, path: &str) -> io::Result<()> {
        let (folder, name) = split(path);
        self.within(folder, |fid| FileRequest::Folder {
            fid,
            name: name.as_bytes(),
            mode: 0o755,
            gid: NOBODY,
        })
    }

    /// Removes a file.
    ///
    /// # Errors
    /// The server's error.
    pub fn remove(&mut self, path: &str) -> io::Result<()> {
        let (folder, name) = split(path);
        self.within(folder, |fid| FileRequest::Remove { fid, name: name.as_bytes(), flags: 0 })
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// The server's error.
    pub fn remove_folder(&mut self, path: &str) -> io::Result<()> {
        let (folder, name) = split(path);
        let flags = libc::AT_REMOVEDIR.cast_unsigned();
        self.within(folder, |fid| FileRequest::Remove { fid, name: name.as_bytes(), flags })
    }

    /// Renames or moves a file.
    ///
    /// # Errors
    /// The server's error.
    pub fn rename(&mut self, old: &str, new: &str) -> io::Result<()> {
        let (folder, old) = split(old);
        let (into, new) = split(new);
        let to = self.walk(into)?;
        let old = old.as_bytes();
        let new = new.as_bytes();
        let renamed = self.within(folder, |from| FileRequest::Rename { from, old, to, new });
        self.forget(to)?;
        renamed
    }

    fn within<'a>(
        &mut self,
        folder: &str,
        request: impl FnOnce(u32) -> FileRequest<'a>,
    ) -> io::Result<()> {
        let fid = self.walk(folder)?;
        let outcome = self.ask(&request(fid)).map(|_| ());
        self.forget(fid)?;
        outcome
    }
}
