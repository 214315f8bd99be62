//! What a thread of this process does at an instant, as a number. A thread that has the same number twice, and whose
//! other memory has not changed, does the same for ever.
//!
//! A signal makes the thread look at itself. [`of`] asks another thread; [`Ticks`] makes the calling one look again and
//! again while it uses its CPU. The two highest real-time signals are taken for that.

use crate::Tid;
use std::time::Duration;

/// A thread at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sample {
    /// Where it executes.
    pub at: u64,
    /// Its stack pointer.
    pub stack: u64,
    /// A number for its registers, with those for vectors, and without the next one.
    pub registers: u64,
    /// The register in which some programs count what they do: r15 of x86-64.
    pub counter: u64,
    /// A number for the end of its stack.
    pub top: u64,
}

/// A sample of another thread of this process; `None` if it does not come within a time, or cannot be had here.
///
/// A thread that waits for a CPU is in the same state in two samples, so callers see to it that it works between them
/// ([`cpu_ns`](crate::usage::cpu_ns)).
#[must_use]
pub fn of(tid: Tid, within: Duration) -> Option<Sample> {
    machine::of(tid, within)
}

/// What a thread does when it looks at itself. It is called in a signal handler, on a stack of its own: it may read and
/// write memory, and nothing else. True says that the thread does the same for ever, its counter aside: it goes once
/// more through all that it does, and is then [interrupted](Interrupt) at a place that does not depend on chance.
pub type Look = fn(Sample) -> bool;

/// Called on the thread's own stack, where it was interrupted; the thread goes on there when it returns.
pub type Interrupt = fn(Sample);

/// The calling thread looks at itself for each time that it has used its CPU so long. It must not end while this lives.
#[derive(Debug)]
pub struct Ticks {
    _machine: machine::Ticks,
}

impl Ticks {
    /// Begins; one thread of a process can.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn begin(every: Duration, look: Look, interrupt: Interrupt) -> std::io::Result<Self> {
        Ok(Ticks { _machine: machine::Ticks::begin(every, look, interrupt)? })
    }
}

#[cfg(target_arch = "x86_64")]
mod machine {
    use super::{Interrupt, Look, Sample};
    use crate::Tid;
    use std::cell::UnsafeCell;
    use std::io;
    use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
    use std::sync::{Mutex, OnceLock, PoisonError};
    use std::time::{Duration, Instant};

    /// Bytes below the stack pointer that a function may use (the psABI of x86-64).
    const RED_ZONE_BYTES: u64 = 128;
    /// Bytes of the stack that a sample looks at, and of a page, which it does not leave.
    const TOP_BYTES: u64 = 512;
    const PAGE_BYTES: u64 = 4096;
    /// Arithmetic flags: carry, parity, adjust, zero, sign, direction, overflow.
    const FLAGS: u64 = 0xcd5;
    /// Vector registers in what the kernel saves: 16 of 16 bytes, and their upper halves behind the head of the
    /// extended part, if its features say so (Intel's manual, volume 1, chapter 13).
    const VECTORS: std::ops::Range<usize> = 160..416;
    const FEATURES_AT: usize = 512;
    const UPPER_HALVES: std::ops::Range<usize> = 576..832;
    const UPPER_FEATURE: u64 = 4;
    /// Where the kernel says whether there is an extended part, and that it is one (`FP_XSTATE_MAGIC1`).
    const MAGIC_AT: usize = 464;
    const MAGIC: u32 = 0x4650_5853;
    /// Bytes of the stack on which a thread looks at itself.
    const STACK_BYTES: usize = 64 << 10;

    /// The thread that is asked; 0 when it has answered. One is asked at a time.
    static ASKED: AtomicI32 = AtomicI32::new(0);
    static ASKER: Mutex<()> = Mutex::new(());
    static ANSWER: [AtomicU64; 5] = [const { AtomicU64::new(0) }; 5];
    static LOOKS: OnceLock<(Look, Interrupt)> = OnceLock::new();

    fn sample_signal() -> libc::c_int {
        libc::SIGRTMAX() - 1
    }

    fn interrupt_signal() -> libc::c_int {
        libc::SIGRTMAX()
    }

    type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);

    /// Sets a handler, during which `held` waits.
    fn handle(signal: libc::c_int, handler: Handler, flags: libc::c_int, held: Option<libc::c_int>) -> io::Result<()> {
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
        let code = |error: io::Error| error.raw_os_error().unwrap_or(libc::EINVAL);
        // An interrupt must find the thread's own stack, and not that of this handler.
        let set = || handle(sample_signal(), on_sample, libc::SA_ONSTACK, Some(interrupt_signal())).map_err(code);
        DONE.get_or_init(set).map_err(io::Error::from_raw_os_error)
    }

    fn send(tid: Tid, signal: libc::c_int) -> bool {
        // SAFETY: a signal with a handler of ours, to a thread of this process or to none.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, signal) == 0 }
    }

    pub fn of(tid: Tid, within: Duration) -> Option<Sample> {
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
        let [at, stack, registers, counter, top] = [0, 1, 2, 3, 4].map(|part| ANSWER[part].load(Ordering::Relaxed));
        Some(Sample { at, stack, registers, counter, top })
    }

    /// Mixes a word into a number (FNV-1a over words, with a turn so that high bits count).
    fn mixed(number: u64, word: u64) -> u64 {
        (number ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
    }

    /// A number for words in memory.
    ///
    /// # Safety
    /// The bytes can be read.
    unsafe fn number_of(from: *const u8, bytes: usize) -> u64 {
        // SAFETY: the caller's promise.
        (0..bytes / 8).fold(0, |number, at| mixed(number, unsafe { from.cast::<u64>().add(at).read_unaligned() }))
    }

    /// Looks at an interrupted thread.
    ///
    /// # Safety
    /// The context is the one that the kernel handed to a handler.
    unsafe fn look(context: *mut libc::c_void) -> Sample {
        // SAFETY: the caller's promise.
        let machine = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
        let register = |which: libc::c_int| machine.gregs[which as usize] as u64;
        let others = (libc::REG_R8..=libc::REG_RIP).filter(|which| *which != libc::REG_R15);
        let general = others.fold(0, |number, which| mixed(number, register(which)));
        let general = mixed(general, register(libc::REG_EFL) & FLAGS);
        let stack = register(libc::REG_RSP);
        let from = stack - RED_ZONE_BYTES;
        let until = (stack + TOP_BYTES).min((stack | (PAGE_BYTES - 1)) + 1);
        let saved = machine.fpregs.cast::<u8>();
        // SAFETY: the thread's own stack, and what the kernel saved.
        let (vectors, top) = unsafe { (vectors(saved), number_of(from as *const u8, (until - from) as usize)) };
        let (at, counter) = (register(libc::REG_RIP), register(libc::REG_R15));
        Sample { at, stack, registers: mixed(general, vectors), counter, top }
    }

    /// A number for the vector registers that the kernel saved.
    ///
    /// # Safety
    /// The pointer is the one in a context of the kernel's.
    unsafe fn vectors(saved: *const u8) -> u64 {
        if saved.is_null() {
            return 0;
        }
        // SAFETY: the kernel saves 512 bytes, and more if the magic number says so.
        unsafe {
            let lower = number_of(saved.add(VECTORS.start), VECTORS.len());
            let is_extended = saved.add(MAGIC_AT).cast::<u32>().read_unaligned() == MAGIC;
            let has_upper = is_extended && saved.add(FEATURES_AT).cast::<u64>().read_unaligned() & UPPER_FEATURE != 0;
            let upper = if has_upper { number_of(saved.add(UPPER_HALVES.start), UPPER_HALVES.len()) } else { 0 };
            mixed(lower, upper)
        }
    }

    /// On the altered stack: answers the thread that asked, or looks for the ticks.
    extern "C" fn on_sample(_: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: called by the kernel.
        let (sample, is_tick) = unsafe { (look(context), (*info).si_code == libc::SI_TIMER) };
        if !is_tick {
            // SAFETY: asks for the number of the calling thread. A late answer is nobody's.
            if unsafe { libc::gettid() } != ASKED.load(Ordering::Acquire) {
                return;
            }
            let parts = [sample.at, sample.stack, sample.registers, sample.counter, sample.top];
            parts.iter().zip(&ANSWER).for_each(|(part, place)| place.store(*part, Ordering::Relaxed));
            return ASKED.store(0, Ordering::Release);
        }
        if LOOKS.get().is_some_and(|(look, _)| look(sample)) {
            // SAFETY: called by the kernel, on the one thread that has ticks.
            unsafe { step(context, Steps { first: Some(sample), lowest: key(context), left: MOST_STEPS }) };
        }
    }

    /// A walk through all that a thread does again and again, instruction by instruction.
    struct Steps {
        /// The state in which it began; none when it has come back there.
        first: Option<Sample>,
        /// The lowest place, and of several visits there that with the lowest registers.
        lowest: Key,
        left: u32,
    }

    /// A place and the lower halves of the registers there: pointers of the system, which differ from run to run, are the
    /// same in all visits.
    type Key = (u64, [u32; 16]);

    /// Single instructions that a walk may have.
    const MOST_STEPS: u32 = 100_000;
    /// The flag that has the processor stop after each instruction (Intel's manual, volume 1, section 3.4.3).
    const TRAP_FLAG: i64 = 0x100;

    /// The walk of the thread that has ticks, which alone touches it.
    struct Walk(UnsafeCell<Option<Steps>>);

    // SAFETY: one thread has ticks, and its handlers do not interrupt each other: they run one after the other.
    unsafe impl Sync for Walk {}

    static WALK: Walk = Walk(UnsafeCell::new(None));

    unsafe fn key(context: *mut libc::c_void) -> Key {
        // SAFETY: the caller hands on what the kernel gave it.
        let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
        let lower = |at: usize| if at == libc::REG_R15 as usize { 0 } else { registers[at] as u32 };
        (registers[libc::REG_RIP as usize] as u64, std::array::from_fn(lower))
    }

    /// Goes on with a walk after the next instruction.
    unsafe fn step(context: *mut libc::c_void, steps: Steps) {
        // SAFETY: the caller hands on what the kernel gave it; the walk is this thread's.
        unsafe {
            (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_EFL as usize] |= TRAP_FLAG;
            *WALK.0.get() = Some(steps);
        }
    }

    /// Ends a walk, if there is one.
    unsafe fn stop_walk(context: *mut libc::c_void) {
        // SAFETY: the caller hands on what the kernel gave it; the walk is this thread's.
        unsafe {
            (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_EFL as usize] &= !TRAP_FLAG;
            *WALK.0.get() = None;
        }
    }

    /// After an instruction of a walk: until it is back where it began, looks for the lowest place; then goes there, and
    /// has the thread interrupted.
    extern "C" fn on_step(signal: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: called by the kernel, on a thread with a walk if it is the one that has ticks.
        let (walk, here, sample) = unsafe { ((*WALK.0.get()).take(), key(context), look(context)) };
        let Some(mut steps) = walk else {
            // A trap of the program's own: the default action ends the process.
            // SAFETY: resets a signal, and sends it again.
            unsafe { (libc::signal(signal, libc::SIG_DFL), libc::raise(signal)) };
            return;
        };
        if steps.first.is_some_and(|first| Sample { counter: 0, ..first } == Sample { counter: 0, ..sample }) {
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
            // It comes when this handler has returned, on the stack that the thread had.
            // SAFETY: as in `send`.
            unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), libc::gettid(), interrupt_signal()) };
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
        pub fn begin(every: Duration, look: Look, interrupt: Interrupt) -> io::Result<Self> {
            if LOOKS.set((look, interrupt)).is_err() {
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, "another thread has ticks"));
            }
            prepare()?;
            handle(libc::SIGTRAP, on_step, libc::SA_ONSTACK, Some(interrupt_signal()))?;
            // No signal is held back while the interrupted thread is elsewhere.
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

    /// Gives the calling thread a stack for handlers, which it keeps.
    fn own_stack() -> io::Result<()> {
        let memory = Box::leak(vec![0_u8; STACK_BYTES].into_boxed_slice());
        let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK_BYTES };
        // SAFETY: the memory is never given back.
        match unsafe { libc::sigaltstack(&raw const stack, std::ptr::null_mut()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// A timer on the CPU time of the calling thread, which is sent the signal.
    fn timer() -> io::Result<libc::timer_t> {
        // SAFETY: all fields of it may be zero.
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = sample_signal();
        // SAFETY: asks for the number of the calling thread.
        event.sigev_notify_thread_id = unsafe { libc::gettid() };
        let mut timer: libc::timer_t = std::ptr::null_mut();
        // SAFETY: the structure is whole, and the place is ours.
        match unsafe { libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut event, &raw mut timer) } {
            0 => Ok(timer),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod machine {
    use super::{Interrupt, Look, Sample};
    use crate::Tid;
    use std::time::Duration;

    pub fn of(_: Tid, _: Duration) -> Option<Sample> {
        None
    }

    #[derive(Debug)]
    pub struct Ticks;

    impl Ticks {
        pub fn begin(_: Duration, _: Look, _: Interrupt) -> std::io::Result<Self> {
            Err(std::io::Error::from(std::io::ErrorKind::Unsupported))
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::task;
    use crate::usage::cpu_ns;
    use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

    const PATIENCE: Duration = Duration::from_secs(20);

    /// Tells a thread to stop, even if the test fails.
    struct Stops<'a>(&'a AtomicBool);

    impl Drop for Stops<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
        }
    }

    /// A thread that does something until it is told to stop, and its number.
    fn with_thread(work: fn(&AtomicBool), look: impl FnOnce(Tid)) {
        let (stop, tid) = (AtomicBool::new(false), AtomicI32::new(0));
        std::thread::scope(|scope| {
            let _stops = Stops(&stop);
            scope.spawn(|| {
                tid.store(task::own_tid(), Ordering::Release);
                work(&stop);
            });
            while tid.load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
            look(tid.load(Ordering::Acquire));
        });
    }

    /// Waits until a thread has worked for a while.
    fn let_work(tid: Tid) {
        let since_ns = cpu_ns(tid).unwrap_or(0);
        while cpu_ns(tid).unwrap_or(u64::MAX) < since_ns + 200_000 {
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    /// Whether one of many samples is like an earlier one.
    fn repeats(tid: Tid) -> bool {
        let mut seen = std::collections::HashSet::new();
        (0..64).any(|_| {
            let_work(tid);
            !seen.insert(of(tid, PATIENCE).expect("it answers"))
        })
    }

    #[test]
    fn a_thread_that_waits_for_memory_repeats_itself() {
        with_thread(
            |stop| while !stop.load(Ordering::Relaxed) {},
            |tid| {
                // The thread may not have come to its loop when it is asked first.
                assert!((0..1000).any(|_| repeats(tid)));
            },
        );
    }

    #[test]
    fn a_thread_that_counts_does_not() {
        let count = |stop: &AtomicBool| {
            let mut number = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                number = std::hint::black_box(number + 1);
            }
        };
        with_thread(count, |tid| {
            // Until it counts, it may wait for memory like any other.
            (0..50).for_each(|_| let_work(tid));
            assert!(!repeats(tid));
        });
    }

    static TICKS: AtomicU64 = AtomicU64::new(0);
    static FLAG: AtomicU64 = AtomicU64::new(0);
    static INTERRUPTS: [AtomicU64; 8] = [const { AtomicU64::new(0) }; 8];

    /// Waits for a flag and counts in r15 how often it looks: the loop's first instruction is the lowest.
    fn spin() {
        // SAFETY: reads a flag; the register is restored.
        unsafe {
            std::arch::asm!(
                "push r15", "xor r15d, r15d",
                "2: lea r15, [r15 + 3]", "mov rax, [{flag}]", "test rax, rax", "jz 2b",
                "pop r15",
                flag = in(reg) FLAG.as_ptr(), out("rax") _,
            );
        }
    }

    #[test]
    fn a_thread_that_spins_is_interrupted_at_the_same_place_again() {
        let work = || {
            let look = |sample: Sample| sample.at != 0 && TICKS.fetch_add(1, Ordering::Relaxed) > 0;
            let interrupt = |sample: Sample| {
                let place = INTERRUPTS.iter().find(|place| place.load(Ordering::Relaxed) == 0);
                place.map_or((), |place| place.store(sample.at, Ordering::Relaxed));
                assert_eq!(sample.counter % 3, 0);
                // The last one ends the loop.
                FLAG.store(u64::from(INTERRUPTS[7].load(Ordering::Relaxed) != 0), Ordering::Relaxed);
            };
            let _ticks = Ticks::begin(Duration::from_millis(1), look, interrupt).unwrap();
            spin();
            INTERRUPTS.each_ref().map(|place| place.load(Ordering::Relaxed))
        };
        let places = std::thread::spawn(work).join().unwrap();
        assert!(places.iter().all(|place| *place == places[0]), "{places:x?}");
    }
}
