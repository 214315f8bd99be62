//! The file of a rank: a line of JSON about the rank, one for each sum, and `{"end":true}`.

use super::book::{Book, Communicator, book};
use super::call::MpiCall;
use super::process::{began_ns, rank_and_size, used_ns};
use super::system::{self, REALTIME, clock_ns};
use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use core::fmt::{self, Write};

/// The file's format; the crate's module `trace` reads it.
const FORMAT: &str = "seatmap-trace/1";

/// The most files with one name: more than the processes with one PID in a job of containers.
const NAMESAKES: u32 = 1 << 16;

/// Writes the file, if `SEATMAP_TRACE` names a folder. A failure cannot be reported to the program.
pub fn write() {
    let Some(folder) = system::variable(c"SEATMAP_TRACE") else { return };
    let mut text = String::new();
    if all(&mut text, &book()).is_err() {
        return;
    }
    let rank = rank_and_size().0;
    let name = format!("/rank-{rank}-{}", system::process());
    for number in 0..NAMESAKES {
        let number = if number > 0 { format!("-{number}") } else { String::new() };
        let path = [folder.to_bytes(), name.as_bytes(), number.as_bytes(), b".jsonl"].concat();
        let Ok(path) = CString::new(path) else { return };
        if system::write_new(&path, text.as_bytes()) {
            return;
        }
    }
}

fn all(text: &mut String, book: &Book) -> fmt::Result {
    head(text)?;
    for communicator in &book.communicators {
        for call in MpiCall::ALL {
            sums(text, communicator, *call)?;
        }
    }
    for (call, times) in &book.unseen {
        writeln!(text, "{{\"unseen\":\"{call}\",\"times\":{times}}}")?;
    }
    text.write_str("{\"end\":true}\n")
}

fn head(text: &mut String) -> fmt::Result {
    let (rank, size) = rank_and_size();
    let pid = system::process();
    let tid = system::thread();
    write!(
        text,
        "{{\"format\":\"{FORMAT}\",\"kind\":\"rank\",\"rank\":{rank},\"ranks\":{size},\
         \"pid\":{pid},"
    )?;
    let from = began_ns();
    let to = clock_ns(REALTIME);
    let cpu = used_ns();
    writeln!(text, "\"tid\":{tid},\"from_ns\":{from},\"to_ns\":{to},\"cpu_ns\":{cpu}}}")
}

fn sums(text: &mut String, communicator: &Communicator, call: MpiCall) -> fmt::Result {
    for (sum, peer) in communicator.sums[call as usize].iter().zip(&communicator.world) {
        if sum.messages > 0 {
            let name = call.name();
            write!(text, "{{\"call\":\"{name}\",\"peer\":{peer},\"messages\":{},", sum.messages)?;
            write!(text, "\"bytes\":{},\"communicator\":", sum.bytes)?;
            quoted(text, &communicator.name)?;
            text.write_str("}\n")?;
        }
    }
    Ok(())
}

/// Control characters become `?`.
fn quoted(text: &mut String, name: &str) -> fmt::Result {
    text.write_char('"')?;
    for letter in name.chars() {
        if matches!(letter, '"' | '\\') {
            text.write_char('\\')?;
        }
        text.write_char(if letter.is_control() { '?' } else { letter })?;
    }
    text.write_char('"')
}
