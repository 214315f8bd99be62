//! Plain round trips of two threads through the kernel, by the system calls alone.

use super::loops::both;
use std::error::Error;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Round trips of a turn.
const ROUND_TRIPS: u32 = 500;

/// The kernel object that passes the word between two threads.
#[derive(Clone, Copy)]
pub enum Means {
    Futex,
    EventFd,
    Pipe,
    UnixSocket,
}

/// A round trip, as the first CPU sees it.
pub fn round_trip_ns(cpus: [u32; 2], means: Means) -> Result<f64, Box<dyn Error>> {
    let whole = match means {
        Means::Futex => futex(cpus)?,
        _ => descriptors(cpus, &Ends::open(means)?)?,
    };
    Ok(whole / f64::from(ROUND_TRIPS))
}

/// The descriptor that each side reads from, and the one that it writes to.
struct Ends([[libc::c_int; 2]; 2]);

impl Ends {
    fn open(means: Means) -> io::Result<Self> {
        let mut there = [-1; 2];
        let mut back = [-1; 2];
        let ends = match means {
            Means::EventFd => {
                let there = eventfd();
                let back = eventfd();
                [[back, there], [there, back]]
            }
            Means::Pipe | Means::Futex => {
                // SAFETY: each array holds the two descriptors that the kernel writes.
                unsafe { (libc::pipe(there.as_mut_ptr()), libc::pipe(back.as_mut_ptr())) };
                // Each side reads the end of one pipe and writes into the other one.
                [[back[0], there[1]], [there[0], back[1]]]
            }
            Means::UnixSocket => {
                // SAFETY: as above.
                unsafe {
                    libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, there.as_mut_ptr())
                };
                [[there[0]; 2], [there[1]; 2]]
            }
        };
        if ends.as_flattened().iter().any(|end| *end < 0) {
            Err(io::Error::last_os_error())
        } else {
            Ok(Ends(ends))
        }
    }
}

fn eventfd() -> libc::c_int {
    // SAFETY: takes two numbers.
    unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) }
}

impl Drop for Ends {
    fn drop(&mut self) {
        let mut all = self.0.as_flattened().to_vec();
        // Both threads of a pair of sockets or of eventfds share descriptors, and each is closed
        // once.
        all.sort_unstable();
        all.dedup();
        // SAFETY: they were opened here and are used no more.
        all.into_iter().for_each(|end| _ = unsafe { libc::close(end) });
    }
}

fn descriptors(cpus: [u32; 2], Ends(ends): &Ends) -> io::Result<f64> {
    let failed = AtomicBool::new(false);
    let times = both(cpus, |at| {
        let [from, to] = ends[at];
        let mut message = 1u64;
        for _ in 0..ROUND_TRIPS {
            let [one, other] = match at {
                0 => [write_message(to, &message), read_message(from, &mut message)],
                // The second side answers, so that each round is one message there and one back.
                _ => [read_message(from, &mut message), write_message(to, &message)],
            };
            if [one, other] != [8, 8] {
                // A short message ends this side; its error is returned when both have ended.
                failed.store(true, Ordering::Release);
                return;
            }
        }
    })?;
    if failed.load(Ordering::Acquire) {
        Err(io::Error::other("a plain message was cut short"))
    } else {
        Ok(times[0])
    }
}

fn write_message(to: libc::c_int, message: &u64) -> isize {
    // SAFETY: the kernel reads the eight bytes of `message`.
    unsafe { libc::write(to, std::ptr::from_ref(message).cast(), 8) }
}

fn read_message(from: libc::c_int, message: &mut u64) -> isize {
    // SAFETY: the kernel writes the eight bytes of `message`.
    unsafe { libc::read(from, std::ptr::from_mut(message).cast(), 8) }
}

fn futex(cpus: [u32; 2]) -> io::Result<f64> {
    let turn = AtomicU32::new(0);
    let times = both(cpus, |at| {
        let own = at as u32;
        for _ in 0..ROUND_TRIPS {
            // Waits only while the other holds the turn, and again after waking up for nothing.
            while turn.load(Ordering::Acquire) != own {
                call_futex(&turn, libc::FUTEX_WAIT, 1 - own);
            }
            turn.store(1 - own, Ordering::Release);
            call_futex(&turn, libc::FUTEX_WAKE, 1);
        }
    })?;
    Ok(times[0])
}

fn call_futex(turn: &AtomicU32, operation: libc::c_int, value: u32) {
    let no_timeout = std::ptr::null::<libc::timespec>();
    let operation = operation | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word outlives the call.
    unsafe { libc::syscall(libc::SYS_futex, turn.as_ptr(), operation, value, no_timeout) };
}
