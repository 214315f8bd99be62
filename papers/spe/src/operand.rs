//! Decodes the memory operand of an x86-64 instruction at which a thread faulted.
//!
//! The formats are those of Intel's manual, volume 2, chapter 2.

/// The kernel's indices of the general registers, in the processor's order.
const PLACES: [i32; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];
/// Registers that replace an absolute operand: few instructions use them for something else.
const RBX: u8 = 3;
const RSI: u8 = 6;
const RDI: u8 = 7;
const LONGEST: usize = 15;

/// An instruction, one that sets a register, and a jump.
pub const RESTORING_BYTES: usize = LONGEST + 10 + 14;

/// A memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Base, scaled index and displacement.
    Sum {
        /// The base, as the processor's register number.
        base: Option<u8>,
        /// The index and its factor.
        index: Option<(u8, u8)>,
        /// The displacement.
        displacement: i64,
        /// The offset of the ModRM byte.
        form_at: usize,
        /// The operand's end.
        end: usize,
    },
    /// Relative to the next instruction.
    NextInstruction {
        /// The distance.
        displacement: i64,
        /// The next instruction's offset if this is a vector instruction; others may have an
        /// immediate.
        next: usize,
        /// As in [`Self::Sum`].
        form_at: usize,
        /// As in [`Self::Sum`].
        end: usize,
    },
    /// The destination or source of a string instruction.
    Text {
        /// `rsi` or `rdi`, as the processor's register number.
        register: u8,
        /// The other one, if the instruction uses both.
        other: Option<u8>,
    },
}

impl Operand {
    /// For an instruction with two operands, the one at the fault's address.
    pub fn at(self, registers: &[i64; 23], known: Option<u64>) -> Self {
        match self {
            Operand::Text { other: Some(other), .. }
                if known == Some(registers[PLACES[usize::from(other)] as usize] as u64) =>
            {
                Operand::Text { register: other, other: None }
            }
            operand => operand,
        }
    }

    /// The operand's address. The fault's address `known` may be a few bytes higher.
    pub fn address(&self, registers: &[i64; 23], known: Option<u64>) -> Option<u64> {
        match *self {
            Operand::Sum { base, index, displacement, .. } => {
                let index = index.map_or(0, |(register, factor)| {
                    value(registers, register).wrapping_mul(i64::from(factor))
                });
                let base = base.map_or(0, |register| value(registers, register));
                let sum = base.wrapping_add(index).wrapping_add(displacement);
                Some(sum as u64)
            }
            Operand::NextInstruction { displacement, next, .. } => {
                let at = registers[libc::REG_RIP as usize];
                Some(known.unwrap_or((at + next as i64).wrapping_add(displacement) as u64))
            }
            Operand::Text { register, .. } => Some(value(registers, register) as u64),
        }
    }

    fn number(&self) -> Option<u8> {
        match *self {
            Operand::Sum { base, index, .. } => {
                base.or(index.filter(|(_, factor)| *factor == 1).map(|(register, _)| register))
            }
            Operand::NextInstruction { .. } => None,
            Operand::Text { register, .. } => Some(register),
        }
    }

    /// The kernel's index of that register.
    pub fn register(&self) -> Option<usize> {
        Some(PLACES[usize::from(self.number()? & 15)] as usize)
    }

    /// A copy of the instruction that restores the register and jumps to the next; `None` if it may
    /// change the register itself.
    pub fn restoring(
        &self,
        code: &[u8; LONGEST],
        at: u64,
        before: u64,
    ) -> Option<[u8; RESTORING_BYTES]> {
        let Operand::Sum { form_at, end, .. } = *self else { return None };
        let register = self.number()?;
        let other = code[form_at] >> 3 & 7;
        if other == register & 7 {
            return None;
        }
        let is_half = code[..form_at - 1].contains(&0x66);
        let number = number_bytes(prefixes(code)?.map, code[form_at - 1], is_half)?;
        let end = (end + number).min(LONGEST);
        // mov $before,%register; jmp *(%rip), followed by the address.
        let back = [0x48 | register >> 3, 0xb8 | register & 7];
        let next = at + end as u64;
        let jump = [0xff, 0x25, 0, 0, 0, 0];
        // A signal handler must not allocate.
        let mut all = [0x90; RESTORING_BYTES];
        let parts = [&code[..end], &back, &before.to_le_bytes(), &jump, &next.to_le_bytes()];
        for (to, from) in all.iter_mut().zip(parts.into_iter().flatten()) {
            *to = *from;
        }
        Some(all)
    }

    /// Whether the instruction advances the register.
    pub fn advances(&self) -> bool {
        matches!(self, Operand::Text { .. })
    }

    /// The instruction with a register as its operand: the bytes, the register's index in the
    /// kernel, and the number of saved bytes.
    pub fn with_register(&self, code: &[u8; LONGEST]) -> Option<([u8; LONGEST], usize, i64)> {
        let (form_at, end) = match *self {
            Operand::Sum { base: None, index: None, form_at, end, .. }
            | Operand::NextInstruction { form_at, end, .. } => (form_at, end),
            _ => return None,
        };
        // The prefix would select another base.
        if prefixes(code)?.base != 0 {
            return None;
        }
        let other = code[form_at] >> 3 & 7;
        let register = if other == RBX { RSI } else { RBX };
        let mut changed = [0x90; LONGEST];
        changed[..form_at].copy_from_slice(&code[..form_at]);
        changed[form_at] = code[form_at] & 0x38 | register;
        let rest = &code[end..];
        changed[form_at + 1..form_at + 1 + rest.len()].copy_from_slice(rest);
        let shorter = i64::try_from(end - form_at - 1).ok()?;
        Some((changed, PLACES[usize::from(register)] as usize, shorter))
    }
}

fn value(registers: &[i64; 23], register: u8) -> i64 {
    registers[PLACES[usize::from(register & 15)] as usize]
}

#[derive(Clone, Copy, Debug, Default)]
struct Prefixes {
    at: usize,
    /// The fourth bits of index and base.
    index: u8,
    base: u8,
    /// The opcode's map: one byte, or after `0f`, `0f 38`, `0f 3a`.
    map: u8,
    /// A one-byte displacement's unit; 0 means bytes.
    unit: u8,
}

/// Decodes an instruction's memory operand; `None` if it has none or the format is unknown.
pub fn decode(code: &[u8; LONGEST]) -> Option<Operand> {
    let prefixes = prefixes(code)?;
    let opcode = *code.get(prefixes.at)?;
    if prefixes.map == 0 {
        match opcode {
            0xa4 | 0xa5 => return Some(Operand::Text { register: RDI, other: Some(RSI) }),
            0xaa | 0xab => return Some(Operand::Text { register: RDI, other: None }),
            0xac | 0xad => return Some(Operand::Text { register: RSI, other: None }),
            _ => {}
        }
    }
    if !has_form(prefixes.map, opcode) {
        return None;
    }
    operand(code, prefixes.at + 1, prefixes)
}

fn prefixes(code: &[u8; LONGEST]) -> Option<Prefixes> {
    let mut at = 0;
    // Sizes, repetitions, locks, and segments without a base.
    while matches!(code.get(at)?, 0x66 | 0xf2 | 0xf3 | 0xf0 | 0x2e | 0x36 | 0x3e | 0x26) {
        at += 1;
    }
    match *code.get(at)? {
        rex @ 0x40..=0x4f => {
            let index = (rex & 2) << 2;
            let base = (rex & 1) << 3;
            legacy(code, Prefixes { at: at + 1, index, base, ..Prefixes::default() })
        }
        // VEX prefixes store the bits inverted.
        0xc5 => Some(Prefixes { at: at + 2, map: 1, ..Prefixes::default() }),
        0xc4 => {
            let bits = !*code.get(at + 1)?;
            let map = *code.get(at + 1)? & 31;
            let index = bits >> 3 & 8;
            let base = bits >> 2 & 8;
            (1..=3).contains(&map).then_some(Prefixes { at: at + 3, index, base, map, unit: 0 })
        }
        // EVEX: a one-byte displacement counts vectors.
        0x62 => {
            let bits = !*code.get(at + 1)?;
            let map = *code.get(at + 1)? & 7;
            let unit = 16 << (*code.get(at + 3)? >> 5 & 3);
            let index = bits >> 3 & 8;
            let base = bits >> 2 & 8;
            (1..=3).contains(&map).then_some(Prefixes { at: at + 4, index, base, map, unit })
        }
        _ => legacy(code, Prefixes { at, ..Prefixes::default() }),
    }
}

fn legacy(code: &[u8; LONGEST], found: Prefixes) -> Option<Prefixes> {
    let at = found.at;
    if *code.get(at)? != 0x0f {
        return Some(found);
    }
    Some(match *code.get(at + 1)? {
        0x38 => Prefixes { at: at + 2, map: 2, ..found },
        0x3a => Prefixes { at: at + 2, map: 3, ..found },
        _ => Prefixes { at: at + 1, map: 1, ..found },
    })
}

fn has_form(map: u8, opcode: u8) -> bool {
    match (map, opcode) {
        (0, 0x00..=0x3f) => opcode & 7 < 4,
        // 8d computes an address without accessing memory.
        (0, 0x8d) => false,
        (0, 0x63 | 0x69 | 0x6b | 0x80..=0x8f | 0xc0 | 0xc1 | 0xc6 | 0xc7 | 0xd0..=0xd3) => true,
        (0, 0xd8..=0xdf | 0xf6 | 0xf7 | 0xfe | 0xff) => true,
        (1, 0x05..=0x0b | 0x30..=0x37 | 0x77 | 0x80..=0x8f | 0xa0..=0xa2 | 0xa8..=0xaa) => false,
        (1, 0xc8..=0xcf) => false,
        (1..=3, _) => true,
        _ => false,
    }
}

/// The immediate's bytes; `None` if the instruction may use more than its operand and a register or
/// an immediate.
fn number_bytes(map: u8, opcode: u8, is_half: bool) -> Option<usize> {
    match (map, opcode) {
        (0, 0x00..=0x3f) if opcode & 7 < 4 => Some(0),
        (0, 0x63 | 0x84 | 0x85 | 0x88..=0x8b) => Some(0),
        (0, 0x6b | 0x80 | 0x83 | 0xc0 | 0xc1 | 0xc6) => Some(1),
        (0, 0x69 | 0x81 | 0xc7) => Some(if is_half { 2 } else { 4 }),
        (1, 0x10..=0x17 | 0x28..=0x2f | 0x51..=0x6f | 0x74..=0x76 | 0x7e | 0x7f) => Some(0),
        (1, 0xaf | 0xb6 | 0xb7 | 0xbe | 0xbf | 0xd1..=0xfe) => Some(0),
        (1, 0x70 | 0xc2 | 0xc4..=0xc6) | (3, _) => Some(1),
        // Those between have vector indices.
        (2, 0x00..=0x8f | 0x94..=0xbf) => Some(0),
        _ => None,
    }
}

fn operand(code: &[u8; LONGEST], form_at: usize, prefixes: Prefixes) -> Option<Operand> {
    let form = *code.get(form_at)?;
    let mode = form >> 6;
    let mut end = form_at + 1;
    if mode == 3 {
        return None;
    }
    let mut base = Some(form & 7 | prefixes.base);
    let mut index = None;
    let mut is_far = mode == 2;
    if form & 7 == 4 {
        let both = *code.get(end)?;
        end += 1;
        base = Some(both & 7 | prefixes.base);
        let number = both >> 3 & 7 | prefixes.index;
        index = (number != 4).then_some((number, 1 << (both >> 6)));
        if both & 7 == 5 && mode == 0 {
            base = None;
            is_far = true;
        }
    } else if form & 7 == 5 && mode == 0 {
        let bytes: [u8; 4] = code.get(end..end + 4)?.try_into().ok()?;
        let displacement = i64::from(i32::from_le_bytes(bytes));
        // An immediate byte follows in the fourth map, and for vector comparisons and shuffles.
        let opcode = code[form_at - 1];
        let has_number =
            prefixes.map == 3 || prefixes.map == 1 && matches!(opcode, 0x70..=0x73 | 0xc2..=0xc6);
        let next = end + 4 + usize::from(has_number);
        return Some(Operand::NextInstruction { displacement, next, form_at, end: end + 4 });
    }
    let displacement = match (is_far, mode) {
        (true, _) => {
            let bytes: [u8; 4] = code.get(end..end + 4)?.try_into().ok()?;
            end += 4;
            i64::from(i32::from_le_bytes(bytes))
        }
        (false, 1) => {
            end += 1;
            i64::from(*code.get(end - 1)? as i8) * i64::from(prefixes.unit.max(1))
        }
        (false, _) => 0,
    };
    Some(Operand::Sum { base, index, displacement, form_at, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(code: &[u8]) -> Option<Operand> {
        let mut all = [0x90; LONGEST];
        all[..code.len()].copy_from_slice(code);
        decode(&all)
    }

    type Parts = (Option<u8>, Option<(u8, u8)>, i64);

    fn sum(code: &[u8]) -> Option<Parts> {
        match decoded(code)? {
            Operand::Sum { base, index, displacement, .. } => Some((base, index, displacement)),
            _ => None,
        }
    }

    #[test]
    fn operands_are_decoded() {
        let known: [(&[u8], Parts); 9] = [
            // mov (%rax),%eax
            (&[0x8b, 0x00], (Some(0), None, 0)),
            // mov %r9b,-8(%r12)
            (&[0x45, 0x88, 0x4c, 0x24, 0xf8], (Some(12), None, -8)),
            // movzwl (%rdi,%rcx,2),%eax
            (&[0x0f, 0xb7, 0x04, 0x4f], (Some(7), Some((1, 2)), 0)),
            // mov 0xf0000000,%eax
            (&[0x8b, 0x04, 0x25, 0, 0, 0, 0xf0], (None, None, -0x1000_0000)),
            // vmovdqu (%rsi),%xmm0
            (&[0xc5, 0xfa, 0x6f, 0x06], (Some(6), None, 0)),
            // vmovdqu %xmm0,(%r12)
            (&[0xc4, 0xc1, 0x7a, 0x7f, 0x04, 0x24], (Some(12), None, 0)),
            // vbroadcastss (%rax,%r10,4),%xmm0
            (&[0xc4, 0xa2, 0x79, 0x18, 0x04, 0x90], (Some(0), Some((10, 4)), 0)),
            // vmovdqu64 32(%rsi),%ymm0
            (&[0x62, 0xf1, 0xfe, 0x28, 0x6f, 0x46, 0x01], (Some(6), None, 32)),
            // movdqa %xmm0,0x100(%rbp)
            (&[0x66, 0x0f, 0x7f, 0x85, 0, 1, 0, 0], (Some(5), None, 256)),
        ];
        for (code, expected) in known {
            assert_eq!(sum(code), Some(expected), "{code:x?}");
        }
        let copy = Operand::Text { register: RDI, other: Some(RSI) };
        assert_eq!(decoded(&[0xf3, 0xa4]), Some(copy));
        let next =
            Operand::NextInstruction { displacement: 0x0403_0201, next: 6, form_at: 1, end: 6 };
        assert_eq!(decoded(&[0x89, 0x05, 1, 2, 3, 4]), Some(next));
    }

    #[test]
    fn other_instructions_have_no_operand() {
        // Register to register, push, call, lea, ud2, and a jump.
        let others: [&[u8]; 6] = [
            &[0x89, 0xc0],
            &[0x55],
            &[0xe8, 0, 0, 0, 0],
            &[0x8d, 0x04, 0x25, 0, 0, 0, 0],
            &[0x0f, 0x0b],
            &[0x0f, 0x84, 0, 0, 0, 0],
        ];
        assert!(others.iter().all(|code| decoded(code).is_none()));
    }

    #[test]
    fn plain_instruction_restores_its_register() {
        // mov 4(%r9),%edx
        let mut code = [0x90; LONGEST];
        code[..4].copy_from_slice(&[0x41, 0x8b, 0x51, 0x04]);
        let all = decode(&code).unwrap().restoring(&code, 0x1000, 0x77).unwrap();
        let expected = [
            &[0x41, 0x8b, 0x51, 0x04, 0x49, 0xb9, 0x77, 0, 0, 0, 0, 0, 0, 0][..],
            &[0xff, 0x25, 0, 0, 0, 0, 0x04, 0x10, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(&all[..28], expected.concat());
        // movw $0x102,(%rbx)
        code[..5].copy_from_slice(&[0x66, 0xc7, 0x03, 0x02, 0x01]);
        let all = decode(&code).unwrap().restoring(&code, 0, 0).unwrap();
        assert_eq!(&all[3..7], &[0x02, 0x01, 0x48, 0xbb]);
        // mov (%rax),%rax changes it; mull (%rbx) has other registers.
        for bytes in [&[0x48, 0x8b, 0x00][..], &[0xf7, 0x23]] {
            code[..bytes.len()].copy_from_slice(bytes);
            assert_eq!(decode(&code).unwrap().restoring(&code, 0, 0), None);
        }
    }

    #[test]
    fn operand_without_register_gets_one() {
        // movl $7,0x1000 becomes movl $7,(%rbx).
        let mut code = [0x90; LONGEST];
        code[..11].copy_from_slice(&[0xc7, 0x04, 0x25, 0, 0x10, 0, 0, 7, 0, 0, 0]);
        let operand = decode(&code).unwrap();
        assert_eq!((operand.register(), operand.address(&[0; 23], None)), (None, Some(0x1000)));
        let (changed, register, shorter) = operand.with_register(&code).unwrap();
        assert_eq!(&changed[..6], &[0xc7, 0x03, 7, 0, 0, 0]);
        assert_eq!((register, shorter), (libc::REG_RBX as usize, 5));
    }
}
