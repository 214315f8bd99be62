//! Makes a stopped thread set its memory policy.
//!
//! set_mempolicy(2) acts on the calling thread, so the thread itself must call it. The tracer
//! points it to a system call instruction, either the one from which it comes or one of the vDSO.
//! It lets the thread run to the end of that call, and then restores registers, signal mask, and
//! the bytes below the stack that held the node mask. Meanwhile no other instruction of the program
//! runs, and no signal is delivered.
//!
//! The thread is left alone, and the report says why, if it runs 32-bit code, ignores `SIGTRAP`, or
//! has a seccomp filter that the launcher lacks, which might end the program.

use crate::tracee::{self, TraceeStop, WaitStatus};
use seatmap_os::mempolicy::PolicyCall;
use seatmap_os::traced::SeccompFilters;
use seatmap_os::{Tid, traced};
use std::io;

/// The stack below the stack pointer for a function's use (System V ABI for x86-64, 3.2.2), rounded
/// up for every architecture.
const RED_ZONE_BYTES: u64 = 256;

/// If it were blocked, the program would lose its handler.
const SIGTRAP: u64 = 1 << (libc::SIGTRAP - 1);

/// Current kernels have two pages of vDSO code.
const VDSO_BYTES: usize = 8192;

type Registers = [u64; arch::REGISTERS];

#[cfg(target_arch = "x86_64")]
mod arch {
    //! `struct user_regs_struct` of `sys/user.h`, and the instruction `syscall`.
    pub const REGISTERS: usize = 27;
    pub const NUMBER: usize = 10;
    pub const RESULT: usize = 10;
    pub const ARGUMENTS: [usize; 3] = [14, 13, 12];
    pub const NEXT: usize = 16;
    pub const STACK: usize = 19;
    /// The interrupted call's number: -1 keeps the kernel from restarting it.
    pub const CAME_FROM: Option<usize> = Some(15);
    pub const INSTRUCTION: &[u8] = &[0x0f, 0x05];
}

#[cfg(target_arch = "aarch64")]
mod arch {
    //! `struct user_pt_regs` of `asm/ptrace.h`, and the instruction `svc #0`.
    pub const REGISTERS: usize = 34;
    pub const NUMBER: usize = 8;
    pub const RESULT: usize = 0;
    pub const ARGUMENTS: [usize; 3] = [0, 1, 2];
    pub const NEXT: usize = 32;
    pub const STACK: usize = 31;
    pub const CAME_FROM: Option<usize> = None;
    pub const INSTRUCTION: &[u8] = &[0x01, 0x00, 0x00, 0xd4];
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod arch {
    //! No registers are known: nothing is injected.
    pub const REGISTERS: usize = 1;
    pub const NUMBER: usize = 0;
    pub const RESULT: usize = 0;
    pub const ARGUMENTS: [usize; 3] = [0; 3];
    pub const NEXT: usize = 0;
    pub const STACK: usize = 0;
    pub const CAME_FROM: Option<usize> = None;
    pub const INSTRUCTION: &[u8] = &[];
}

pub enum Injected {
    /// The thread is as found, with its policy or the reason why not.
    Done(Result<(), String>),
    /// Another report came before the call, which can be retried.
    Reported(WaitStatus),
    /// Dead; its end is reported as usual.
    Gone,
}

impl Injected {
    fn refused(why: &str) -> Self {
        Injected::Done(Err(why.to_owned()))
    }
}

/// The thread must be in a ptrace-event-stop of `PTRACE_EVENT_STOP`; `is_first` marks its process's
/// first thread.
pub fn set_policy(
    tid: Tid,
    is_first: bool,
    call: &PolicyCall,
    own: Option<SeccompFilters>,
) -> Injected {
    if arch::INSTRUCTION.is_empty() {
        return Injected::refused(
            "a memory policy for a single thread is not supported on this processor",
        );
    }
    let status = traced::status(tid).unwrap_or_default();
    if own.is_none() || SeccompFilters::read(&status) != own {
        return Injected::refused(
            "its seccomp filter might kill the program for the call that sets the policy",
        );
    }
    if traced::ignores(&status, libc::SIGTRAP) {
        return Injected::refused("it ignores SIGTRAP, and the kernel would reset that");
    }
    let Some(before) = read_registers(tid) else {
        return Injected::refused("it runs 32-bit code");
    };
    let Some(at) = instruction(tid, &before) else {
        return Injected::refused("no instruction for a system call was found in it");
    };
    Injection { tid, is_first, before, at }.run(call)
}

fn instruction(tid: Tid, registers: &Registers) -> Option<u64> {
    let length = arch::INSTRUCTION.len();
    let before = registers[arch::NEXT].wrapping_sub(length as u64);
    let mut bytes = vec![0; length];
    if tracee::read_memory(tid, before, &mut bytes).is_ok() && bytes == arch::INSTRUCTION {
        return Some(before);
    }
    let vdso = traced::vdso(tid)?;
    let mut code = vec![0; VDSO_BYTES];
    if tracee::read_memory(tid, vdso, &mut code).is_err() {
        // The vDSO may have only one page.
        code.truncate(VDSO_BYTES / 2);
        tracee::read_memory(tid, vdso, &mut code).ok()?;
    }
    code.windows(length).position(|bytes| bytes == arch::INSTRUCTION).map(|at| vdso + at as u64)
}

struct Injection {
    tid: Tid,
    is_first: bool,
    before: Registers,
    at: u64,
}

impl Injection {
    fn run(&self, call: &PolicyCall) -> Injected {
        let mask = call.words().iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        let place = below_stack(self.before[arch::STACK], mask.len() as u64);
        let mut kept = vec![0; mask.len()];
        let written = tracee::read_memory(self.tid, place, &mut kept)
            .and_then(|()| tracee::write_memory(self.tid, place, &mask));
        if written.is_err() {
            return Injected::refused("its stack has no room for the node mask");
        }
        let Ok(signals) = tracee::signal_mask(self.tid) else { return Injected::Gone };
        let pointer = if mask.is_empty() { 0 } else { place };
        let _ = tracee::set_signal_mask(self.tid, !SIGTRAP);
        let _ = tracee::set_registers(self.tid, &self.with(call, pointer));
        let injected = self.execute();
        if is_itself(&injected) {
            let _ = tracee::write_memory(self.tid, place, &kept);
            let _ = tracee::set_registers(self.tid, &self.before);
            let _ = tracee::set_signal_mask(self.tid, signals);
        }
        injected
    }

    fn with(&self, call: &PolicyCall, pointer: u64) -> Registers {
        let mut registers = self.before;
        registers[arch::NEXT] = self.at;
        registers[arch::NUMBER] = PolicyCall::NUMBER as u64;
        let arguments = [i64::from(call.mode()) as u64, pointer, call.bits() as u64];
        arch::ARGUMENTS.iter().zip(arguments).for_each(|(at, value)| registers[*at] = value);
        if let Some(at) = arch::CAME_FROM {
            registers[at] = u64::MAX;
        }
        registers
    }

    /// Executes the system call. The next stop is like the first: from there the kernel restarts an
    /// interrupted call.
    fn execute(&self) -> Injected {
        tracee::step(self.tid);
        match tracee::wait_for(self.tid, self.is_first) {
            Some(WaitStatus::Stopped(TraceeStop::Signal(libc::SIGTRAP))) => {}
            Some(other) => return Injected::Reported(other),
            None => return Injected::Gone,
        }
        let Some(after) = read_registers(self.tid) else { return Injected::Gone };
        if after[arch::NEXT] == self.at {
            // The program's own, earlier signal.
            return Injected::Reported(WaitStatus::Stopped(TraceeStop::Signal(libc::SIGTRAP)));
        }
        Injected::Done(match after[arch::RESULT] as i64 {
            0 => Ok(()),
            code => Err(format!(
                "the kernel refused it: {}",
                io::Error::from_raw_os_error(-code as i32)
            )),
        })
    }
}

fn below_stack(stack: u64, bytes: u64) -> u64 {
    // The register may contain any number. If this wraps around, nothing is mapped there.
    stack.wrapping_sub(bytes + RED_ZONE_BYTES) & !15
}

/// Whether this is still the same stopped thread; any other needs no restoring.
fn is_itself(injected: &Injected) -> bool {
    match injected {
        Injected::Done(_) => true,
        Injected::Gone | Injected::Reported(WaitStatus::Ended(_) | WaitStatus::Continued) => false,
        Injected::Reported(WaitStatus::Stopped(stop)) => *stop != TraceeStop::Executed,
    }
}

fn read_registers(tid: Tid) -> Option<Registers> {
    let mut registers = [0; arch::REGISTERS];
    let length_bytes = tracee::registers(tid, &mut registers).ok()?;
    // 32-bit code has fewer registers.
    (length_bytes == size_of::<Registers>()).then_some(registers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_intact_threads_are_restored() {
        let reported = |status| is_itself(&Injected::Reported(status));
        assert!(is_itself(&Injected::Done(Ok(()))) && !is_itself(&Injected::Gone));
        assert!(reported(WaitStatus::Stopped(TraceeStop::Signal(10))));
        assert!(reported(WaitStatus::Stopped(TraceeStop::Group(19))));
        assert!(!reported(WaitStatus::Stopped(TraceeStop::Executed)));
        assert!(!reported(WaitStatus::Continued));
    }

    #[test]
    fn extreme_stack_pointers_do_not_overflow() {
        assert_eq!(below_stack(4096, 8), 3824);
        assert!(below_stack(0, 8) > 1 << 63 && below_stack(260, 8) > 1 << 63);
    }

    #[test]
    fn process_contains_syscall_instruction() {
        if arch::INSTRUCTION.is_empty() {
            return seatmap_needs::skipped!("no registers are known here");
        }
        let own = std::process::id() as Tid;
        assert!(instruction(own, &[0; arch::REGISTERS]).is_some(), "the vDSO has one");
    }
}
