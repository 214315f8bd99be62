//! Answers of a 9P server: its client ends in an error or a result.
#![no_main]

use seatmap_ninep::FileClient;
use std::io::{self, Read, Write};

/// Answers that were there before anybody asked.
struct Answers<'a>(&'a [u8]);

impl Read for Answers<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

impl Write for Answers<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = talk(bytes);
});

fn talk(bytes: &[u8]) -> io::Result<()> {
    let mut client = FileClient::new(Answers(bytes))?;
    let _ = client.list("files");
    let _ = client.attributes("files/a");
    let _ = client.rename("files/a", "files/b");
    let file = client.create("files/a/b")?;
    client.read(&file, 0, &mut [0; 9000])?;
    client.write_all(&file, 0, &[1; 9000])?;
    client.post(&file, 0, &[1; 9000])?;
    client.settle()?;
    client.close(file)
}
