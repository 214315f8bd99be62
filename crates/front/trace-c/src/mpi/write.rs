//! The file of a rank: a line of JSON about the rank, one for each sum, and `{"end":true}`.

use super::book::{Book, Communicator, book};
use super::call::Call;
use super::process::{began_ns, rank_and_size, used_ns};
use crate::output::{self, FORMAT};
use crate::text::Text;
use crate::threads::cpu_ns;
use std::fmt::{self, Write};

/// Writes the file, if `SEATMAP_TRACE` names a folder. Nothing can be told to the program if that
/// fails.
pub fn write() {
    let (rank, _) = rank_and_size();
    if let Some(mut text) = output::file(format_args!("rank-{rank}-{}", std::process::id())) {
        let _ = all(&mut text, &book());
    }
}

fn all(text: &mut Text, book: &Book) -> fmt::Result {
    head(text)?;
    for communicator in &book.communicators {
        for call in Call::ALL {
            sums(text, communicator, *call)?;
        }
    }
    for (call, times) in &book.unseen {
        writeln!(text, "{{\"unseen\":\"{call}\",\"times\":{times}}}")?;
    }
    text.write_str("{\"end\":true}\n")
}

fn head(text: &mut Text) -> fmt::Result {
    let (rank, size) = rank_and_size();
    let pid = std::process::id();
    // SAFETY: the call has no preconditions.
    let tid = unsafe { libc::gettid() };
    write!(
        text,
        "{{\"format\":\"{FORMAT}\",\"kind\":\"rank\",\"rank\":{rank},\"ranks\":{size},\"pid\":{pid},"
    )?;
    let from = began_ns();
    let to = cpu_ns(libc::CLOCK_REALTIME);
    let cpu = used_ns();
    writeln!(text, "\"tid\":{tid},\"from_ns\":{from},\"to_ns\":{to},\"cpu_ns\":{cpu}}}")
}

fn sums(text: &mut Text, communicator: &Communicator, call: Call) -> fmt::Result {
    for (sum, peer) in communicator.sums[call as usize].iter().zip(&communicator.world) {
        if sum.messages > 0 {
            let name = call.name();
            write!(text, "{{\"call\":\"{name}\",\"peer\":{peer},\"messages\":{},", sum.messages)?;
            write!(text, "\"bytes\":{},\"communicator\":", sum.bytes)?;
            text.quoted(communicator.name.as_bytes())?;
            text.write_str("}\n")?;
        }
    }
    Ok(())
}
