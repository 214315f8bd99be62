//! Files and a console for a program that may open none.

use crate::failure::WorkerCallFailure;
use crate::status::WorkerStatus;
use seatmap_c_abi::{Boundary, take_back};
use seatmap_ninep::client::{InheritedClient, OpenFile, OpenMode};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::os::fd::FromRawFd;

/// A connection to a process outside the cell, which reads and writes files and a console.
pub struct FileChannel {
    client: InheritedClient,
    files: Vec<Option<OpenFile>>,
}

/// How a file is opened.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Read an existing file.
    Read = 0,
    /// Write an existing file, or the console.
    Write = 1,
    /// Create or empty a file, to write and read it.
    Create = 2,
}

/// Takes over the connection made by `seatmap-papers controller start`: `descriptor` is the value
/// of SEATMAP_9P_FD.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_channel_create(
    descriptor: c_int,
    channel: *mut *mut FileChannel,
) -> WorkerStatus {
    let make = || {
        if descriptor < 0 {
            return Err(WorkerCallFailure::argument(format!("{descriptor} is not a descriptor")));
        }
        // SAFETY: the caller keeps the rules of the header: no other code uses it from here on.
        let stream = unsafe { std::fs::File::from_raw_fd(descriptor) };
        Ok(FileChannel {
            client: InheritedClient::new(stream).map_err(WorkerCallFailure::Channel)?,
            files: Vec::new(),
        })
    };
    // SAFETY: the caller keeps the rules of the header.
    unsafe { WorkerCallFailure::give(channel, "channel", make) }
}

/// Ends the connection; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_channel_destroy(channel: *mut FileChannel) {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { take_back(channel) }
}

/// Opens a file by its path from the root, such as "files/out/result.txt", "console" or "input";
/// `opening` is a seatmap_opening.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_channel_open(
    channel: *mut FileChannel,
    path: *const c_char,
    opening: c_int,
    file: *mut u32,
) -> WorkerStatus {
    WorkerCallFailure::call(|| {
        // SAFETY: the caller keeps the rules of the header, for all three.
        let (channel, path, number) = unsafe {
            (
                WorkerCallFailure::changed(channel, "channel")?,
                WorkerCallFailure::known(path, "path")?,
                WorkerCallFailure::changed(file, "file")?,
            )
        };
        // SAFETY: as above; the text ends with a zero byte.
        let path = unsafe { CStr::from_ptr(path) }.to_str();
        let path = path.map_err(|_| WorkerCallFailure::argument("path is not UTF-8".to_owned()))?;
        let opened = match opening {
            0 => channel.client.open(path, OpenMode::Read),
            1 => channel.client.open(path, OpenMode::Write),
            2 => channel.client.create(path),
            other => {
                return Err(WorkerCallFailure::argument(format!(
                    "{other} is not a seatmap_opening"
                )));
            }
        };
        *number = channel.put(opened.map_err(WorkerCallFailure::Channel)?);
        Ok(())
    })
}

/// Closes a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_channel_close(
    channel: *mut FileChannel,
    file: u32,
) -> WorkerStatus {
    WorkerCallFailure::call(|| {
        // SAFETY: the caller keeps the rules of the header.
        let channel = unsafe { WorkerCallFailure::changed(channel, "channel") }?;
        let closed = channel
            .files
            .get_mut(file as usize)
            .and_then(Option::take)
            .ok_or_else(|| unknown(file))?;
        channel.client.close(closed).map_err(WorkerCallFailure::Channel)
    })
}

/// Reads from an offset, at most 128 KiB at once. `done` receives the number of bytes, 0 at the end
/// of the file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_channel_read(
    channel: *mut FileChannel,
    file: u32,
    offset: u64,
    to: *mut c_void,
    bytes: usize,
    done: *mut usize,
) -> WorkerStatus {
    WorkerCallFailure::call(|| {
        let count = WorkerCallFailure::counted(to.cast::<u8>(), bytes, "to")?;
        // SAFETY: the caller keeps the rules of the header.
        let (channel, done) = unsafe {
            (
                WorkerCallFailure::changed(channel, "channel")?,
                WorkerCallFailure::changed(done, "done")?,
            )
        };
        let to = match count {
            0 => &mut [][..],
            // SAFETY: as above; it is not NULL, holds `count` bytes, and nothing else uses them
            // meanwhile.
            count => unsafe { std::slice::from_raw_parts_mut(to.cast::<u8>(), count) },
        };
        let (client, file) = channel.known(file)?;
        *done = client.read(file, offset, to).map_err(WorkerCallFailure::Channel)?;
        Ok(())
    })
}

/// Writes all bytes at an offset.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_channel_write(
    channel: *mut FileChannel,
    file: u32,
    offset: u64,
    from: *const c_void,
    bytes: usize,
) -> WorkerStatus {
    WorkerCallFailure::call(|| {
        let count = WorkerCallFailure::counted(from.cast::<u8>(), bytes, "from")?;
        // SAFETY: the caller keeps the rules of the header.
        let channel = unsafe { WorkerCallFailure::changed(channel, "channel") }?;
        let from = match count {
            0 => &[][..],
            // SAFETY: as above: it is not NULL and holds `count` bytes.
            count => unsafe { std::slice::from_raw_parts(from.cast::<u8>(), count) },
        };
        let (client, file) = channel.known(file)?;
        client.write_all(file, offset, from).map_err(WorkerCallFailure::Channel)
    })
}

/// Gives up, for good, all rights of this process except to compute, start threads, read the clock,
/// and read and write open files.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_fence_close() -> WorkerStatus {
    WorkerCallFailure::call(|| {
        let fence = seatmap_ninep::Fence::new().map_err(WorkerCallFailure::Channel)?;
        fence.close().map_err(|error| WorkerCallFailure::Fence(error.to_string()))
    })
}

impl FileChannel {
    fn put(&mut self, file: OpenFile) -> u32 {
        let free = self.files.iter().position(Option::is_none).unwrap_or(self.files.len());
        match self.files.get_mut(free) {
            Some(place) => *place = Some(file),
            None => self.files.push(Some(file)),
        }
        free as u32
    }

    fn known(&mut self, file: u32) -> Result<(&mut InheritedClient, &OpenFile), WorkerCallFailure> {
        let found = self.files.get(file as usize).and_then(Option::as_ref);
        found.map(|found| (&mut self.client, found)).ok_or_else(|| unknown(file))
    }
}

fn unknown(file: u32) -> WorkerCallFailure {
    WorkerCallFailure::argument(format!("no open file has the number {file}"))
}
