//! The eBPF programs for wakeups, creations and ends of threads.
//!
//! Registers 6 to 9 survive calls; a comment above each program lists their use.

use super::key::INTERRUPTED;
use super::layout::FieldOffsets;
use seatmap_os::bpf::assembler::EbpfOperation::{Add, And, Or, ShiftLeft, Subtract};
use seatmap_os::bpf::assembler::EbpfRegister::{R0, R1, R2, R3, R6, R7, R8, R9, Stack};
use seatmap_os::bpf::assembler::JumpCondition::{Above, Different, Equal};
use seatmap_os::bpf::assembler::Width::{Double, Word};
use seatmap_os::bpf::assembler::{Assembler, EbpfRegister, Helper};
use seatmap_os::bpf::{Map, room_for_threads};
use std::io;

/// The largest kernel stack of a thread, in bytes; interrupts have another stack.
const THREAD_STACK: i32 = 65_536;

const DESCRIPTORS: i32 = 65_535;

const NEW: i32 = 1;
const ANY: i32 = 0;

/// The stack offset of a value: count, file mode, waker's name.
const VALUE: i16 = -48;

/// A temporary stack offset, shared with the mode, which comes last.
const SCRATCH: i16 = VALUE + 8;

/// The least table sizes. Full tables are reported; large ones take long to read.
const THREADS: u32 = 32_768;

/// A thread's record: created and ended (ns), CPU time (ns), creator, process, name.
pub const THREAD_BYTES: usize = 48;

/// Counters, by number.
pub const INTERRUPTS: u32 = 0;
pub const LOST_PAIRS: u32 = 1;
pub const LOST_THREADS: u32 = 2;
const COUNTERS: u32 = 3;

#[derive(Debug)]
pub struct Tables {
    pub processes: Map,
    pub threads: Map,
    /// Wakeups by [`super::key::Key`].
    pub pairs: Map,
    pub counters: Map,
    /// The process whose children are followed; 0 for none.
    pub launcher: Map,
    /// Not 0 during a pause.
    paused: Map,
}

impl Tables {
    pub fn new() -> io::Result<Self> {
        let room = room_for_threads(THREADS);
        Ok(Tables {
            processes: Map::hash("processes", 4, 4, room)?,
            threads: Map::hash("threads", 4, THREAD_BYTES, room)?,
            pairs: Map::hash("pairs", super::key::KEY_BYTES, super::key::VALUE_BYTES, room)?,
            counters: Map::counters("counters", COUNTERS)?,
            launcher: Map::counters("launcher", 1)?,
            paused: Map::counters("paused", 1)?,
        })
    }

    /// Makes the programs end at once. They stay attached, because attaching and detaching wait for
    /// all CPUs: a minute when busy threads kept the kernel's own from running.
    pub fn pause(&self, pauses: bool) -> io::Result<()> {
        self.paused.set_counts(&[u64::from(pauses)])
    }

    /// Ends the program during a pause. Keeps register 1.
    pub fn end_if_paused<'a>(&self, code: &'a mut Assembler) -> &'a mut Assembler {
        code.counter(R2, &self.paused, 0).load(Double, R2, R2, 0).jump_if(Different, R2, 0, "end")
    }
}

/// `sched_waking(wakee)`. Registers: 6 whether in an interrupt, 7 the wakee, 8 the waker, 9 the
/// wakee's process, later the descriptor. Stack: the key at -16, its value at [`VALUE`]. Above 48
/// bytes, a program may get a separate stack (the kernel rounds 49 up to 64), which would look like
/// an interrupt's.
pub fn waking(layout: &FieldOffsets, tables: &Tables) -> Assembler {
    let mut code = Assembler::new();
    tables.end_if_paused(&mut code).load(Double, R7, R1, 0).load(Word, R9, R7, layout.tgid);
    look_up_process(&mut code, tables, R9).jump_if(Equal, R0, 0, "end");
    code.call(Helper::CurrentTask).copy(R8, R0);
    // Thread 0 is a CPU's idle thread: an interrupt woke the wakee.
    code.load(Word, R1, R8, layout.pid).jump_if(Equal, R1, 0, "interrupt");
    code.load(Word, R2, R7, layout.pid).jump_if_both(Equal, R1, R2, "end");
    code.store(Word, Stack, -16, R1).store(Word, Stack, -12, R2);
    // A waker in the followed wakee's process needs no look-up.
    code.load(Word, R1, R8, layout.tgid).jump_if_both(Equal, R1, R9, "followed");
    look_up_process(&mut code, tables, R1).jump_if(Different, R0, 0, "followed");
    outside(&mut code);
    load_call(code.label("followed"), layout);
    code.look_up(&tables.pairs, -16).jump_if(Different, R0, 0, "known");
    look_up_file(&mut code, layout);
    insert(&mut code, &tables.pairs, [-16, VALUE]);
    code.label("known").set(R1, 1).count(R0, 0, R1).label("end").end();
    for (label, counter) in [("interrupt", INTERRUPTS), ("lost", LOST_PAIRS)] {
        code.label(label).count_one(&tables.counters, counter).end();
    }
    code
}

/// Register 0 = the entry of a followed process, or 0.
pub fn look_up_process<'a>(
    code: &'a mut Assembler,
    tables: &Tables,
    process: EbpfRegister,
) -> &'a mut Assembler {
    code.store(Word, Stack, SCRATCH, process).look_up(&tables.processes, SCRATCH)
}

/// Keys an outside waker by its negative process number, without a wakee: many clients must leave
/// room for the program's pairs.
fn outside(code: &mut Assembler) {
    // Left there by `look_up_process`.
    code.stack(R1, SCRATCH.into()).load(Word, R1, R1, 0);
    code.set(R2, 0).calculate(Subtract, R2, R1);
    code.store(Word, Stack, -16, R2).store_number(Word, Stack, -12, 0);
}

/// Keys the waker's system call and descriptor. A thread's registers end its stack: a stack not
/// right below them is an interrupt's.
fn load_call(code: &mut Assembler, layout: &FieldOffsets) {
    code.copy(R1, R8).call(Helper::TaskRegisters).copy(R2, R0).calculate(Subtract, R2, Stack);
    code.load(Word, R1, R0, layout.call).calculate_number(And, R1, 0xffff);
    code.load(Double, R9, R0, layout.argument);
    code.set(R6, INTERRUPTED as i32).jump_if(Above, R2, THREAD_STACK, "interrupted");
    code.set(R6, 0).label("interrupted").calculate(Or, R6, R1);
    // The first argument of futex(2) is an address.
    code.jump_if(Equal, R1, libc::SYS_futex as i32, "no file");
    code.jump_if(Above, R9, DESCRIPTORS, "no file").jump("file");
    code.label("no file").set(R9, -1).label("file");
    code.store(Word, Stack, -8, R6).store(Word, Stack, -4, R9);
}

/// Writes a new key's count, the waker's name, and the file's mode. The name is read now because an
/// outside process may end soon.
fn look_up_file(code: &mut Assembler, layout: &FieldOffsets) {
    code.store_number(Double, Stack, VALUE, 1).store_number(Double, Stack, VALUE + 8, 0);
    code.copy(R3, R8).calculate_number(Add, R3, layout.name as i32);
    read_kernel(code, VALUE + 16, 16).jump_if(Equal, R9, -1, "insert");
    code.load(Double, R1, R8, layout.files).jump_if(Equal, R1, 0, "insert");
    code.load(Double, R1, R1, layout.table).jump_if(Equal, R1, 0, "insert");
    code.load(Double, R3, R1, layout.descriptors);
    code.calculate_number(ShiftLeft, R9, 3).calculate(Add, R3, R9);
    follow_pointer(code, layout.inode);
    follow_pointer(code, layout.mode);
    code.store_number(Double, Stack, VALUE + 8, 0);
    read_kernel(code, VALUE + 8, 2).label("insert");
}

fn follow_pointer(code: &mut Assembler, field: usize) {
    read_kernel(code, SCRATCH, 8).stack(R1, SCRATCH.into());
    code.load(Double, R3, R1, 0).calculate_number(Add, R3, field as i32);
}

fn read_kernel(code: &mut Assembler, to: i16, bytes: i32) -> &mut Assembler {
    code.stack(R1, to.into()).set(R2, bytes).call(Helper::ReadKernel)
}

/// Adds a new key from its stack offsets, and jumps to "end", or to "lost" if the table is full. If
/// another CPU was faster, register 0 is its value.
pub fn insert(code: &mut Assembler, table: &Map, [key, value]: [i16; 2]) {
    code.update(table, [key, value], NEW).jump_if(Equal, R0, 0, "end");
    code.look_up(table, key).jump_if(Equal, R0, 0, "lost");
}

/// `sched_process_fork(creator, created)`. Registers: 6 the creator, 7 the created, 8 and 9 their
/// processes. Stack: the created thread's number at -64, its record at -56.
pub fn fork(layout: &FieldOffsets, tables: &Tables) -> Assembler {
    let mut code = Assembler::new();
    code.load(Double, R6, R1, 0).load(Double, R7, R1, 8);
    code.load(Word, R8, R6, layout.tgid).load(Word, R9, R7, layout.tgid);
    look_up_process(&mut code, tables, R8).jump_if(Different, R0, 0, "follow");
    code.counter(R1, &tables.launcher, 0).load(Double, R1, R1, 0);
    code.jump_if_both(Different, R1, R8, "end").label("follow");
    code.jump_if_both(Equal, R8, R9, "thread");
    code.store(Word, Stack, -8, R9).store_number(Word, Stack, -4, 1);
    code.update(&tables.processes, [-8, -4], ANY).jump_if(Different, R0, 0, "lost");
    code.label("thread").call(Helper::Clock).store(Double, Stack, -56, R0);
    for at in [-48, -40, -24, -16] {
        code.store_number(Double, Stack, at, 0);
    }
    code.load(Word, R1, R6, layout.pid).store(Word, Stack, -32, R1).store(Word, Stack, -28, R9);
    code.load(Word, R1, R7, layout.pid).store(Word, Stack, -64, R1);
    code.update(&tables.threads, [-64, -56], ANY).jump_if(Different, R0, 0, "lost");
    code.label("end").end();
    code.label("lost").count_one(&tables.counters, LOST_THREADS).end();
    code
}

/// `sched_process_exit(thread)`. Registers: 6 the thread, 8 its record, 9 the time. Stack: its
/// process at [`SCRATCH`], its number at -4.
pub fn exit(layout: &FieldOffsets, tables: &Tables) -> Assembler {
    let mut code = Assembler::new();
    code.load(Double, R6, R1, 0).load(Word, R7, R6, layout.tgid);
    look_up_process(&mut code, tables, R7).jump_if(Equal, R0, 0, "end");
    code.load(Word, R1, R6, layout.pid).store(Word, Stack, -4, R1);
    code.look_up(&tables.threads, -4).jump_if(Equal, R0, 0, "process");
    code.copy(R8, R0).call(Helper::Clock).copy(R9, R0);
    code.load(Double, R1, R6, layout.run_ns).store(Double, R8, 16, R1);
    code.copy(R1, R8).calculate_number(Add, R1, 32).set(R2, 16);
    code.copy(R3, R6).calculate_number(Add, R3, layout.name as i32).call(Helper::ReadKernel);
    // An ended record may be removed.
    code.store(Double, R8, 8, R9).label("process");
    // The kernel decrements `live` to 0 before this tracepoint.
    code.load(Double, R1, R6, layout.signal).load(Word, R1, R1, layout.living);
    code.jump_if(Different, R1, 0, "end");
    code.map(R1, &tables.processes).stack(R2, SCRATCH.into()).call(Helper::Delete);
    code.label("end").end();
    code
}
