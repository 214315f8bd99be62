//! Fault handlers on x86-64 Linux.

use super::ProgramPlace;
use crate::operand::{self, Operand};
use crate::problem;
use crate::spu::SpuState;
use crate::stop::{FaultKind, ProgramFault, StopReason};
use libc::{c_int, c_void, siginfo_t, ucontext_t};
use seatmap_cell_sim::os::guarded;
use std::cell::{Cell, RefCell};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The handlers' stack, on which the kernel saves all registers.
const STACK_BYTES: usize = 64 << 10;
/// The room on the program's stack to stop it.
const ROOM_BYTES: u64 = 8 << 10;
/// Bytes below the stack pointer that a function may use (the psABI of x86-64).
const RED_ZONE_BYTES: u64 = 128;
/// The flag that makes the processor trap after one instruction.
const TRAP_FLAG: i64 = 0x100;
/// The direction flag, which functions expect to be clear.
const DIRECTION_FLAG: i64 = 0x400;
/// The code of a fault without an address: a non-canonical address or a misaligned operand
/// (`SI_KERNEL` of the kernel's headers).
const NO_ADDRESS: c_int = 0x80;
/// The longest x86-64 instruction, in bytes.
const LONGEST: usize = 15;
/// The longest operand in memory, in bytes.
const WIDEST: u64 = 64;
const SIGNALS: [c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE];

#[derive(Clone, Copy)]
struct Redirection {
    at: i64,
    /// The register, its own value, and the temporary one.
    register: usize,
    before: i64,
    during: i64,
    /// The instruction's length minus that of the copy, if a copy runs in the thread's page.
    moved_bytes: Option<i64>,
    /// Whether the instruction advances the register, as string instructions do.
    advances: bool,
    was_stepping: bool,
    /// Of an SPE register, with [`WORDS`].
    word: Option<(u64, u32)>,
}

/// A copy of the words around an SPE register, in the middle.
const WORDS: usize = 32;
const MIDDLE: usize = WORDS / 2;

thread_local! {
    static PLACE: Cell<*const ProgramPlace> = const { Cell::new(std::ptr::null()) };
    static STEP: Cell<Option<Redirection>> = const { Cell::new(None) };
    static MOVED: Cell<Option<Redirection>> = const { Cell::new(None) };
    static STACK: RefCell<Option<OwnStack>> = const { RefCell::new(None) };
    static PAGE: Cell<*mut u8> = const { Cell::new(std::ptr::null_mut()) };
    static AROUND: [Cell<u32>; WORDS] = const { [const { Cell::new(0) }; WORDS] };
}

struct OwnStack {
    memory: *mut c_void,
}

/// The thread's page for instructions, behind the stack.
const PAGE_BYTES: usize = 4096;

impl OwnStack {
    fn new() -> Option<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let memory = unsafe {
            libc::mmap(std::ptr::null_mut(), STACK_BYTES + PAGE_BYTES, protection, flags, -1, 0)
        };
        if memory == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: within the mapping.
        let page = unsafe { memory.byte_add(STACK_BYTES) };
        // If the kernel refuses this, an instruction without a register stops the program. SAFETY:
        // the mapping's last page, unused so far.
        if unsafe { libc::mprotect(page, PAGE_BYTES, protection | libc::PROT_EXEC) } == 0 {
            PAGE.set(page.cast());
        }
        let mut before: libc::stack_t = NO_STACK;
        // SAFETY: only a query.
        unsafe { libc::sigaltstack(std::ptr::null(), &raw mut before) };
        // A thread keeps its existing stack.
        if before.ss_flags & libc::SS_DISABLE != 0 {
            let stack = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: STACK_BYTES };
            // SAFETY: the memory exists as long as the thread.
            unsafe { libc::sigaltstack(&raw const stack, std::ptr::null_mut()) };
        }
        Some(OwnStack { memory })
    }
}

const NO_STACK: libc::stack_t =
    libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: 0, ss_size: 0 };

impl Drop for OwnStack {
    fn drop(&mut self) {
        let mut now = NO_STACK;
        // SAFETY: only a query.
        unsafe { libc::sigaltstack(std::ptr::null(), &raw mut now) };
        if now.ss_sp == self.memory {
            let none = libc::stack_t { ss_flags: libc::SS_DISABLE, ..NO_STACK };
            // SAFETY: nothing runs on the stack, because its thread is here.
            unsafe { libc::sigaltstack(&raw const none, std::ptr::null_mut()) };
        }
        PAGE.set(std::ptr::null_mut());
        // SAFETY: exactly the mapping made in `new`, which is no longer used.
        unsafe { libc::munmap(self.memory, STACK_BYTES + PAGE_BYTES) };
    }
}

/// Runs a program at a place, and handles its faults.
#[inline]
pub fn running<T>(place: &ProgramPlace, run: impl FnOnce() -> T) -> T {
    if PAGE.get().is_null() {
        prepare();
        prepare_thread();
    }
    PLACE.set(place);
    let result = run();
    PLACE.set(std::ptr::null());
    result
}

/// Sets the handlers, once for each process.
pub fn prepare() {
    static SET: OnceLock<()> = OnceLock::new();
    SET.get_or_init(|| {
        // Without handlers a fault ends the process.
        _ = guarded::prepare();
        guarded::pass_to(on_fault);
        retake();
    });
}

/// Sets the handlers again if the program has replaced them without [`disposition`]; its handler
/// would repeat the fault forever.
pub fn retake() {
    _ = guarded::retake(want);
    for signal in &SIGNALS[2..] {
        if let Some(before) = own(*signal)
            && before.sa_sigaction != on_signal as *const () as usize
        {
            want(*signal, before);
        }
    }
}

fn want(signal: c_int, action: libc::sigaction) {
    if let Some(place) = place_of(signal) {
        WANTED.lock().unwrap_or_else(PoisonError::into_inner)[place] = Some(action);
    }
}

/// Gives the calling thread a stack for handlers, and handles single steps, after the simulated
/// Cell's thread has set its handler.
#[cold]
fn prepare_thread() {
    BEFORE_STEPS.get_or_init(|| own(libc::SIGTRAP));
    STACK.with_borrow_mut(|stack| {
        if stack.is_none() {
            *stack = OwnStack::new();
        }
    });
}

static BEFORE_STEPS: OnceLock<Option<libc::sigaction>> = OnceLock::new();

static WANTED: Mutex<[Option<libc::sigaction>; SIGNALS.len()]> = Mutex::new([None; SIGNALS.len()]);

fn own(signal: c_int) -> Option<libc::sigaction> {
    // SAFETY: all fields may be zero.
    let mut ours: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: only a query.
    unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut before) };
    // The previous handler may rely on its blocked signals.
    ours.sa_mask = before.sa_mask;
    ours.sa_sigaction = on_signal as *const () as usize;
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    if signal != libc::SIGTRAP {
        ours.sa_flags |= libc::SA_NODEFER;
    }
    // SAFETY: both structures are complete, and the handler may run at any point of any thread.
    let status = unsafe { libc::sigaction(signal, &raw const ours, &raw mut before) };
    (status == 0).then_some(before)
}

fn place_of(signal: c_int) -> Option<usize> {
    SIGNALS.iter().position(|known| *known == signal)
}

/// Replaces `sigaction` for fault signals: the program's handler receives faults of other code.
/// `None` for other signals.
pub fn disposition(signal: c_int, new: Option<&libc::sigaction>) -> Option<libc::sigaction> {
    let place = place_of(signal)?;
    prepare();
    let mut wanted = WANTED.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: all fields may be zero: the default action.
    let before = wanted[place].unwrap_or_else(|| unsafe { std::mem::zeroed() });
    if let Some(new) = new {
        wanted[place] = Some(*new);
    }
    Some(before)
}

extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: as the kernel called it.
    if !unsafe { on_fault(signal, info, context) } {
        give_up(signal);
    }
}

fn give_up(signal: c_int) {
    // SAFETY: resets a signal, and sends one that does not repeat by itself.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        if signal == libc::SIGTRAP {
            libc::raise(signal);
        }
    }
}

/// Returns false if the fault belongs to other code.
///
/// # Safety
/// The arguments are those that the kernel passed to a handler with `SA_SIGINFO`.
unsafe fn on_fault(signal: c_int, info: *mut siginfo_t, context: *mut c_void) -> bool {
    // SAFETY: set while the program runs on this thread.
    let place = unsafe { PLACE.get().as_ref() };
    // SAFETY: the caller's promise.
    let context_of = unsafe { &mut *context.cast::<ucontext_t>() };
    if let (libc::SIGTRAP, Some(step)) = (signal, STEP.take()) {
        let was_stepping = step.was_stepping;
        step.finish(&mut context_of.uc_mcontext.gregs);
        // SAFETY: as above.
        return !was_stepping || unsafe { to_program(signal, info, context) };
    }
    let registers = &mut context_of.uc_mcontext.gregs;
    // SAFETY: the kernel's own description of this fault.
    let at = unsafe { (*info).si_addr() } as u64;
    if signal == libc::SIGSEGV && STEP.get().is_none() && reach(registers, at) {
        return true;
    }
    let Some(place) = place.filter(|_| signal != libc::SIGTRAP) else {
        // SAFETY: as above.
        return unsafe { to_program(signal, info, context) };
    };
    if let Some(step) = STEP.take().or_else(|| moved(registers)) {
        step.undo(registers);
    } else if matches!(signal, libc::SIGSEGV | libc::SIGBUS) {
        // SAFETY: the kernel's own description of this fault.
        let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as u64) };
        let address = (code != NO_ADDRESS).then_some(address);
        if redirect(place, registers, address) {
            return true;
        }
    }
    // SAFETY: as above.
    let address = unsafe { (*info).si_addr() } as u64;
    stop(place, registers, signal, address);
    true
}

impl Redirection {
    fn finish(self, registers: &mut [i64; 23]) {
        let now = registers[self.register];
        if self.advances {
            registers[self.register] = now - self.during + self.before;
        } else if now == self.during {
            registers[self.register] = self.before;
        }
        let at = &mut registers[libc::REG_RIP as usize];
        if let Some(longer) = self.moved_bytes {
            *at = self.at + (*at - PAGE.get() as i64) + longer;
        }
        if !self.was_stepping {
            registers[libc::REG_EFL as usize] &= !TRAP_FLAG;
        }
        if let Some((address, before)) = self.word {
            let now = AROUND.with(|around| around[MIDDLE].get());
            if now != before {
                _ = problem::access(address as usize, Some(now));
            }
        }
    }

    fn undo(self, registers: &mut [i64; 23]) {
        registers[self.register] = self.before;
        registers[libc::REG_RIP as usize] = self.at;
        registers[libc::REG_EFL as usize] &= !TRAP_FLAG;
    }
}

fn operand_at(
    registers: &[i64; 23],
    address: Option<u64>,
) -> Option<(Operand, u64, [u8; LONGEST])> {
    let at = registers[libc::REG_RIP as usize];
    let mut code = [0; LONGEST];
    // SAFETY: the destination is ours. The code may end at a mapping's end, which is then an error.
    unsafe { guarded::copy(at as *const u8, code.as_mut_ptr(), LONGEST) }.ok()?;
    let operand = operand::decode(&code)?.at(registers, address);
    let target = operand.address(registers, address)?;
    let is_near = address.is_none_or(|address| address.wrapping_sub(target) < WIDEST);
    is_near.then_some((operand, target, code))
}

/// Emulates an access to an SPE register that [`seatmap_cell_sim::os::registers`] does not know:
/// the instruction loads the register's word, alone or within more, or changes it.
fn reach(registers: &mut [i64; 23], address: u64) -> bool {
    if problem::register(address).is_none() {
        return false;
    }
    let Some((operand, target, code)) = operand_at(registers, Some(address)) else {
        return false;
    };
    BEFORE_STEPS.get_or_init(|| own(libc::SIGTRAP));
    let word = target & !3;
    let value = problem::access(word as usize, None).unwrap_or(0);
    let place = AROUND.with(|around| {
        around.iter().for_each(|word| word.set(0));
        around[MIDDLE].set(value);
        around[MIDDLE].as_ptr() as u64
    });
    let wanted = (place + (target & 3)) as i64;
    step(registers, (operand, target, code), wanted, Some((word, value)))
}

/// Makes the faulting instruction access the local store as the Cell would. Returns false if it
/// cannot be decoded or accesses no memory.
fn redirect(place: &ProgramPlace, registers: &mut [i64; 23], address: Option<u64>) -> bool {
    let Some((operand, target, code)) = operand_at(registers, address) else { return false };
    // Without an address, the operand is misaligned, and an SPU ignores the last four bits.
    let offset = target & (place.bytes.next_power_of_two() - 1);
    let offset = if address.is_some() { offset } else { offset & !15 };
    if offset >= place.bytes {
        return false;
    }
    step(registers, (operand, target, code), (place.effective + offset) as i64, None)
}

fn step(
    registers: &mut [i64; 23],
    (operand, target, code): (Operand, u64, [u8; LONGEST]),
    wanted: i64,
    word: Option<(u64, u32)>,
) -> bool {
    let flags = registers[libc::REG_EFL as usize];
    let mut step = Redirection {
        at: registers[libc::REG_RIP as usize],
        register: 0,
        before: 0,
        during: 0,
        moved_bytes: None,
        advances: operand.advances(),
        was_stepping: flags & TRAP_FLAG != 0,
        word,
    };
    match operand.register() {
        Some(register) => {
            step.register = register;
            step.before = registers[register];
            step.during = step.before.wrapping_add(wanted.wrapping_sub(target as i64));
            if word.is_none() && !step.was_stepping && run_moved(registers, operand, &code, step) {
                return true;
            }
        }
        None => {
            let page = PAGE.get();
            let Some((bytes, register, longer)) = operand.with_register(&code) else {
                return false;
            };
            if page.is_null() {
                return false;
            }
            // SAFETY: the thread's own page, which only this thread writes and executes.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), page, bytes.len()) };
            step.register = register;
            step.before = registers[register];
            step.during = wanted;
            step.moved_bytes = Some(longer);
            registers[libc::REG_RIP as usize] = page as i64;
        }
    }
    registers[step.register] = step.during;
    registers[libc::REG_EFL as usize] = flags | TRAP_FLAG;
    STEP.set(Some(step));
    true
}

/// Runs an instruction in the thread's page, because a trap is many times slower, especially on a
/// virtual machine.
fn run_moved(
    registers: &mut [i64; 23],
    operand: Operand,
    code: &[u8; LONGEST],
    step: Redirection,
) -> bool {
    let page = PAGE.get();
    let Some(bytes) = operand.restoring(code, step.at as u64, step.before as u64) else {
        return false;
    };
    if page.is_null() {
        return false;
    }
    // SAFETY: the thread's own page, which only this thread writes and executes.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), page, bytes.len()) };
    registers[step.register] = step.during;
    registers[libc::REG_RIP as usize] = page as i64;
    MOVED.set(Some(step));
    true
}

fn moved(registers: &[i64; 23]) -> Option<Redirection> {
    let page = PAGE.get() as i64;
    let is_there = (page..page + PAGE_BYTES as i64).contains(&registers[libc::REG_RIP as usize]);
    MOVED.take().filter(|_| is_there && page != 0)
}

/// Makes the thread leave the program after the handler returns.
fn stop(place: &ProgramPlace, registers: &mut [i64; 23], signal: c_int, address: u64) {
    let at = registers[libc::REG_RIP as usize] as u64;
    let stack = registers[libc::REG_RSP as usize] as u64;
    let range = place.base + place.end + ROOM_BYTES..place.base + place.bytes;
    let is_stack = range.contains(&stack);
    let kind = match signal {
        libc::SIGILL => FaultKind::Instruction,
        libc::SIGFPE => FaultKind::Arithmetic,
        _ if at == address => FaultKind::Jump,
        _ if !is_stack => FaultKind::Stack,
        _ => FaultKind::Access,
    };
    // A call has left its return address on the stack.
    let at = if kind == FaultKind::Jump && is_stack {
        // SAFETY: in the store, by the check above.
        unsafe { (stack as *const u64).read_unaligned() }
    } else {
        at
    };
    // SAFETY: the SPU's state belongs to its program, which is interrupted and does not continue.
    unsafe { (*place.spu).fault = Some(ProgramFault { kind, address, at, ..Default::default() }) };
    let top = if is_stack { stack - RED_ZONE_BYTES } else { place.base + place.bytes - 4096 };
    registers[libc::REG_RSP as usize] = ((top & !15) - 8) as i64;
    registers[libc::REG_RDI as usize] = place.spu as i64;
    registers[libc::REG_RIP as usize] = leave as *const () as i64;
    registers[libc::REG_EFL as usize] &= !(TRAP_FLAG | DIRECTION_FLAG);
}

/// Runs on the program's stack and does not return to it.
unsafe extern "C" fn leave(spu: *mut SpuState) {
    // SAFETY: set by `stop`, from the place of the program on this thread.
    let spu = unsafe { &mut *spu };
    let fault = spu.fault.take().unwrap_or_default();
    let context = spu.spe().number();
    spu.fail(StopReason::Fault(ProgramFault { context, ..fault }));
}

/// Passes a fault of other code to the program's handler. Returns false if there is none.
unsafe fn to_program(signal: c_int, info: *mut siginfo_t, context: *mut c_void) -> bool {
    let wanted = match place_of(signal) {
        Some(place) => WANTED.try_lock().ok().and_then(|wanted| wanted[place]),
        None => BEFORE_STEPS.get().copied().flatten(),
    };
    let Some(wanted) = wanted else { return false };
    match (wanted.sa_sigaction, wanted.sa_flags & libc::SA_SIGINFO != 0) {
        (libc::SIG_DFL, _) => {
            give_up(signal);
            return true;
        }
        (libc::SIG_IGN, _) => {}
        (handler, true) => {
            type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
            // SAFETY: the process set this address as a handler with three arguments.
            unsafe { std::mem::transmute::<usize, Handler>(handler)(signal, info, context) };
        }
        (handler, false) => {
            // SAFETY: the process set this address as a handler with one argument.
            unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(handler)(signal) };
        }
    }
    true
}
