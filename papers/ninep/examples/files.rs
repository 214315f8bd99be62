//! A program without I/O rights writes by the channel that it was started with.

use seatmap_ninep::client::InheritedClient;
use seatmap_ninep::{Fence, OpenMode};
use std::io;

fn main() -> io::Result<()> {
    // SAFETY: nobody else takes the descriptor.
    let channel = unsafe { InheritedClient::inherited() }?;
    let mut channel = channel.ok_or_else(|| {
        io::Error::other("start it by 'seatmap-papers controller start --channel'")
    })?;
    // From here on this process opens nothing.
    Fence::new()?.close().map_err(io::Error::other)?;
    let file = channel.create("files/result.txt")?;
    channel.write_all(&file, 0, b"42\n")?;
    channel.close(file)?;
    let console = channel.open("console", OpenMode::Write)?;
    channel.write_all(&console, 0, b"done\n")
}
