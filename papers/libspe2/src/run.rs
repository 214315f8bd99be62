//! Runs and their ends.

use crate::call::{Errno, complain, number};
use crate::callback;
use crate::context::context;
use crate::handle::{ContextHandle, OneContext};
use crate::types::{StopInfo, reason};
use seatmap_spe::run::{Arguments, RegisterWords, StopReason};
use seatmap_spe::stop::FaultKind;
use seatmap_spe::{EntryPoint, RunStop};
use std::ffi::{c_int, c_uint, c_void};

const DEFAULT_ENTRY: u32 = u32::MAX;
/// `argp` points to 48 bytes for the first three registers.
const RUN_USER_REGS: u32 = 1;
/// Calls to the PPE are ordinary stops.
const NO_CALLBACKS: u32 = 2;
/// Bits of the SPU's status: stop instruction, halt, invalid instruction, invalid channel (CBEA).
const STATUS_STOPPED: i32 = 0x2;
const STATUS_HALTED: i32 = 0x4;
const STATUS_INVALID_INSTRUCTION: i32 = 0x20;
const STATUS_INVALID_CHANNEL: i32 = 0x40;

struct StopReport {
    info: StopInfo,
    result: Result<i32, Errno>,
}

/// Runs the context's program until it stops, and reports why.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_context_run(
    spe: *mut ContextHandle,
    entry: *mut c_uint,
    flags: c_uint,
    argp: *mut c_void,
    envp: *mut c_void,
    stop_info: *mut StopInfo,
) -> c_int {
    number(|| {
        // SAFETY: C's promise.
        let one = unsafe { context(spe) }?;
        // As in libspe2, unknown flags are ignored.
        if entry.is_null() {
            return Err(Errno(libc::EINVAL));
        }
        // SAFETY: C's promise.
        let arguments = unsafe { arguments(spe, flags, argp, envp) }?;
        // SAFETY: not NULL, and C's promise.
        let begin =
            if unsafe { *entry } == DEFAULT_ENTRY { EntryPoint::Start } else { EntryPoint::Resume };
        let (ended, called) = run(&one, begin, arguments, flags & NO_CALLBACKS == 0)?;
        // SAFETY: as above.
        unsafe { *entry = ended.at };
        let report = if called { callback_failed(&ended) } else { tell(&ended) };
        one.spe.keep_end(ended);
        // SAFETY: C's promise: NULL or a structure.
        if let Some(info) = unsafe { stop_info.as_mut() } {
            *info = report.info;
        }
        report.result
    })
}

unsafe fn arguments(
    spe: *mut ContextHandle,
    flags: u32,
    argp: *mut c_void,
    envp: *mut c_void,
) -> Result<Arguments, Errno> {
    if flags & RUN_USER_REGS == 0 {
        return Ok([spe as u64, argp as u64, envp as u64].into());
    }
    if argp.is_null() {
        return Err(Errno(libc::EINVAL));
    }
    // SAFETY: C's promise: 48 bytes.
    let registers = unsafe { argp.cast::<[u64; 6]>().read_unaligned() };
    // SAFETY: as above.
    let words = unsafe { argp.cast::<[[u32; 4]; 3]>().read_unaligned() };
    Ok(Arguments {
        numbers: [registers[0], registers[2], registers[4]],
        words: RegisterWords(words),
    })
}

fn run(
    one: &OneContext,
    begin: EntryPoint,
    arguments: Arguments,
    answers: bool,
) -> Result<(RunStop, bool), Errno> {
    let mut ended = one.spe.run(begin, arguments)?;
    while let (true, StopReason::Code(code @ 0x2100..0x2200)) = (answers, &ended.stop) {
        if !callback::answer(*code & 0xff, one.spe.store().effective(), ended.at) {
            return Ok((ended, true));
        }
        ended = one.spe.run(EntryPoint::Resume, arguments)?;
    }
    Ok((ended, false))
}

fn callback_failed(ended: &RunStop) -> StopReport {
    let code = if let StopReason::Code(code) = ended.stop { code } else { 0 };
    report(reason::CALLBACK_ERROR, number_of(code), status(code), Err(Errno(libc::EFAULT)))
}

fn tell(ended: &RunStop) -> StopReport {
    match &ended.stop {
        StopReason::Code(code @ 0x2000..0x2100) => {
            report(reason::EXIT, number_of(code & 0xff), status(*code), Ok(0))
        }
        StopReason::Code(code) => {
            report(reason::STOP_AND_SIGNAL, number_of(*code), status(*code), Ok(number_of(*code)))
        }
        StopReason::Halt => error(STATUS_HALTED),
        StopReason::InvalidChannel(channel) => {
            eprintln!("libspe2: the program used channel {channel}, which an SPU does not have");
            error(STATUS_INVALID_CHANNEL)
        }
        StopReason::Deadlock(what) => {
            eprintln!("libspe2: the program would wait for ever: for {what}");
            error(STATUS_HALTED)
        }
        StopReason::Transfer(fault) => {
            complain(fault);
            report(reason::RUNTIME_EXCEPTION, fault.rule.exception(), 0, Err(Errno(libc::EIO)))
        }
        StopReason::Fault(fault) => {
            eprintln!("libspe2: {fault}");
            error(fault_status(fault.kind))
        }
        StopReason::Defect => {
            report(reason::RUNTIME_FATAL, libc::EFAULT, 0, Err(Errno(libc::EFAULT)))
        }
    }
}

/// The status after a fault: only invalid instructions have a bit.
fn fault_status(kind: FaultKind) -> i32 {
    match kind {
        FaultKind::Instruction | FaultKind::Jump => STATUS_INVALID_INSTRUCTION,
        FaultKind::Access | FaultKind::Arithmetic | FaultKind::Stack => STATUS_HALTED,
    }
}

fn error(status: i32) -> StopReport {
    report(reason::RUNTIME_ERROR, status, status, Err(Errno(libc::EFAULT)))
}

fn report(stop_reason: u32, value: i32, spu_status: i32, result: Result<i32, Errno>) -> StopReport {
    StopReport {
        info: StopInfo { stop_reason, result: [value, 0], spu_status, ..StopInfo::default() },
        result,
    }
}

fn status(code: u32) -> i32 {
    number_of(code << 16) | STATUS_STOPPED
}

fn number_of(code: u32) -> i32 {
    i32::try_from(code).unwrap_or(i32::MAX)
}

/// Takes a run's oldest end, if the context records them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_stop_info_read(
    spe: *mut ContextHandle,
    stop_info: *mut StopInfo,
) -> c_int {
    number(|| {
        // SAFETY: C's promise.
        let one = unsafe { context(spe) }?;
        // SAFETY: C's promise.
        let info = unsafe { stop_info.as_mut() }.ok_or(Errno(libc::EINVAL))?;
        if !one.spe.options().keeps_ends {
            return Err(Errno(libc::ENOTSUP));
        }
        let ended = one.spe.ended().ok_or(Errno(libc::EAGAIN))?;
        *info = quiet(&ended);
        Ok(0)
    })
}

/// Makes only the structure, because the run has already printed its message.
fn quiet(ended: &RunStop) -> StopInfo {
    match &ended.stop {
        StopReason::Code(_) => tell(ended).info,
        StopReason::InvalidChannel(_) => {
            structure(reason::RUNTIME_ERROR, STATUS_INVALID_CHANNEL, STATUS_INVALID_CHANNEL)
        }
        StopReason::Halt | StopReason::Deadlock(_) => {
            structure(reason::RUNTIME_ERROR, STATUS_HALTED, STATUS_HALTED)
        }
        StopReason::Transfer(fault) => {
            structure(reason::RUNTIME_EXCEPTION, fault.rule.exception(), 0)
        }
        StopReason::Fault(fault) => {
            let status = fault_status(fault.kind);
            structure(reason::RUNTIME_ERROR, status, status)
        }
        StopReason::Defect => structure(reason::RUNTIME_FATAL, libc::EFAULT, 0),
    }
}

fn structure(stop_reason: u32, value: c_int, spu_status: c_int) -> StopInfo {
    StopInfo { stop_reason, result: [value, 0], spu_status, ..StopInfo::default() }
}
