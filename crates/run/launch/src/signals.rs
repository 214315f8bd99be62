//! The launcher's signals.
//!
//! Signals from the terminal (Ctrl-C, Ctrl-Z, a new size) reach the whole process group, including
//! the program. Signals to the launcher alone are forwarded.

use seatmap_os::Tid;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd};
use std::time::Duration;

const OF_TERMINALS: [i32; 8] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGCONT,
    libc::SIGWINCH,
];

/// Signals from other processes, besides the real-time signals.
const OF_OTHERS: [i32; 9] = [
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGURG,
    libc::SIGIO,
    libc::SIGPWR,
];

/// This thread's signals, blocked since [`Signals::hold`].
#[derive(Debug)]
pub struct Signals {
    held: libc::sigset_t,
    before: libc::sigset_t,
    child_news: libc::sighandler_t,
}

/// A received signal.
#[derive(Clone, Copy)]
pub struct ReceivedSignal {
    /// The signal's number.
    pub signal: i32,
    /// Whether the program received it too, from the terminal.
    pub to_group: bool,
    /// The sending process; 0 for the kernel.
    pub sender: Tid,
}

impl ReceivedSignal {
    /// Whether it asks the job to stop.
    pub fn asks_to_stop(&self) -> bool {
        [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU].contains(&self.signal)
    }

    /// Whether it requests the end.
    pub fn asks_to_end(&self) -> bool {
        [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT].contains(&self.signal)
    }
}

impl Signals {
    /// Blocks `SIGCHLD` and the signals to forward.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn hold() -> io::Result<Self> {
        let all =
            OF_TERMINALS.into_iter().chain(OF_OTHERS).chain(libc::SIGRTMIN()..=libc::SIGRTMAX());
        let held = set(all.chain([libc::SIGCHLD]));
        let mut before = set([]);
        // SAFETY: both sets are valid, and `before` is writable.
        let status =
            unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const held, &raw mut before) };
        // If the parent ignored `SIGCHLD`, the launcher would not learn of the program's end.
        // SAFETY: the default action runs no code of this program.
        let child_news = unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
        match status {
            0 => Ok(Signals { held, before, child_news }),
            code => Err(io::Error::from_raw_os_error(code)),
        }
    }

    /// Waits at most this long; `None` for `SIGCHLD` or after the time.
    pub fn next(&self, wait: Duration) -> Option<ReceivedSignal> {
        self.take(wait).filter(|came| came.signal != libc::SIGCHLD)
    }

    /// Takes `SIGCONT` first: pending signals come by number, and a `SIGCONT` forwarded too late
    /// would end the next stop.
    fn take(&self, wait: Duration) -> Option<ReceivedSignal> {
        take_of(&set([libc::SIGCONT]), Duration::ZERO).or_else(|| take_of(&self.held, wait))
    }

    /// A descriptor that is readable while one of these signals is pending.
    ///
    /// # Errors
    /// Too many open files.
    pub fn descriptor(&self) -> io::Result<OwnedFd> {
        // SAFETY: the set is valid.
        let fd = unsafe {
            libc::signalfd(-1, &raw const self.held, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
        };
        match fd {
            ..0 => Err(io::Error::last_os_error()),
            // SAFETY: the descriptor is new, and no other object owns it.
            fd => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        }
    }

    /// Stops this process as the program was stopped, until another process continues it, unless
    /// `changed` returns true. The stop is pending before this check, so that any later `SIGCONT`
    /// removes it. Returns whether it was carried out or removed.
    pub fn stop_unless(&self, signal: i32, changed: impl Fn() -> bool) -> bool {
        if changed() {
            return false;
        }
        // SAFETY: the signal is blocked and stays pending; `SIGSTOP`, which cannot be blocked,
        // stops here.
        unsafe { libc::raise(signal) };
        if signal != libc::SIGSTOP && changed() {
            let this = set([signal]);
            let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: the set and the time are valid; nothing is written.
            unsafe { libc::sigtimedwait(&raw const this, std::ptr::null_mut(), &raw const now) };
            return false;
        }
        self.let_through(signal);
        true
    }

    fn let_through(&self, signal: i32) {
        let this = set([signal]);
        // The default action is to stop.
        mask(libc::SIG_UNBLOCK, &this);
        mask(libc::SIG_BLOCK, &this);
    }

    fn restore(&self) {
        // SAFETY: the action is the former one.
        unsafe { libc::signal(libc::SIGCHLD, self.child_news) };
        mask(libc::SIG_SETMASK, &self.before);
    }

    /// Restores this process's initial signals in a child. Async-signal-safe.
    pub fn restore_for_program(&self) {
        // SAFETY: the default action; Rust's runtime ignores SIGPIPE, which programs do not expect.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        self.restore();
    }
}

impl Drop for Signals {
    /// A late signal must not end the launcher before its report.
    fn drop(&mut self) {
        while self.take(Duration::ZERO).is_some() {}
        self.restore();
    }
}

fn take_of(signals: &libc::sigset_t, wait: Duration) -> Option<ReceivedSignal> {
    let wait = libc::timespec {
        tv_sec: wait.as_secs() as libc::time_t,
        tv_nsec: wait.subsec_nanos() as _,
    };
    // SAFETY: an all-zero siginfo_t is valid.
    let mut found: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set and the time are valid, and `found` is writable.
    let signal = unsafe { libc::sigtimedwait(signals, &raw mut found, &raw const wait) };
    // Codes above 0 are the kernel's (sigaction(2)).
    let to_group = found.si_code > 0 && OF_TERMINALS.contains(&signal);
    // SAFETY: for the kernel's signals the field is zero, or a child's number, which no sender has.
    let sender = unsafe { found.si_pid() };
    (signal > 0).then_some(ReceivedSignal { signal, to_group, sender })
}

impl ReceivedSignal {
    /// Forwards it to a process that has not received it. If this fails, the process has ended.
    pub fn pass_on(self, pid: Tid) {
        if !self.to_group {
            send(pid, self.signal);
        }
    }
}

/// If this fails, the process has ended.
pub fn send(pid: Tid, signal: i32) {
    // SAFETY: sends a signal, and touches no memory.
    unsafe { libc::kill(pid, signal) };
}

pub fn let_end() {
    mask(libc::SIG_SETMASK, &set([]));
}

/// Changes the signals blocked by this thread.
fn mask(how: i32, signals: &libc::sigset_t) {
    // SAFETY: the set is valid, and nothing is written.
    unsafe { libc::pthread_sigmask(how, signals, std::ptr::null_mut()) };
}

fn set(signals: impl IntoIterator<Item = i32>) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set, which is writable.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}
