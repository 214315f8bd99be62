//! Signals and registers of x86-64 Linux: how a thread samples itself.

use super::{SampleCheck, SampleHandler, ThreadSample};
use seatmap_os::Tid;
use std::cell::UnsafeCell;
use std::io;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Bytes below the stack pointer that a function may use (the psABI of x86-64).
const RED_ZONE_BYTES: u64 = 128;
/// Bytes of the stack in a sample, which never crosses a page.
const TOP_BYTES: u64 = 512;
const PAGE_BYTES: u64 = 4096;
/// Arithmetic flags: carry, parity, adjust, zero, sign, direction, overflow.
const FLAGS: u64 = 0xcd5;
/// Vector registers in the kernel's save area: 16 of 16 bytes. Their upper halves follow the header
/// of the extended part, if its features include them (Intel's manual, volume 1, chapter 13).
const VECTORS: std::ops::Range<usize> = 160..416;
const FEATURES_AT: usize = 512;
const UPPER_HALVES: std::ops::Range<usize> = 576..832;
const UPPER_FEATURE: u64 = 4;
/// The kernel's marker of an extended part (`FP_XSTATE_MAGIC1`).
const MAGIC_AT: usize = 464;
const MAGIC: u32 = 0x4650_5853;
const STACK_BYTES: usize = 64 << 10;

/// The thread asked for a sample, or 0 after its answer. Only one is asked at a time.
static ASKED: AtomicI32 = AtomicI32::new(0);
static ASKER: Mutex<()> = Mutex::new(());
static ANSWER: [AtomicU64; 5] = [const { AtomicU64::new(0) }; 5];
static LOOKS: OnceLock<(SampleCheck, SampleHandler)> = OnceLock::new();

fn sample_signal() -> libc::c_int {
    libc::SIGRTMAX() - 1
}

fn interrupt_signal() -> libc::c_int {
    libc::SIGRTMAX()
}

type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);

fn handle(
    signal: libc::c_int,
    handler: Handler,
    flags: libc::c_int,
    held: Option<libc::c_int>,
) -> io::Result<()> {
    // SAFETY: all fields of it may be zero.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    if let Some(held) = held {
        // SAFETY: adds a signal to a set.
        unsafe { libc::sigaddset(&raw mut action.sa_mask, held) };
    }
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | flags;
    // SAFETY: the structure is whole; the handlers are safe at any point of any thread.
    match unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn prepare() -> io::Result<()> {
    static DONE: OnceLock<Result<(), i32>> = OnceLock::new();
    // An interrupt must use the thread's own stack, not this handler's.
    DONE.get_or_init(|| {
        handle(sample_signal(), on_sample, libc::SA_ONSTACK, Some(interrupt_signal()))
            .map_err(|error| error.raw_os_error().unwrap_or(libc::EINVAL))
    })
    .map_err(io::Error::from_raw_os_error)
}

fn send(tid: Tid, signal: libc::c_int) -> bool {
    // SAFETY: a signal with a handler of ours, to a thread of this process or to none.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, signal) == 0 }
}

pub fn of(tid: Tid, within: Duration) -> Option<ThreadSample> {
    prepare().ok()?;
    let _alone = ASKER.lock().unwrap_or_else(PoisonError::into_inner);
    ASKED.store(tid, Ordering::Release);
    if !send(tid, sample_signal()) {
        return None;
    }
    let end = Instant::now() + within;
    while ASKED.load(Ordering::Acquire) != 0 {
        if Instant::now() > end {
            return None;
        }
        std::thread::sleep(Duration::from_micros(20));
    }
    let [at, stack, registers, counter, top] =
        [0, 1, 2, 3, 4].map(|part| ANSWER[part].load(Ordering::Relaxed));
    Some(ThreadSample { at, stack, registers, counter, top })
}

/// FNV-1a over words, with a rotation so that high bits count.
fn mixed(number: u64, word: u64) -> u64 {
    (number ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
}

/// Hashes words in memory.
///
/// # Safety
/// The bytes can be read.
unsafe fn number_of(from: *const u8, bytes: usize) -> u64 {
    // SAFETY: the caller's promise.
    (0..bytes / 8)
        .fold(0, |number, at| mixed(number, unsafe { from.cast::<u64>().add(at).read_unaligned() }))
}

/// Samples an interrupted thread.
///
/// # Safety
/// The context is the one that the kernel passed to a handler.
unsafe fn look(context: *mut libc::c_void) -> ThreadSample {
    // SAFETY: the caller's promise.
    let machine = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
    let others = (libc::REG_R8..=libc::REG_RIP).filter(|which| *which != libc::REG_R15);
    let general = others.fold(0, |number, which| mixed(number, register(&machine.gregs, which)));
    let general = mixed(general, register(&machine.gregs, libc::REG_EFL) & FLAGS);
    let stack = register(&machine.gregs, libc::REG_RSP);
    let from = stack - RED_ZONE_BYTES;
    let until = (stack + TOP_BYTES).min((stack | (PAGE_BYTES - 1)) + 1);
    let saved = machine.fpregs.cast::<u8>();
    // SAFETY: the thread's own stack, and what the kernel saved.
    let (vectors, top) =
        unsafe { (vectors(saved), number_of(from as *const u8, (until - from) as usize)) };
    let at = register(&machine.gregs, libc::REG_RIP);
    let counter = register(&machine.gregs, libc::REG_R15);
    ThreadSample { at, stack, registers: mixed(general, vectors), counter, top }
}

fn register(gregs: &[libc::greg_t], which: libc::c_int) -> u64 {
    gregs[which as usize] as u64
}

/// Hashes the vector registers that the kernel saved.
///
/// # Safety
/// The pointer is from a context of the kernel.
unsafe fn vectors(saved: *const u8) -> u64 {
    if saved.is_null() {
        return 0;
    }
    // SAFETY: the kernel saves 512 bytes, and more if the magic number says so.
    unsafe {
        let lower = number_of(saved.add(VECTORS.start), VECTORS.len());
        let is_extended = saved.add(MAGIC_AT).cast::<u32>().read_unaligned() == MAGIC;
        let has_upper = is_extended
            && saved.add(FEATURES_AT).cast::<u64>().read_unaligned() & UPPER_FEATURE != 0;
        let upper = if has_upper {
            number_of(saved.add(UPPER_HALVES.start), UPPER_HALVES.len())
        } else {
            0
        };
        mixed(lower, upper)
    }
}

/// On the alternate stack: answers the thread that asked, or checks a sample of `Ticks`.
extern "C" fn on_sample(_: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: called by the kernel.
    let (sample, is_tick) = unsafe { (look(context), (*info).si_code == libc::SI_TIMER) };
    if !is_tick {
        // SAFETY: returns the number of the calling thread. A late answer is dropped.
        if unsafe { libc::gettid() } != ASKED.load(Ordering::Acquire) {
            return;
        }
        let parts = [sample.at, sample.stack, sample.registers, sample.counter, sample.top];
        parts.iter().zip(&ANSWER).for_each(|(part, place)| place.store(*part, Ordering::Relaxed));
        return ASKED.store(0, Ordering::Release);
    }
    if LOOKS.get().is_some_and(|(look, _)| look(sample)) {
        // SAFETY: called by the kernel, on the one thread that has ticks.
        unsafe {
            step(context, Steps { first: Some(sample), lowest: key(context), left: MOST_STEPS })
        };
    }
}

struct Steps {
    /// The state at the start; `None` once the thread has returned to it.
    first: Option<ThreadSample>,
    lowest: Key,
    left: u32,
}

/// An address and the lower halves of the registers there. Upper halves hold the system's pointers,
/// which differ between runs.
type Key = (u64, [u32; 16]);

const MOST_STEPS: u32 = 100_000;
/// The flag that stops the processor after each instruction (Intel's manual, volume 1, section
/// 3.4.3).
const TRAP_FLAG: i64 = 0x100;

/// The walk of the sampled thread, which alone accesses it.
struct Walk(UnsafeCell<Option<Steps>>);

// SAFETY: one thread has ticks, and its handlers do not interrupt each other: they run one after
// the other.
unsafe impl Sync for Walk {}

static WALK: Walk = Walk(UnsafeCell::new(None));

unsafe fn key(context: *mut libc::c_void) -> Key {
    // SAFETY: the caller hands on what the kernel gave it.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    (
        registers[libc::REG_RIP as usize] as u64,
        std::array::from_fn(
            |at| if at == libc::REG_R15 as usize { 0 } else { registers[at] as u32 },
        ),
    )
}

unsafe fn step(context: *mut libc::c_void, steps: Steps) {
    // SAFETY: the caller hands on what the kernel gave it; the walk is this thread's.
    unsafe {
        (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_EFL as usize] |=
            TRAP_FLAG;
        *WALK.0.get() = Some(steps);
    }
}

unsafe fn stop_walk(context: *mut libc::c_void) {
    // SAFETY: the caller hands on what the kernel gave it; the walk is this thread's.
    unsafe {
        (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_EFL as usize] &=
            !TRAP_FLAG;
        *WALK.0.get() = None;
    }
}

/// Runs after each instruction of a walk: finds the cycle's lowest key, continues to it, and
/// interrupts the thread there.
extern "C" fn on_step(signal: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: called by the kernel, on a thread with a walk if it is the one that has ticks.
    let (walk, here, sample) = unsafe { ((*WALK.0.get()).take(), key(context), look(context)) };
    let Some(mut steps) = walk else {
        // A trap of the program's own: the default action ends the process. SAFETY: resets a
        // signal, and sends it again.
        unsafe { (libc::signal(signal, libc::SIG_DFL), libc::raise(signal)) };
        return;
    };
    if steps.first.is_some_and(|first| {
        ThreadSample { counter: 0, ..first } == ThreadSample { counter: 0, ..sample }
    }) {
        steps.first = None;
    }
    steps.left = steps.left.saturating_sub(1);
    let is_there = steps.first.is_none() && here == steps.lowest;
    steps.lowest = if steps.first.is_some() { steps.lowest.min(here) } else { steps.lowest };
    if !is_there && steps.left > 0 {
        // SAFETY: as above.
        return unsafe { step(context, steps) };
    }
    // SAFETY: as above.
    unsafe { stop_walk(context) };
    if is_there {
        // The signal arrives when this handler has returned, on the thread's own stack. SAFETY: as
        // in `send`.
        unsafe {
            libc::syscall(libc::SYS_tgkill, libc::getpid(), libc::gettid(), interrupt_signal())
        };
    }
}

extern "C" fn on_interrupt(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    if let Some((_, interrupt)) = LOOKS.get() {
        // SAFETY: called by the kernel, on the one thread that has ticks.
        let sample = unsafe {
            stop_walk(context);
            look(context)
        };
        interrupt(sample);
    }
}

#[derive(Debug)]
pub struct Ticks {
    timer: libc::timer_t,
}

// SAFETY: the kernel's number of a timer, which any thread may delete.
unsafe impl Send for Ticks {}

impl Ticks {
    pub fn begin(every: Duration, look: SampleCheck, interrupt: SampleHandler) -> io::Result<Self> {
        if LOOKS.set((look, interrupt)).is_err() {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "another thread has ticks"));
        }
        prepare()?;
        handle(libc::SIGTRAP, on_step, libc::SA_ONSTACK, Some(interrupt_signal()))?;
        // No signal stays blocked if the handler leaves the interrupted code.
        handle(interrupt_signal(), on_interrupt, libc::SA_NODEFER, None)?;
        own_stack()?;
        let timer = timer()?;
        let period = libc::timespec { tv_sec: 0, tv_nsec: every.subsec_nanos().max(1).into() };
        let when = libc::itimerspec { it_interval: period, it_value: period };
        // SAFETY: a timer of our own; the structure is whole.
        match unsafe { libc::timer_settime(timer, 0, &raw const when, std::ptr::null_mut()) } {
            0 => Ok(Ticks { timer }),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Ticks {
    fn drop(&mut self) {
        // SAFETY: a timer of our own.
        unsafe { libc::timer_delete(self.timer) };
    }
}

fn own_stack() -> io::Result<()> {
    let memory = Box::leak(vec![0_u8; STACK_BYTES].into_boxed_slice());
    let stack =
        libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK_BYTES };
    // SAFETY: the memory is never given back.
    match unsafe { libc::sigaltstack(&raw const stack, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A timer on the CPU time of the calling thread, which gets the signal.
fn timer() -> io::Result<libc::timer_t> {
    // SAFETY: all fields of it may be zero.
    let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
    event.sigev_notify = libc::SIGEV_THREAD_ID;
    event.sigev_signo = sample_signal();
    // SAFETY: asks for the number of the calling thread.
    event.sigev_notify_thread_id = unsafe { libc::gettid() };
    let mut timer: libc::timer_t = std::ptr::null_mut();
    // SAFETY: the structure is whole, and the place is ours.
    match unsafe {
        libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut event, &raw mut timer)
    } {
        0 => Ok(timer),
        _ => Err(io::Error::last_os_error()),
    }
}
