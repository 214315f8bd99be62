//! Watchpoints: the processor's debug registers say which thread writes to an address
//! (perf_event_open(2), `PERF_TYPE_BREAKPOINT`).
//!
//! A watchpoint lies in the registers of each CPU, and costs nothing until a thread writes there:
//! then about 2 us, and 5 us on a virtual machine. A watcher looks often at first, and leaves a
//! word once enough is known. (The kernel could do that by itself, `PERF_EVENT_IOC_REFRESH`, but a
//! breakpoint is dead after that in Linux 6.18.)

use crate::cpus::Cpus;
use crate::perf_event::{self, ANY_THREAD};
use crate::records::i32_at;
use crate::ring::Ring;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// The kind of events, parts of records, and bits of flags, from `include/uapi/linux/perf_event.h`.
const BREAKPOINT: u64 = 5;
const THREAD: u64 = 1 << 1;
const ADDRESS: u64 = 1 << 3;
const DISABLED: u64 = 1 << 0;
const NO_KERNEL: u64 = 1 << 5;
const NO_HYPERVISOR: u64 = 1 << 6;
const SAMPLE: u32 = 9;

/// Requests (`_IOW`, `_IO` of `'$'`).
const ENABLE: libc::c_ulong = 0x2400;
const DISABLE: libc::c_ulong = 0x2401;
const CHANGE: libc::c_ulong = 0x4008_240b;

/// A write, and its length in bytes (`include/uapi/linux/hw_breakpoint.h`).
const WRITE: u64 = 2;
/// The length and alignment of the words that are watched, in bytes.
pub const WORD_BYTES: u64 = 8;

/// Words that are watched at once, at most: as many as x86 has registers. Other processors may have
/// fewer.
const MOST: usize = 4;

/// The size of the attributes up to those that are used here (`PERF_ATTR_SIZE_VER3`).
const ATTRIBUTE_BYTES: u64 = 96;

const RING_BYTES: usize = 4096;

/// A thread wrote to a watched word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The word's address.
    pub address: u64,
    /// The process.
    pub pid: i32,
    /// The thread.
    pub tid: i32,
}

/// Watchpoints on every CPU, until this is dropped.
#[derive(Debug)]
pub struct Watchpoints {
    /// For each word the events of all CPUs.
    words: Vec<Vec<Ring>>,
}

impl Watchpoints {
    /// Takes as many registers as there are free ones, and watches nothing yet.
    ///
    /// # Errors
    /// The kernel's: EACCES without CAP_PERFMON, ENOSPC where others use the registers, EOPNOTSUPP
    /// where there are none.
    pub fn begin() -> io::Result<Self> {
        let online = Cpus::read()?.online;
        let mut words = Vec::new();
        for number in 0..MOST {
            let of_word: io::Result<Vec<Ring>> = online.iter().map(|cpu| event(*cpu)).collect();
            match of_word {
                Ok(rings) => words.push(rings),
                Err(error) if number == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok(Watchpoints { words })
    }

    /// How many words can be watched at once.
    #[must_use]
    pub fn room(&self) -> usize {
        self.words.len()
    }

    /// Watches these words from now on, and no others.
    ///
    /// # Errors
    /// The kernel's, for an address that no program can have.
    pub fn watch(&mut self, addresses: &[u64]) -> io::Result<()> {
        for (number, rings) in self.words.iter_mut().enumerate() {
            for ring in rings {
                ask(ring.fd(), DISABLE, 0)?;
                ring.take(|_, _| {});
                if let Some(address) = addresses.get(number) {
                    ask(ring.fd(), CHANGE, attributes(*address).as_ptr() as libc::c_ulong)?;
                    ask(ring.fd(), ENABLE, 0)?;
                }
            }
        }
        Ok(())
    }

    /// Watches a word no longer, by its place among those of [`Watchpoints::watch`].
    ///
    /// # Errors
    /// The kernel's.
    pub fn leave(&self, number: usize) -> io::Result<()> {
        self.words.get(number).into_iter().flatten().try_for_each(|ring| ask(ring.fd(), DISABLE, 0))
    }

    /// The writes since [`Watchpoints::watch`] that were not told yet.
    pub fn hits(&mut self) -> Vec<Hit> {
        let mut hits = Vec::new();
        for ring in self.words.iter_mut().flatten() {
            ring.take(|kind, body| hits.extend((kind == SAMPLE).then(|| hit(body)).flatten()));
        }
        hits
    }
}

fn hit(body: &[u8]) -> Option<Hit> {
    let address = u64::from_ne_bytes(body.get(8..16)?.try_into().ok()?);
    Some(Hit {
        address: address / WORD_BYTES * WORD_BYTES,
        pid: i32_at(body, 0)?,
        tid: i32_at(body, 4)?,
    })
}

/// The attributes of an event that is off at first.
fn attributes(address: u64) -> [u64; ATTRIBUTE_BYTES as usize / 8] {
    let mut words = [0u64; ATTRIBUTE_BYTES as usize / 8];
    let [low, high] = if cfg!(target_endian = "little") { [0, 32] } else { [32, 0] };
    words[0] = BREAKPOINT << low | ATTRIBUTE_BYTES << high;
    words[2] = 1;
    words[3] = THREAD | ADDRESS;
    words[5] = DISABLED | NO_KERNEL | NO_HYPERVISOR;
    // The kind of access is the second half of the seventh word; then come the address and the
    // length.
    words[6] = WRITE << high;
    words[7] = address / WORD_BYTES * WORD_BYTES;
    words[8] = WORD_BYTES;
    words
}

fn event(cpu: u32) -> io::Result<Ring> {
    let attributes = attributes(WORD_BYTES);
    // SAFETY: the attributes are `ATTRIBUTE_BYTES` bytes.
    Ring::new(unsafe { perf_event::open(&attributes, ANY_THREAD, cpu as i32)? }, RING_BYTES)
}

fn ask(fd: &OwnedFd, request: libc::c_ulong, argument: libc::c_ulong) -> io::Result<()> {
    // SAFETY: the argument is a number, or the address of attributes that live for the call.
    let status = unsafe { libc::ioctl(fd.as_raw_fd(), request, argument) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn a_write_names_its_thread_while_the_word_is_watched() {
        let mut watchpoints = match Watchpoints::begin() {
            Ok(watchpoints) => watchpoints,
            Err(error) => return seatmap_needs::skipped!("no watchpoints here: {error}"),
        };
        let words = [const { AtomicU64::new(0) }; 2];
        let [watched, other] = words.each_ref();
        let address = &raw const *watched as u64;
        let own = Hit { address, pid: std::process::id() as i32, tid: crate::task::own_tid() };
        let write = || {
            (0..5).for_each(|_| {
                watched.store(other.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed)
            })
        };
        for _ in 0..3 {
            watchpoints.watch(&[address]).unwrap();
            write();
            assert_eq!(watchpoints.hits(), [own; 5]);
            watchpoints.leave(0).unwrap();
            write();
            assert_eq!(watchpoints.hits(), []);
        }
        watchpoints.watch(&[]).unwrap();
        write();
        assert_eq!(watchpoints.hits(), []);
    }
}
