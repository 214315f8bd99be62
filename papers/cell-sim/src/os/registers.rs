//! Addresses of registers of a software device: a load or store of four bytes there becomes a call.
//!
//! A program accesses such an unmapped address with an ordinary instruction, which faults. The
//! handler of [`guarded`](super::guarded) decodes the instructions that compilers emit for loads
//! and stores of a `volatile` word, calls the device and continues after the instruction. Any other
//! instruction ends the process, like a bad address.

use std::sync::OnceLock;

/// A device: returns the word at an address, or accepts a store. Returns `None` if it has no such
/// register.
pub type RegisterDevice = fn(address: usize, store: Option<u32>) -> Option<u32>;

static DEVICE: OnceLock<RegisterDevice> = OnceLock::new();

/// Sets this process's device. Only the first call has an effect.
///
/// # Errors
/// The kernel's error if it rejects the fault handler.
pub fn serve(device: RegisterDevice) -> std::io::Result<()> {
    DEVICE.get_or_init(|| device);
    crate::os::guarded::prepare()
}

/// An instruction that moves one word between memory and a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveInstruction {
    /// The instruction's length.
    pub bytes: usize,
    /// Its direction and its other operand.
    pub kind: MoveKind,
}

/// The other operand of a [`MoveInstruction`]. Registers have the processor's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveKind {
    /// Loads into a register.
    Load(u8),
    /// Stores a register.
    Store(u8),
    /// Stores an immediate number.
    StoreNumber(u32),
}

/// Decodes a 32-bit `mov` with a memory operand at the start of some code; `None` for any other
/// instruction.
pub fn decode(code: &[u8]) -> Option<MoveInstruction> {
    // A prefix with the fourth bits of the register numbers, unless it makes the operand 64 bits
    // wide.
    let (rex, at) = match *code.first()? {
        rex @ 0x40..=0x4f if rex & 0x8 == 0 => (rex, 1),
        _ => (0, 0),
    };
    let opcode = *code.get(at)?;
    let form = *code.get(at + 1)?;
    let operand_bytes = memory_operand_bytes(form, code.get(at + 2).copied())?;
    let register = form >> 3 & 7 | (rex & 4) << 1;
    let end = at + 1 + operand_bytes;
    let kind = match (opcode, register & 7) {
        (0x8b, _) => MoveKind::Load(register),
        (0x89, _) => MoveKind::Store(register),
        (0xc7, 0) => {
            MoveKind::StoreNumber(u32::from_le_bytes(code.get(end..end + 4)?.try_into().ok()?))
        }
        _ => return None,
    };
    let bytes = if opcode == 0xc7 { end + 4 } else { end };
    (bytes <= code.len()).then_some(MoveInstruction { bytes, kind })
}

/// A memory operand's length: its form, an optional byte with base and index, and a displacement.
fn memory_operand_bytes(form: u8, index: Option<u8>) -> Option<usize> {
    let mode = form >> 6;
    let base = form & 7;
    let has_index = base == 4;
    let no_base = if has_index { index? & 7 == 5 } else { base == 5 };
    let displacement = match mode {
        0 if no_base => 4,
        0 => 0,
        1 => 1,
        2 => 4,
        _ => return None,
    };
    Some(1 + usize::from(has_index) + displacement)
}

/// Emulates the faulting instruction, if the device has the register. Returns whether the thread
/// continues after it.
///
/// # Safety
/// `context` is what the kernel passed to a handler of `SIGSEGV` with `SA_SIGINFO`, for a fault at
/// `address`.
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn perform(address: usize, context: *mut libc::c_void) -> bool {
    let Some(device) = DEVICE.get() else { return false };
    // SAFETY: the caller's promise.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let at = registers[libc::REG_RIP as usize];
    let mut code = [0; LONGEST];
    // SAFETY: the bytes are our own; the code may end a mapping, which is then an error.
    if unsafe { crate::os::guarded::copy(at as *const u8, code.as_mut_ptr(), LONGEST) }.is_err() {
        return false;
    }
    let Some(found) = decode(&code) else { return false };
    let done = match found.kind {
        MoveKind::Load(register) => {
            device(address, None).map(|word| registers[place(register)] = i64::from(word))
        }
        // The processor stores the lower half.
        MoveKind::Store(register) => {
            device(address, Some(registers[place(register)] as u32)).map(|_| ())
        }
        MoveKind::StoreNumber(word) => device(address, Some(word)).map(|_| ()),
    };
    if done.is_some() {
        registers[libc::REG_RIP as usize] += found.bytes as i64;
    }
    done.is_some()
}

/// The longest instruction that [`decode`] accepts: a prefix, the opcode, an operand of six bytes,
/// and a number of four.
#[cfg(target_arch = "x86_64")]
const LONGEST: usize = 12;

#[cfg(target_arch = "x86_64")]
fn place(register: u8) -> usize {
    use libc::{
        REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RAX, REG_RBP,
        REG_RBX, REG_RCX, REG_RDI, REG_RDX, REG_RSI, REG_RSP,
    };
    const PLACES: [i32; 16] = [
        REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI, REG_R8, REG_R9,
        REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
    ];
    PLACES[usize::from(register & 15)] as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_moves_are_decoded() {
        let load = MoveKind::Load;
        let store = MoveKind::Store;
        let known: [(&[u8], usize, MoveKind); 8] = [
            (&[0x8b, 0x00], 2, load(0)),                       // mov (%rax),%eax
            (&[0x8b, 0x47, 0x14], 3, load(0)),                 // mov 0x14(%rdi),%eax
            (&[0x44, 0x8b, 0x8f, 0, 0x40, 0, 0], 7, load(9)),  // mov 0x4000(%rdi),%r9d
            (&[0x89, 0x34, 0x25, 0, 0, 0, 0x40], 7, store(6)), // mov %esi,0x40000000
            (&[0x41, 0x89, 0x44, 0x24, 0x0c], 5, store(0)),    // mov %eax,0xc(%r12)
            (&[0x8b, 0x05, 1, 2, 3, 4], 6, load(0)),           // mov 0x04030201(%rip),%eax
            (&[0xc7, 0x40, 0x0c, 1, 0, 0, 0], 7, MoveKind::StoreNumber(1)), // movl $1,0xc(%rax)
            (&[0x41, 0xc7, 0x04, 0x24, 2, 0, 0, 0], 8, MoveKind::StoreNumber(2)), // movl $2,(%r12)
        ];
        for (code, bytes, kind) in known {
            let padded: Vec<u8> = code.iter().copied().chain([0x90; 8]).collect();
            assert_eq!(decode(&padded), Some(MoveInstruction { bytes, kind }), "{code:x?}");
        }
    }

    #[test]
    fn other_instructions_are_not_decoded() {
        // Between registers, 64 bits wide, 16 bits wide, an addition, a comparison, and truncated
        // code.
        let others: [&[u8]; 7] = [
            &[0x8b, 0xc0, 0x90],
            &[0x48, 0x8b, 0x00],
            &[0x66, 0x8b, 0x00],
            &[0x03, 0x00, 0x90],
            &[0x83, 0x38, 0x00],
            &[0xc7, 0x40, 0x0c, 1],
            &[0x8b],
        ];
        assert!(others.iter().all(|code| decode(code).is_none()));
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn register_access_reaches_the_device() {
        use std::sync::atomic::{AtomicU32, Ordering};
        static KEPT: AtomicU32 = AtomicU32::new(0);
        let area = crate::os::window::ReservedRange::new(4096).unwrap();
        let start = area.start() as usize;
        static START: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        START.store(start, Ordering::Relaxed);
        serve(|address, store| {
            let offset = address
                .checked_sub(START.load(Ordering::Relaxed))
                .filter(|offset| *offset < 4096)?;
            match store {
                Some(word) => KEPT.store(word, Ordering::Relaxed),
                None => return Some(KEPT.load(Ordering::Relaxed) + offset as u32),
            }
            Some(0)
        })
        .unwrap();
        let word = (start + 8) as *mut u32;
        // SAFETY: the device answers.
        let read = unsafe {
            word.write_volatile(40);
            word.read_volatile()
        };
        assert_eq!(read, 48);
    }
}
