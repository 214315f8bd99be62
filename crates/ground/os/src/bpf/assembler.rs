//! An assembler for eBPF, with labels (RFC 9669).

use self::EbpfRegister::{R0, R1, R2, R3, R4, Stack};
use super::map::Map;
use std::collections::HashMap;

/// Registers by their names in `Documentation/bpf/standardization/instruction-set.rst`.
#[derive(Clone, Copy, Debug)]
pub enum EbpfRegister {
    /// A call's or program's result.
    R0,
    /// A call's argument 1.
    R1,
    /// A call's argument 2.
    R2,
    /// A call's argument 3.
    R3,
    /// A call's argument 4.
    R4,
    /// Survives calls.
    R6 = 6,
    /// Survives calls.
    R7,
    /// Survives calls.
    R8,
    /// Survives calls.
    R9,
    /// R10, the end of the stack, read-only.
    Stack,
}

/// The width of a load or store.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum Width {
    /// 2 bytes.
    Half = 0x08,
    /// 4 bytes.
    Word = 0x00,
    /// 8 bytes.
    Double = 0x18,
}

/// A comparison of unsigned 64-bit numbers.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum JumpCondition {
    /// Equal.
    Equal = 0x10,
    /// Not equal.
    Different = 0x50,
    /// Greater.
    Above = 0x20,
}

/// An operation on 64-bit numbers.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum EbpfOperation {
    /// Sum.
    Add = 0x00,
    /// Difference; of two addresses, a number.
    Subtract = 0x10,
    /// Bitwise or.
    Or = 0x40,
    /// Bitwise and.
    And = 0x50,
    /// Shift left.
    ShiftLeft = 0x60,
    /// Logical shift right.
    ShiftRight = 0x70,
    /// Copy.
    Move = 0xb0,
}

/// Kernel functions for programs (`include/uapi/linux/bpf.h`).
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub enum Helper {
    /// Address of a key's value in a map, or 0.
    Lookup = 1,
    /// Sets a key's value.
    Update = 2,
    /// Removes a key.
    Delete = 3,
    /// Monotonic clock in nanoseconds.
    Clock = 5,
    /// Current CPU.
    Cpu = 8,
    /// Current thread (lower half) and process (upper half).
    CurrentThread = 14,
    /// Copies from kernel memory.
    ReadKernel = 113,
    /// Current thread's kernel structure.
    CurrentTask = 158,
    /// The registers of a thread when it entered the kernel.
    TaskRegisters = 175,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    immediate: i32,
}

/// Why assembling failed.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum AssemblyError {
    /// A jump to a missing label.
    #[error("there is no label '{0}'")]
    NoLabel(&'static str),
    /// A jump over more than 32767 instructions.
    #[error("the label '{0}' is too far away")]
    TooFar(&'static str),
    /// A field offset beyond 32767 bytes.
    #[error("a field at byte {0} is too far from its structure's start")]
    FarField(usize),
}

/// A program under construction.
#[derive(Debug, Default)]
pub struct Assembler {
    code: Vec<Instruction>,
    labels: HashMap<&'static str, usize>,
    jumps: Vec<(usize, &'static str)>,
    far: Option<usize>,
}

impl Assembler {
    /// An empty program.
    pub fn new() -> Self {
        Assembler::default()
    }

    /// `to = *(from + offset)`.
    pub fn load(
        &mut self,
        width: Width,
        to: EbpfRegister,
        from: EbpfRegister,
        offset: usize,
    ) -> &mut Self {
        let offset = self.near(offset);
        self.put(0x61 | width as u8, to, from, offset, 0)
    }

    /// `*(to + offset) = from`; stack offsets are negative.
    pub fn store(
        &mut self,
        width: Width,
        to: EbpfRegister,
        offset: i16,
        from: EbpfRegister,
    ) -> &mut Self {
        self.put(0x63 | width as u8, to, from, offset, 0)
    }

    /// `*(to + offset) = number`.
    pub fn store_number(
        &mut self,
        width: Width,
        to: EbpfRegister,
        offset: i16,
        number: i32,
    ) -> &mut Self {
        self.put(0x62 | width as u8, to, R0, offset, number)
    }

    /// `*(to + offset) += from`, atomically.
    pub fn count(&mut self, to: EbpfRegister, offset: i16, from: EbpfRegister) -> &mut Self {
        self.put(0xdb, to, from, offset, 0)
    }

    /// `to = to OPERATION from`.
    pub fn calculate(
        &mut self,
        operation: EbpfOperation,
        to: EbpfRegister,
        from: EbpfRegister,
    ) -> &mut Self {
        self.put(0x0f | operation as u8, to, from, 0, 0)
    }

    /// `to = to OPERATION number`.
    pub fn calculate_number(
        &mut self,
        operation: EbpfOperation,
        to: EbpfRegister,
        number: i32,
    ) -> &mut Self {
        self.put(0x07 | operation as u8, to, R0, 0, number)
    }

    /// `to` = the address at this offset from the stack's end.
    pub fn stack(&mut self, to: EbpfRegister, offset: i32) -> &mut Self {
        self.copy(to, Stack).calculate_number(EbpfOperation::Add, to, offset)
    }

    /// Jumps if the comparison holds.
    pub fn jump_if(
        &mut self,
        compare: JumpCondition,
        left: EbpfRegister,
        right: i32,
        label: &'static str,
    ) -> &mut Self {
        self.jumps.push((self.code.len(), label));
        self.put(0x05 | compare as u8, left, R0, 0, right)
    }

    /// Jumps if the comparison of two registers holds.
    pub fn jump_if_both(
        &mut self,
        compare: JumpCondition,
        left: EbpfRegister,
        right: EbpfRegister,
        label: &'static str,
    ) -> &mut Self {
        self.jumps.push((self.code.len(), label));
        self.put(0x0d | compare as u8, left, right, 0, 0)
    }

    /// Jumps.
    pub fn jump(&mut self, label: &'static str) -> &mut Self {
        self.jumps.push((self.code.len(), label));
        self.put(0x05, R0, R0, 0, 0)
    }

    /// Defines a label here.
    pub fn label(&mut self, label: &'static str) -> &mut Self {
        self.labels.insert(label, self.code.len());
        self
    }

    /// Calls a kernel function.
    pub fn call(&mut self, helper: Helper) -> &mut Self {
        self.put(0x85, R0, R0, 0, helper as i32)
    }

    /// Calls a kernel function by its BTF number.
    pub fn call_function(&mut self, number: u32) -> &mut Self {
        self.put(0x85, R0, R2, 0, number as i32)
    }

    /// `to` = the map, for a call.
    pub fn map(&mut self, to: EbpfRegister, map: &Map) -> &mut Self {
        self.wide(to, R1, map.descriptor(), 0)
    }

    /// `to` = the address of a counter of [`Map::counters`].
    pub fn counter(&mut self, to: EbpfRegister, map: &Map, number: u32) -> &mut Self {
        self.wide(to, R2, map.descriptor(), number as i32 * 8)
    }

    /// `to = number`.
    pub fn set(&mut self, to: EbpfRegister, number: i32) -> &mut Self {
        self.calculate_number(EbpfOperation::Move, to, number)
    }

    /// `to = from`.
    pub fn copy(&mut self, to: EbpfRegister, from: EbpfRegister) -> &mut Self {
        self.calculate(EbpfOperation::Move, to, from)
    }

    /// R0 = the address of the value for the key at this stack offset, or 0.
    pub fn look_up(&mut self, map: &Map, key: i16) -> &mut Self {
        self.map(R1, map).stack(R2, key.into()).call(Helper::Lookup)
    }

    /// Sets a key's value, from their stack offsets. `flags` as for bpf_map_update_elem().
    pub fn update(&mut self, map: &Map, [key, value]: [i16; 2], flags: i32) -> &mut Self {
        self.map(R1, map)
            .stack(R2, key.into())
            .stack(R3, value.into())
            .set(R4, flags)
            .call(Helper::Update)
    }

    /// Adds 1 to a counter of [`Map::counters`].
    pub fn count_one(&mut self, map: &Map, number: u32) -> &mut Self {
        self.set(R1, 1).counter(R2, map, number).count(R2, 0, R1)
    }

    /// Returns 0, as tracepoints require.
    pub fn end(&mut self) -> &mut Self {
        self.set(R0, 0).put(0x95, R0, R0, 0, 0)
    }

    /// The instructions, with jump distances.
    ///
    /// # Errors
    /// [`AssemblyError`].
    pub(super) fn finish(&self) -> Result<Vec<Instruction>, AssemblyError> {
        if let Some(field) = self.far {
            return Err(AssemblyError::FarField(field));
        }
        let mut code = self.code.clone();
        for (at, label) in &self.jumps {
            let to = *self.labels.get(label).ok_or(AssemblyError::NoLabel(label))?;
            let distance = to as i64 - *at as i64 - 1;
            code[*at].offset = i16::try_from(distance).map_err(|_| AssemblyError::TooFar(label))?;
        }
        Ok(code)
    }

    /// A 64-bit constant, which takes two instructions.
    fn wide(&mut self, to: EbpfRegister, kind: EbpfRegister, low: i32, high: i32) -> &mut Self {
        self.put(0x18, to, kind, 0, low).put(0, R0, R0, 0, high)
    }

    fn near(&mut self, offset: usize) -> i16 {
        i16::try_from(offset).unwrap_or_else(|_| {
            self.far = Some(offset);
            0
        })
    }

    fn put(
        &mut self,
        code: u8,
        to: EbpfRegister,
        from: EbpfRegister,
        offset: i16,
        immediate: i32,
    ) -> &mut Self {
        let [low, high] = if cfg!(target_endian = "little") {
            [to as u8, from as u8]
        } else {
            [from as u8, to as u8]
        };
        self.code.push(Instruction { code, registers: low | high << 4, offset, immediate });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: EbpfRegister = EbpfRegister::R1;

    #[test]
    fn jumps_lead_to_their_labels() {
        let mut program = Assembler::new();
        program
            .label("start")
            .jump_if(JumpCondition::Equal, A, 7, "end")
            .jump("start")
            .label("end")
            .end();
        let offsets: Vec<i16> = program.finish().unwrap().iter().map(|one| one.offset).collect();
        assert_eq!(offsets, [1, -2, 0, 0]);
    }

    #[test]
    fn assembly_errors_are_named() {
        let mut program = Assembler::new();
        program.jump("nowhere");
        assert_eq!(program.finish(), Err(AssemblyError::NoLabel("nowhere")));
        let mut program = Assembler::new();
        program.load(Width::Word, A, A, 40_000);
        assert_eq!(program.finish(), Err(AssemblyError::FarField(40_000)));
        let mut program = Assembler::new();
        program.jump("end");
        (0..40_000).for_each(|_| {
            program.end();
        });
        program.label("end");
        assert_eq!(program.finish(), Err(AssemblyError::TooFar("end")));
    }

    #[test]
    fn instruction_encoding_matches_the_standard() {
        let mut program = Assembler::new();
        program
            .load(Width::Double, EbpfRegister::R6, A, 8)
            .store(Width::Word, Stack, -4, EbpfRegister::R6)
            .end();
        let code = program.finish().unwrap();
        assert_eq!((code[0].code, code[0].offset), (0x79, 8));
        assert_eq!((code[1].code, code[1].offset), (0x63, -4));
        assert_eq!(code.iter().map(|one| one.code).collect::<Vec<_>>(), [0x79, 0x63, 0xb7, 0x95]);
    }
}
