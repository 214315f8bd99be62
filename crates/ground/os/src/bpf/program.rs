//! Loads and attaches eBPF programs, and reads how long they ran.

use super::assembler::{Assembler, AssemblyError};
use super::call::{BpfCommand, bpf, object_name, open};
use super::probe;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

/// `BPF_PROG_TYPE_TRACING`: reads kernel structures by type.
const TRACING: u32 = 26;

/// `BPF_PROG_TYPE_KPROBE`: gets the registers at an instruction.
const AT_INSTRUCTION: u32 = 2;

/// GPL-compatible, to read kernel structures.
const LICENCE: &CStr = c"Dual MIT/GPL";

const LOG_BYTES: usize = 1 << 20;

/// `BPF_TRACE_RAW_TP`.
const AT_TRACEPOINT: u32 = 23;

/// Why a program cannot run.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Its instructions are invalid.
    #[error("program {name}")]
    Assembly {
        /// Program.
        name: &'static str,
        /// Mistake.
        source: AssemblyError,
    },
    /// The kernel refused to load it.
    #[error("the kernel refused the program {name}{}", last_line(.log))]
    Refused {
        /// Program.
        name: &'static str,
        /// Kernel's error.
        source: io::Error,
        /// Verifier's log.
        log: String,
    },
    /// The kernel refused to attach it.
    #[error("cannot attach the program {name}")]
    Attach {
        /// Program.
        name: &'static str,
        /// Kernel's error.
        source: io::Error,
    },
}

/// The reason precedes the statistics.
fn last_line(log: &str) -> String {
    let reason =
        log.lines().rfind(|line| !line.starts_with("processed ") && !line.trim().is_empty());
    reason.map(|line| format!(" ('{line}')")).unwrap_or_default()
}

/// A loaded program.
#[derive(Debug)]
pub struct EbpfProgram {
    fd: OwnedFd,
    name: &'static str,
}

/// Stays attached until dropped.
#[derive(Debug)]
pub struct AttachedProgram {
    program: EbpfProgram,
    _link: EbpfLink,
}

/// Keeps a program attached until dropped, which waits for every CPU.
#[derive(Debug)]
pub struct EbpfLink(
    #[expect(dead_code, reason = "the program is attached while the descriptor is open")]
    pub(super) OwnedFd,
);

/// How often and how long a program ran while [`Statistics`] existed.
#[derive(Clone, Copy, Debug)]
pub struct RunTime {
    /// Total over all CPUs.
    pub time: Duration,
    /// Runs.
    pub runs: u64,
}

#[repr(C)]
#[derive(Default)]
struct Load {
    kind: u32,
    instructions: u32,
    code: u64,
    licence: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attach_kind: u32,
    types: u32,
    function_bytes: u32,
    functions: u64,
    function_count: u32,
    line_bytes: u32,
    lines: u64,
    line_count: u32,
    attach_to: u32,
}

#[repr(C)]
struct Info {
    object: u32,
    bytes: u32,
    to: u64,
}

impl EbpfProgram {
    /// Loads a program for a tracepoint, by its number in the kernel's types.
    ///
    /// # Errors
    /// [`LoadError`]: EPERM without CAP_BPF and CAP_PERFMON; EACCES or EINVAL with the verifier's
    /// log.
    pub fn load(name: &'static str, place: u32, code: &Assembler) -> Result<Self, LoadError> {
        let kind =
            Load { kind: TRACING, attach_kind: AT_TRACEPOINT, attach_to: place, ..Load::default() };
        EbpfProgram::load_as(kind, name, code)
    }

    /// Loads a program for [`EbpfProgram::link_at`].
    ///
    /// # Errors
    /// As for [`EbpfProgram::load`].
    pub fn load_probe(name: &'static str, code: &Assembler) -> Result<Self, LoadError> {
        EbpfProgram::load_as(Load { kind: AT_INSTRUCTION, ..Load::default() }, name, code)
    }

    fn load_as(kind: Load, name: &'static str, code: &Assembler) -> Result<Self, LoadError> {
        let code = code.finish().map_err(|source| LoadError::Assembly { name, source })?;
        let mut load = Load {
            instructions: code.len() as u32,
            code: code.as_ptr() as u64,
            licence: LICENCE.as_ptr() as u64,
            name: object_name(name),
            ..kind
        };
        // SAFETY: there are `instructions` of them, and the licence ends with a zero byte.
        match unsafe { open(BpfCommand::ProgramLoad, &mut load) } {
            Ok(fd) => Ok(EbpfProgram { fd, name }),
            Err(source) => Err(LoadError::Refused { name, source, log: log(load) }),
        }
    }

    /// Attaches the program to its tracepoint.
    ///
    /// # Errors
    /// [`LoadError::Attach`].
    pub fn attach(self) -> Result<AttachedProgram, LoadError> {
        let link = self.link()?;
        Ok(AttachedProgram { program: self, _link: link })
    }

    /// Attaches the program until the link is dropped.
    ///
    /// # Errors
    /// [`LoadError::Attach`].
    pub fn link(&self) -> Result<EbpfLink, LoadError> {
        let [name, padding] = [0, 0];
        let mut request = [name, name, self.fd.as_raw_fd() as u32, padding];
        // SAFETY: the name is null, because a loaded program knows its tracepoint.
        let link = unsafe { open(BpfCommand::RawTracepointOpen, &mut request) };
        link.map(EbpfLink).map_err(|source| LoadError::Attach { name: self.name, source })
    }

    /// Runs the program whenever a process executes the instruction at this byte of a file. A byte
    /// inside an instruction breaks processes.
    ///
    /// # Errors
    /// [`LoadError::Attach`]: ENOENT before Linux 4.17 or without the file; EACCES or EPERM without
    /// CAP_PERFMON.
    pub fn link_at(&self, file: &Path, place: u64) -> Result<EbpfLink, LoadError> {
        let link = probe::link(self.fd.as_fd(), file, place);
        link.map_err(|source| LoadError::Attach { name: self.name, source })
    }

    /// Reads the run time.
    ///
    /// # Errors
    /// The kernel's.
    pub fn run_time(&self) -> io::Result<RunTime> {
        // `run_time_ns` and `run_cnt` are words 24 and 25 of `struct bpf_prog_info`.
        let mut words = [0u64; 26];
        let mut info = Info {
            object: self.fd.as_raw_fd() as u32,
            bytes: size_of_val(&words) as u32,
            to: words.as_mut_ptr() as u64,
        };
        // SAFETY: the kernel writes `bytes` bytes at most; the addresses in the structure are null.
        unsafe { bpf(BpfCommand::ObjectInfo, &mut info)? };
        Ok(RunTime { time: Duration::from_nanos(words[24]), runs: words[25] })
    }
}

/// Loads again for the verifier's log, which costs time.
fn log(mut load: Load) -> String {
    let mut text = vec![0u8; LOG_BYTES];
    (load.log_level, load.log_bytes, load.log) = (1, LOG_BYTES as u32, text.as_mut_ptr() as u64);
    // SAFETY: as for the first load, and the log has `log_bytes` bytes. A program that loads now is
    // dropped.
    drop(unsafe { open(BpfCommand::ProgramLoad, &mut load) });
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(0);
    String::from_utf8_lossy(&text[..end]).into_owned()
}

impl AttachedProgram {
    /// Reads the run time.
    ///
    /// # Errors
    /// The kernel's.
    pub fn run_time(&self) -> io::Result<RunTime> {
        self.program.run_time()
    }
}

/// While this exists, the kernel times every program, at about 50 ns per run.
#[derive(Debug)]
pub struct Statistics(
    #[expect(dead_code, reason = "the kernel times programs while the descriptor is open")] OwnedFd,
);

impl Statistics {
    /// Starts timing.
    ///
    /// # Errors
    /// The kernel's: EPERM without CAP_SYS_ADMIN.
    pub fn begin() -> io::Result<Self> {
        // SAFETY: the structure holds no address; kind 0 is run time.
        unsafe { open(BpfCommand::EnableStatistics, &mut 0_u32) }.map(Statistics)
    }
}

#[cfg(test)]
mod tests {
    use super::super::assembler::{EbpfOperation, EbpfRegister};
    use super::super::{Btf, Map};
    use super::*;

    /// The most frequent tracepoint, if eBPF is allowed.
    fn place() -> Option<u32> {
        Map::counters("test", 1)
            .inspect_err(|error| seatmap_needs::skipped!("no eBPF here: {error}"))
            .ok()?;
        Some(Btf::of_kernel().ok()?.tracepoint("sched_waking").unwrap())
    }

    #[test]
    fn program_counts_and_is_timed() {
        let Some(place) = place() else { return };
        let map = Map::counters("test", 1).unwrap();
        let mut code = Assembler::new();
        let one = EbpfRegister::R1;
        let counter = EbpfRegister::R2;
        code.calculate_number(EbpfOperation::Move, one, 1)
            .counter(counter, &map, 0)
            .count(counter, 0, one)
            .end();
        let attached = EbpfProgram::load("test", place, &code).unwrap().attach().unwrap();
        let statistics = Statistics::begin().unwrap();
        std::thread::spawn(|| std::thread::sleep(Duration::from_millis(1))).join().unwrap();
        drop(statistics);
        let time = attached.run_time().unwrap();
        let counts = map.counts().unwrap();
        assert!(
            time.runs > 0 && time.time > Duration::ZERO && counts[0] >= time.runs,
            "{time:?} {counts:?}"
        );
    }

    #[test]
    fn verifier_reason_is_reported() {
        let Some(place) = place() else { return };
        let mut code = Assembler::new();
        // Register 3 is uninitialised.
        code.calculate(EbpfOperation::Move, EbpfRegister::R0, EbpfRegister::R3).end();
        let error = EbpfProgram::load("bad", place, &code).unwrap_err().to_string();
        assert!(error.contains("R3 !read_ok"), "{error}");
    }
}
