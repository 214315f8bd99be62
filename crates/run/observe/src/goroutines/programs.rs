//! The eBPF programs at Go's functions.
//!
//! Registers 6 to 9 survive calls; a comment above each program lists their use.

use crate::wakeups::{LOST_PAIRS, Tables, insert, look_up_process};
use seatmap_os::bpf::Map;
use seatmap_os::bpf::assembler::EbpfOperation::{ShiftLeft, ShiftRight};
use seatmap_os::bpf::assembler::EbpfRegister::{R0, R1, R2, R6, R7, R8, R9, Stack};
use seatmap_os::bpf::assembler::JumpCondition::{Different, Equal};
use seatmap_os::bpf::assembler::Width::{Double, Word};
use seatmap_os::bpf::assembler::{Assembler, Helper};
use std::io;

/// RAX of `struct pt_regs`, x0 of `struct user_pt_regs` (`abi-internal.md` of Go's sources).
const ARGUMENT: usize = if cfg!(target_arch = "aarch64") { 0 } else { 80 };

/// A key is a goroutine: its process, four zero bytes, and its address. The value is the thread
/// that made it ready.
const GOROUTINE_BYTES: usize = 16;
const WAKER_BYTES: usize = 4;

/// A key is a thread that made goroutines ready and one that continued them. The value is the
/// count.
const PAIR_BYTES: usize = 8;
const COUNT_BYTES: usize = 8;

/// Ready goroutines, of which the oldest leave a full table; pairs between two looks.
const GOROUTINES: u32 = 65_536;
const PAIRS: u32 = 16_384;

const ANY: i32 = 0;

pub struct Goroutines {
    ready: Map,
    pub pairs: Map,
    pub calls: Map,
}

impl Goroutines {
    pub fn new() -> io::Result<Self> {
        Ok(Goroutines {
            ready: Map::recent("ready", GOROUTINE_BYTES, WAKER_BYTES, GOROUTINES)?,
            pairs: Map::hash("handoffs", PAIR_BYTES, COUNT_BYTES, PAIRS)?,
            calls: Map::counters("calls", 1)?,
        })
    }
}

/// `runtime.ready(goroutine)`.
pub fn ready(tables: &Tables, goroutines: &Goroutines) -> Assembler {
    let mut code = Assembler::new();
    begin(&mut code, tables, goroutines);
    code.update(&goroutines.ready, [-16, -24], ANY).label("end").end();
    code
}

/// `runtime.execute(goroutine)`. Registers: 9 the thread that made it ready. Stack: the pair at
/// -32, its first count at -24.
pub fn execute(tables: &Tables, goroutines: &Goroutines) -> Assembler {
    let mut code = Assembler::new();
    begin(&mut code, tables, goroutines);
    code.look_up(&goroutines.ready, -16).jump_if(Equal, R0, 0, "end").load(Word, R9, R0, 0);
    code.map(R1, &goroutines.ready).stack(R2, -16).call(Helper::Delete);
    // A thread that continues its own goroutine sends no message.
    code.jump_if_both(Equal, R7, R9, "end");
    code.store(Word, Stack, -32, R9).store(Word, Stack, -28, R7);
    code.look_up(&goroutines.pairs, -32).jump_if(Different, R0, 0, "known");
    code.store_number(Double, Stack, -24, 1);
    insert(&mut code, &goroutines.pairs, [-32, -24]);
    code.label("known").set(R1, 1).count(R0, 0, R1).label("end").end();
    code.label("lost").count_one(&tables.counters, LOST_PAIRS).end();
    code
}

/// The start of both programs. Registers: 6 the function's registers, 7 the thread, 8 its process,
/// which must be followed. Stack: the goroutine at -16, the thread at -24.
fn begin(code: &mut Assembler, tables: &Tables, goroutines: &Goroutines) {
    tables.end_if_paused(code).copy(R6, R1).call(Helper::CurrentThread);
    // The lower half of the result is the thread, the upper one the process.
    code.store(Word, Stack, -24, R0).copy(R7, R0);
    code.calculate_number(ShiftLeft, R7, 32).calculate_number(ShiftRight, R7, 32);
    code.copy(R8, R0).calculate_number(ShiftRight, R8, 32);
    look_up_process(code, tables, R8).jump_if(Equal, R0, 0, "end");
    code.count_one(&goroutines.calls, 0);
    code.load(Double, R1, R6, ARGUMENT).store(Double, Stack, -8, R1);
    code.store(Word, Stack, -16, R8).store_number(Word, Stack, -12, 0);
}
