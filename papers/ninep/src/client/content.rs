//! The content of files.

use super::{FileClient, OpenFile, OpenMode, nonsense};
use crate::attributes::{AttributeChange, BASIC, FileAttributes};
use crate::entry::FolderEntries;
use crate::frame::AROUND_DATA_BYTES;
use crate::reply::Reply;
use crate::request::FileRequest;
use crate::wire::Data;
use std::io::{self, ErrorKind, Read, Write};

impl<S: Read + Write> FileClient<S> {
    /// Reads from an offset. Returns the number of bytes, 0 at the file's end.
    ///
    /// # Errors
    /// The server's error.
    pub fn read(&mut self, file: &OpenFile, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let count = into.len().min(self.unit_bytes());
        match self.ask(&FileRequest::Read { fid: file.0, offset, count: count as u32 })? {
            Reply::Read { data: Data(data) } if data.len() <= count => {
                into.get_mut(..data.len()).into_iter().for_each(|into| into.copy_from_slice(data));
                Ok(data.len())
            }
            _ => Err(nonsense()),
        }
    }

    /// Writes at an offset. Returns the number of bytes.
    ///
    /// # Errors
    /// The server's error.
    pub fn write(&mut self, file: &OpenFile, offset: u64, data: &[u8]) -> io::Result<usize> {
        let count = data.len().min(self.unit_bytes());
        let data = Data(data.get(..count).unwrap_or_default());
        match self.ask(&FileRequest::Write { fid: file.0, offset, data })? {
            Reply::Write { count: written } if written as usize <= count => Ok(written as usize),
            _ => Err(nonsense()),
        }
    }

    /// Writes all data.
    ///
    /// # Errors
    /// The server's error, or that it writes no more.
    pub fn write_all(
        &mut self,
        file: &OpenFile,
        mut offset: u64,
        mut data: &[u8],
    ) -> io::Result<()> {
        while !data.is_empty() {
            let count = self.write(file, offset, data)?;
            if count == 0 {
                return Err(ErrorKind::WriteZero.into());
            }
            (offset, data) = (offset + count as u64, data.get(count..).unwrap_or_default());
        }
        Ok(())
    }

    /// Writes the file's data to disk.
    ///
    /// # Errors
    /// The server's error.
    pub fn sync(&mut self, file: &OpenFile) -> io::Result<()> {
        self.ask(&FileRequest::Sync { fid: file.0, only_data: 0 }).map(|_| ())
    }

    /// Changes a file's length.
    ///
    /// # Errors
    /// The server's error.
    pub fn resize(&mut self, file: &OpenFile, size_bytes: u64) -> io::Result<()> {
        self.ask(&FileRequest::Change { fid: file.0, change: AttributeChange::to_size(size_bytes) })
            .map(|_| ())
    }

    /// A file's attributes.
    ///
    /// # Errors
    /// The server's error.
    pub fn attributes(&mut self, path: &str) -> io::Result<FileAttributes> {
        let fid = self.walk(path)?;
        let attributes = match self.ask(&FileRequest::Attributes { fid, mask: BASIC }) {
            Ok(Reply::Attributes { attributes, .. }) => Ok(attributes),
            Ok(_) => Err(nonsense()),
            Err(error) => Err(error),
        };
        self.forget(fid)?;
        attributes
    }

    /// The names in a folder, without `.` and `..`, in the server's order.
    ///
    /// # Errors
    /// The server's error.
    pub fn list(&mut self, path: &str) -> io::Result<Vec<Vec<u8>>> {
        let folder = self.open(path, OpenMode::Read)?;
        let mut names = Vec::new();
        let mut offset = 0;
        let listed = loop {
            match self.list_from(folder.0, offset, &mut names) {
                // Otherwise a server that repeats an offset would make this endless.
                Ok(Some(last)) if last != offset => offset = last,
                Ok(_) => break Ok(names),
                Err(error) => break Err(error),
            }
        };
        self.close(folder)?;
        listed
    }

    /// Returns the last entry's offset, if any.
    fn list_from(
        &mut self,
        fid: u32,
        offset: u64,
        names: &mut Vec<Vec<u8>>,
    ) -> io::Result<Option<u64>> {
        let count = self.agreed_bytes - AROUND_DATA_BYTES;
        let Reply::List { entries: Data(entries) } =
            self.ask(&FileRequest::List { fid, offset, count })?
        else {
            return Err(nonsense());
        };
        let mut last = None;
        for entry in FolderEntries(entries) {
            let entry = entry.map_err(|_| nonsense())?;
            last = Some(entry.offset);
            if !matches!(entry.name, b"." | b"..") {
                names.push(entry.name.to_vec());
            }
        }
        Ok(last)
    }
}
