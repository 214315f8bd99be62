//! Copies of memory at addresses from a program: a bad address causes an error instead of ending
//! the process.
//!
//! A handler for `SIGSEGV` and `SIGBUS` recognises the instructions of the copy, which then returns
//! an error. A fault at the address of a [register](super::registers) goes to that device; any
//! other goes to the handler set by [`pass_to`], and then to the previous signal handler.

use std::io;

/// Copies `bytes` bytes between two addresses, either of which may be invalid. Aligned copies of 1,
/// 2, 4, 8 and multiples of 16 bytes move in units of their size, up to 16 bytes, which other
/// threads see whole.
///
/// # Safety
/// No live Rust reference points to the written bytes.
///
/// # Errors
/// `Other` if an address cannot be read or written, or the kernel's error if it rejects the
/// handler.
#[inline]
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) -> io::Result<()> {
    machine::prepare()?;
    // SAFETY: the caller's promise; a fault ends in the handler.
    match unsafe { machine::copy(to, from, bytes) } {
        0 => Ok(()),
        _ => Err(io::Error::other("the address cannot be read or written")),
    }
}

/// Replaces eight bytes at an address that may be invalid, if they still hold `old`; returns
/// whether they did.
///
/// # Safety
/// The address is a multiple of eight, and no live Rust reference except to an atomic points to the
/// bytes.
///
/// # Errors
/// As for [`copy`].
pub unsafe fn exchange(at: *mut u64, old: u64, new: u64) -> io::Result<bool> {
    machine::prepare()?;
    // SAFETY: the caller's promise; a fault ends in the handler.
    match unsafe { machine::exchange(at, old, new) } {
        0 => Ok(true),
        2 => Ok(false),
        _ => Err(io::Error::other("the address cannot be written")),
    }
}

/// A handler of faults outside this module. It gets the arguments of a handler with `SA_SIGINFO`,
/// and returns false if the fault is not for it.
pub type OtherFaults = unsafe fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) -> bool;

static OTHERS: std::sync::OnceLock<OtherFaults> = std::sync::OnceLock::new();

/// Sets the handler of this process's other faults. Only the first call has an effect.
pub fn pass_to(others: OtherFaults) {
    OTHERS.get_or_init(|| others);
}

/// Installs the handlers of `SIGSEGV` and `SIGBUS` again if others replaced them, and passes those
/// to `taken`.
///
/// # Errors
/// The kernel's error.
pub fn retake(taken: impl FnMut(libc::c_int, libc::sigaction)) -> io::Result<()> {
    machine::prepare()?;
    machine::retake(taken)
}

/// Installs the handlers of bad addresses, once per process.
///
/// # Errors
/// The kernel's error.
#[inline]
pub fn prepare() -> io::Result<()> {
    machine::prepare()
}

#[cfg(target_arch = "x86_64")]
mod machine {
    use std::io;
    use std::sync::OnceLock;

    // Faults between the labels `seatmap_copy` and `seatmap_copy_fault` continue at the latter.
    // Below 2 KiB, 16-byte moves are faster than starting a string instruction.
    std::arch::global_asm!(
        ".hidden seatmap_copy",
        ".globl seatmap_copy",
        ".hidden seatmap_copy_fault",
        ".globl seatmap_copy_fault",
        "seatmap_copy:",
        "cmp rdx, 8",
        "je 8f",
        "cmp rdx, 4",
        "je 4f",
        "cmp rdx, 2",
        "je 2f",
        "mov rcx, rdx",
        "test rdx, 15",
        "jnz 9f",
        "cmp rdx, 2048",
        "ja 9f",
        "shr rcx, 4",
        "jz 7f",
        "3: movdqu xmm0, [rsi]",
        "movdqu [rdi], xmm0",
        "add rsi, 16",
        "add rdi, 16",
        "dec rcx",
        "jnz 3b",
        "7: xor eax, eax",
        "ret",
        "9: rep movsb",
        "xor eax, eax",
        "ret",
        "8: mov rax, [rsi]",
        "mov [rdi], rax",
        "xor eax, eax",
        "ret",
        "4: mov eax, [rsi]",
        "mov [rdi], eax",
        "xor eax, eax",
        "ret",
        "2: movzx eax, word ptr [rsi]",
        "mov [rdi], ax",
        "xor eax, eax",
        "ret",
        ".hidden seatmap_exchange",
        ".globl seatmap_exchange",
        "seatmap_exchange:",
        "mov rax, rsi",
        "lock cmpxchg [rdi], rdx",
        "mov eax, 0",
        "mov ecx, 2",
        "cmovne eax, ecx",
        "ret",
        "seatmap_copy_fault:",
        "mov eax, 1",
        "ret",
    );

    unsafe extern "C" {
        #[link_name = "seatmap_copy"]
        pub fn copy(to: *mut u8, from: *const u8, bytes: usize) -> u32;
        #[link_name = "seatmap_exchange"]
        pub fn exchange(at: *mut u64, old: u64, new: u64) -> u32;
        fn seatmap_copy_fault();
    }

    static BEFORE: OnceLock<Result<[libc::sigaction; 2], i32>> = OnceLock::new();
    const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

    pub fn prepare() -> io::Result<()> {
        let set = BEFORE.get_or_init(|| Ok([set(SIGNALS[0])?, set(SIGNALS[1])?]));
        set.as_ref().map(|_| ()).map_err(|code| io::Error::from_raw_os_error(*code))
    }

    pub fn retake(mut taken: impl FnMut(libc::c_int, libc::sigaction)) -> io::Result<()> {
        for signal in SIGNALS {
            // SAFETY: all fields of it may be zero.
            let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
            // SAFETY: asks only.
            unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut now) };
            if now.sa_sigaction != handle as *const () as usize {
                taken(signal, set(signal).map_err(io::Error::from_raw_os_error)?);
            }
        }
        Ok(())
    }

    fn set(signal: libc::c_int) -> Result<libc::sigaction, i32> {
        // SAFETY: all fields of it may be zero.
        let (mut ours, mut before): (libc::sigaction, libc::sigaction) =
            unsafe { std::mem::zeroed() };
        ours.sa_sigaction = handle as *const () as usize;
        // The faulting stack may be a coroutine's small one.
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        // SAFETY: both structures are whole; the handler is safe at any point of any thread.
        match unsafe { libc::sigaction(signal, &raw const ours, &raw mut before) } {
            0 => Ok(before),
            _ => Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)),
        }
    }

    extern "C" fn handle(
        signal: libc::c_int,
        info: *mut libc::siginfo_t,
        context: *mut libc::c_void,
    ) {
        let registers = libc::REG_RIP as usize;
        // SAFETY: the kernel hands a handler with SA_SIGINFO such a context.
        let at = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[registers] };
        let first = copy as *const () as i64;
        let fault = seatmap_copy_fault as *const () as i64;
        if (first..fault).contains(at) {
            *at = fault;
            return;
        }
        // SAFETY: the kernel's own description of this fault.
        let is_done = unsafe { crate::os::registers::perform((*info).si_addr() as usize, context) };
        if is_done {
            return;
        }
        // SAFETY: as the kernel called this handler.
        if super::OTHERS.get().is_none_or(|others| !unsafe { others(signal, info, context) }) {
            pass_on(signal, info, context);
        }
    }

    /// Calls the previous handler. If there is none, the fault repeats and ends the process.
    fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        let which = usize::from(signal == SIGNALS[1]);
        let before = BEFORE.get().and_then(|set| set.as_ref().ok()).map(|set| set[which]);
        match before.map(|before| (before.sa_sigaction, before.sa_flags & libc::SA_SIGINFO != 0)) {
            Some((handler, true)) if handler > 1 => {
                type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
                // SAFETY: the process set this address as a handler with three arguments.
                unsafe { std::mem::transmute::<usize, Handler>(handler)(signal, info, context) };
            }
            Some((handler, false)) if handler > 1 => {
                // SAFETY: the process set this address as a handler with one argument.
                unsafe {
                    std::mem::transmute::<usize, extern "C" fn(libc::c_int)>(handler)(signal)
                };
            }
            // SAFETY: the default action for this signal.
            _ => _ = unsafe { libc::signal(signal, libc::SIG_DFL) },
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod machine {
    /// Does nothing: on this processor a bad address ends the process.
    pub fn prepare() -> std::io::Result<()> {
        Ok(())
    }

    pub fn retake(_: impl FnMut(libc::c_int, libc::sigaction)) -> std::io::Result<()> {
        Ok(())
    }

    /// Copies without a guard.
    ///
    /// # Safety
    /// Both addresses are valid.
    pub unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy(from, to, bytes) };
        0
    }

    /// Compares and exchanges without a guard; returns 0 if done, otherwise 2.
    ///
    /// # Safety
    /// The address is valid and aligned.
    pub unsafe fn exchange(at: *mut u64, old: u64, new: u64) -> u32 {
        use std::sync::atomic::{AtomicU64, Ordering};
        // SAFETY: the caller's promise.
        let word = unsafe { AtomicU64::from_ptr(at) };
        if word.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            0
        } else {
            2
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn all_sizes_are_copied() {
        for bytes in [1, 2, 3, 4, 8, 16, 48, 127, 128, 2048, 2064, 5000] {
            let from: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
            let mut to = vec![0; bytes + 1];
            // SAFETY: both are memory of the test.
            unsafe { copy(from.as_ptr(), to.as_mut_ptr(), bytes) }.unwrap();
            assert_eq!((&to[..bytes], to[bytes]), (&from[..], 0), "{bytes} bytes");
        }
    }

    #[test]
    fn exchange_reports_its_success() {
        let mut word = 5_u64;
        // SAFETY: memory of the test.
        let (first, second) = unsafe {
            (exchange(&raw mut word, 5, 6).unwrap(), exchange(&raw mut word, 5, 7).unwrap())
        };
        assert_eq!((first, second, word), (true, false, 6));
        // SAFETY: nothing is there, which is the point.
        assert!(unsafe { exchange(16 as *mut u64, 0, 1) }.is_err());
    }

    #[test]
    fn bad_address_is_an_error() {
        let mut here = [0_u8; 4096];
        for bytes in [1, 2, 4, 8, 16, 4096] {
            // SAFETY: nothing is there, which is the point; and `here` belongs to the test.
            let read = unsafe { copy(16 as *const u8, here.as_mut_ptr(), bytes) };
            // SAFETY: as above.
            let write = unsafe { copy(here.as_ptr(), 16 as *mut u8, bytes) };
            assert!(read.is_err() && write.is_err(), "{bytes} bytes");
        }
    }
}
