//! The file of a process: its threads, the lines that passed between them, and the positions of
//! those lines.
//!
//! One JSON value a line: the first describes the file, the last is `{"end":true}`, unless
//! truncated.

use crate::elf::ElfImage;
use crate::hot::{self, HotLine};
use crate::maps;
use crate::output::{self, FORMAT};
use crate::tasks::{self, TASKS, TracedThread};
use crate::text::Text;
use crate::{process, shadow, threads};
use std::fmt::{self, Write};
use std::sync::atomic::Ordering::Relaxed;

/// The most lines in the file, of each kind of sharing.
const NAMED: usize = 32;

/// Writes the file, without the heap. A failure cannot be reported to the program.
pub fn write() {
    // SAFETY: the call has no preconditions.
    let pid = unsafe { libc::getpid() };
    if let Some(mut text) = output::file(format_args!("threads-{pid}")) {
        let _ = all(&mut text, pid);
    }
}

fn all(text: &mut Text, pid: i32) -> fmt::Result {
    head(text, pid)?;
    let known = tasks::count().min(tasks::MOST);
    for task in TASKS.all().take(known) {
        describe(text, task)?;
    }
    for task in TASKS.all().take(known) {
        edges(text, task, known)?;
    }
    lines(text, |line| line.truly.load(Relaxed))?;
    lines(text, |line| line.falsely.load(Relaxed))?;
    text.write_str("{\"end\":true}\n")
}

fn head(text: &mut Text, pid: i32) -> fmt::Result {
    let from = process::began_ns();
    let to = threads::cpu_ns(libc::CLOCK_MONOTONIC);
    let replaced: u64 = TASKS.all().map(|task| task.replaced.load(Relaxed)).sum();
    // SAFETY: the call has no preconditions.
    let parent = unsafe { libc::getppid() };
    write!(
        text,
        "{{\"format\":\"{FORMAT}\",\"kind\":\"threads\",\"pid\":{pid},\"parent_pid\":{parent},"
    )?;
    write!(text, "\"from_ns\":{from},\"to_ns\":{to},\"threads\":{},", tasks::count())?;
    let room = shadow::ENTRIES;
    writeln!(
        text,
        "\"replaced_lines\":{replaced},\"table_lines\":{room},\"unnamed_transfers\":{}}}",
        hot::lost()
    )
}

fn describe(text: &mut Text, task: &TracedThread) -> fmt::Result {
    let slot = task.slot.load(Relaxed);
    let parent = task.parent.load(Relaxed);
    let tid = task.tid.load(Relaxed);
    write!(
        text,
        "{{\"task\":{slot},\"parent\":{parent},\"tid\":{tid},\"cpu_ns\":{},\"name\":",
        cpu_ns(task, tid)
    )?;
    let mut name = [0; 16];
    name.iter_mut().zip(&task.name).for_each(|(byte, kept)| *byte = kept.load(Relaxed));
    if name[0] == 0 {
        living_name(tid, &mut name);
    }
    let end = name.iter().position(|byte| matches!(byte, 0 | b'\n')).unwrap_or(name.len());
    text.quoted(&name[..end])?;
    text.write_str("}\n")
}

/// The CPU time of a thread, which may still run.
fn cpu_ns(task: &TracedThread, tid: i32) -> i64 {
    let kept = task.cpu_ns.load(Relaxed);
    if kept >= 0 || tid == 0 {
        return kept.max(0);
    }
    // The kernel's number for the CPU clock of a thread: include/linux/posix-timers.h.
    threads::cpu_ns(!tid << 3 | 6)
}

fn living_name(tid: i32, name: &mut [u8; 16]) {
    let Some(mut path) = output::named(b"/proc/self/task/") else { return };
    if write!(path, "{tid}/comm").is_err() {
        return;
    }
    // SAFETY: the path is a C string; the kernel writes at most the length of the name.
    unsafe {
        let file = libc::open(path.as_c().as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file >= 0 {
            libc::read(file, name.as_mut_ptr().cast(), name.len());
            libc::close(file);
        }
    }
}

fn edges(text: &mut Text, task: &TracedThread, known: usize) -> fmt::Result {
    let to = task.slot.load(Relaxed);
    for (from, received) in task.received.iter().enumerate().take(known) {
        let truly = received.truly.load(Relaxed);
        let falsely = received.falsely.load(Relaxed);
        if truly + falsely != 0 {
            writeln!(text, "{{\"from\":{from},\"to\":{to},\"true\":{truly},\"false\":{falsely}}}")?;
        }
    }
    Ok(())
}

fn lines(text: &mut Text, count: fn(&HotLine) -> u64) -> fmt::Result {
    let mut before = (u64::MAX, 0);
    for _ in 0..NAMED {
        let all = hot::LINES.all().enumerate();
        let all = all.map(|(at, line)| ((count(line), usize::MAX - at), line));
        let rest = all.filter(|(rank, _)| rank.0 > 0 && *rank < before);
        let Some((rank, line)) = rest.max_by_key(|(rank, _)| *rank) else { break };
        before = rank;
        named(text, line)?;
    }
    Ok(())
}

fn named(text: &mut Text, line: &HotLine) -> fmt::Result {
    let (from, to) = line.leader();
    let truly = line.truly.load(Relaxed);
    let falsely = line.falsely.load(Relaxed);
    let address = line.number.load(Relaxed) << shadow::LINE_BITS;
    write!(
        text,
        "{{\"line\":{address},\"from\":{from},\"to\":{to},\"true\":{truly},\"false\":{falsely},"
    )?;
    text.write_str("\"written\":")?;
    place(text, line.written.load(Relaxed))?;
    text.write_str(",\"accessed\":")?;
    place(text, line.accessed.load(Relaxed))?;
    text.write_str("}\n")
}

/// An address in words: a variable and offset, a thread's stack, a module, the heap.
fn place(text: &mut Text, address: usize) -> fmt::Result {
    if let Some(task) = TASKS.all().find(|task| is_on_stack(task, address)) {
        return write!(text, "\"stack of task {}\"", task.slot.load(Relaxed));
    }
    let region = maps::region(address);
    let module = region.as_ref().and_then(|region| Some((region.file()?, region.base)));
    let Some((path, base)) = module else { return text.write_str("\"heap\"") };
    let elf = ElfImage::open(path);
    match elf.as_ref().and_then(|elf| elf.variable(address, base)) {
        Some(symbol) => {
            text.write_char('"')?;
            // A linker accepts any bytes in a symbol's name, quotes too.
            text.escaped(std::str::from_utf8(symbol.name).unwrap_or("?"))?;
            write!(text, "+{}\"", symbol.offset)
        }
        None => text.quoted(path.to_bytes()),
    }
}

fn is_on_stack(task: &TracedThread, address: usize) -> bool {
    (task.stack[0].load(Relaxed)..task.stack[1].load(Relaxed)).contains(&address)
}
