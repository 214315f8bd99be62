//! The running kernel's types in BTF (Documentation/bpf/btf.rst): field offsets, and numbers of
//! tracepoints and functions.

use crate::bytes::u32_at;
use std::io;

const KERNEL: &str = "/sys/kernel/btf/vmlinux";

const MAGIC: u16 = 0xeb9f;

/// Limit on nested anonymous structures; deeper ones form a circle.
const DEEPEST: u32 = 8;

/// BTF kinds.
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const TYPEDEF: u32 = 8;
const FUNCTION: u32 = 12;

/// Why the kernel's types cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BtfError {
    /// The kernel does not publish them.
    #[error("{KERNEL} (a kernel built with CONFIG_DEBUG_INFO_BTF has it)")]
    Absent(#[source] io::Error),
    /// Invalid BTF.
    #[error("cannot read the kernel's types: {0}")]
    Malformed(&'static str),
    /// The kernel lacks the item.
    #[error("this kernel has no {0}")]
    Missing(String),
}

/// A kernel's types.
#[derive(Debug)]
pub struct Btf {
    types: Vec<u8>,
    strings: Vec<u8>,
    /// Offset of each type; type 0 (void) has no entry.
    starts: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Head {
    name: u32,
    info: u32,
    at: usize,
}

impl Head {
    fn kind(self) -> u32 {
        self.info >> 24 & 31
    }

    fn members(self) -> usize {
        (self.info & 0xffff) as usize
    }

    fn has_bit_fields(self) -> bool {
        self.info >> 31 == 1
    }
}

impl Btf {
    /// Reads the running kernel's types.
    ///
    /// # Errors
    /// [`BtfError::Absent`] and [`BtfError::Malformed`].
    pub fn of_kernel() -> Result<Self, BtfError> {
        Btf::parse(&std::fs::read(KERNEL).map_err(BtfError::Absent)?)
    }

    /// Parses BTF.
    ///
    /// # Errors
    /// [`BtfError::Malformed`].
    pub fn parse(bytes: &[u8]) -> Result<Self, BtfError> {
        let malformed = BtfError::Malformed;
        if bytes.first_chunk() != Some(&MAGIC.to_ne_bytes()) {
            return Err(malformed("no magic number"));
        }
        let length = u32_at(bytes, 4).ok_or(malformed("no header"))? as usize;
        let types = section(bytes, length, 8).ok_or(malformed("types out of range"))?;
        let strings = section(bytes, length, 16).ok_or(malformed("names out of range"))?;
        let starts = starts(&types).ok_or(malformed("a type of an unknown kind"))?;
        Ok(Btf { types, strings, starts })
    }

    /// A tracepoint's type number.
    ///
    /// # Errors
    /// [`BtfError::Missing`].
    pub fn tracepoint(&self, name: &str) -> Result<u32, BtfError> {
        let found = self.number(TYPEDEF, &format!("btf_trace_{name}"));
        found.ok_or_else(|| BtfError::Missing(format!("tracepoint {name}")))
    }

    /// A function's number.
    pub fn function(&self, name: &str) -> Option<u32> {
        self.number(FUNCTION, name)
    }

    /// A structure's number.
    ///
    /// # Errors
    /// [`BtfError::Missing`].
    pub fn structure(&self, name: &str) -> Result<u32, BtfError> {
        self.number(STRUCT, name).ok_or_else(|| BtfError::Missing(format!("struct {name}")))
    }

    /// A field's offset in bytes. `a.b` is field `b` of the structure in field `a`.
    ///
    /// # Errors
    /// [`BtfError::Missing`].
    pub fn field(&self, structure: &str, path: &str) -> Result<usize, BtfError> {
        let missing = || BtfError::Missing(format!("field {path} in struct {structure}"));
        let mut number = self.number(STRUCT, structure).ok_or_else(missing)?;
        let mut bytes = 0usize;
        for name in path.split('.') {
            let (offset, kind) = self.member(number, name, 0).ok_or_else(missing)?;
            bytes = bytes.checked_add(offset).ok_or_else(missing)?;
            number = kind;
        }
        Ok(bytes)
    }

    fn number(&self, kind: u32, name: &str) -> Option<u32> {
        (1..u32::try_from(self.starts.len()).ok()?).find(|number| {
            self.head(*number).is_some_and(|head| head.kind() == kind && self.is(head.name, name))
        })
    }

    /// A member's byte offset and type.
    fn member(&self, structure: u32, name: &str, depth: u32) -> Option<(usize, u32)> {
        let head = self.head(structure).filter(|head| [STRUCT, UNION].contains(&head.kind()))?;
        for place in 0..head.members() {
            let at = head.at + 12 + 12 * place;
            let [own, kind, bits] = [0, 4, 8].map(|offset| u32_at(&self.types, at + offset));
            let bits = if head.has_bit_fields() { bits? & 0x00ff_ffff } else { bits? };
            let bytes = bits as usize / 8;
            if self.is(own?, name) {
                return Some((bytes, kind?));
            }
            let is_nameless = self.is(own?, "") && depth < DEEPEST;
            if let Some((inner, kind)) =
                is_nameless.then(|| self.member(kind?, name, depth + 1)).flatten()
            {
                return Some((bytes.checked_add(inner)?, kind));
            }
        }
        None
    }

    fn head(&self, number: u32) -> Option<Head> {
        let at = *self.starts.get(number as usize).filter(|_| number > 0)?;
        Some(Head { name: u32_at(&self.types, at)?, info: u32_at(&self.types, at + 4)?, at })
    }

    fn is(&self, place: u32, name: &str) -> bool {
        let text = self.strings.get(place as usize..).unwrap_or_default();
        text.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&0))
    }
}

fn section(bytes: &[u8], length: usize, at: usize) -> Option<Vec<u8>> {
    let start = length.checked_add(u32_at(bytes, at)? as usize)?;
    bytes.get(start..start.checked_add(u32_at(bytes, at + 4)? as usize)?).map(<[u8]>::to_vec)
}

/// `None` for an unknown or truncated type.
fn starts(types: &[u8]) -> Option<Vec<usize>> {
    let mut starts = vec![0];
    let mut at = 0;
    while at < types.len() {
        let info = u32_at(types, at + 4)?;
        let members = (info & 0xffff) as usize;
        starts.push(at);
        at += 12
            + match info >> 24 & 31 {
                1 | 14 | 17 => 4,
                3 => 12,
                4 | 5 | 15 | 19 => 12 * members,
                6 | 13 => 8 * members,
                2 | 7..=12 | 16 | 18 => 0,
                _ => return None,
            };
    }
    (at == types.len()).then_some(starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `struct task { struct { int pid; }; int tgid; }`, `pid` at byte 4, `tgid` at 12, and a
    /// tracepoint.
    fn made() -> Vec<u8> {
        let strings = b"\0task\0pid\0tgid\0btf_trace_waking\0";
        let types: Vec<u32> = [
            [0, 1 << 24, 4, 32].to_vec(),
            [0, 4 << 24 | 1, 8, 6, 1, 32].to_vec(),
            [1, 4 << 24 | 2, 16, 0, 2, 0, 10, 1, 96].to_vec(),
            [15, 8 << 24, 1].to_vec(),
        ]
        .concat();
        let length = types.len() as u32 * 4;
        let mut bytes = [MAGIC.to_ne_bytes().to_vec(), vec![1, 0]].concat();
        [24, 0, length, length, strings.len() as u32].iter().chain(&types).for_each(|word| {
            bytes.extend(word.to_ne_bytes());
        });
        bytes.extend(strings);
        bytes
    }

    #[test]
    fn fields_are_found_in_anonymous_structures() {
        let btf = Btf::parse(&made()).unwrap();
        assert_eq!(
            (btf.field("task", "pid").unwrap(), btf.field("task", "tgid").unwrap()),
            (4, 12)
        );
        assert_eq!(btf.tracepoint("waking").unwrap(), 4);
        let missing = btf.field("task", "comm").unwrap_err().to_string();
        assert_eq!(missing, "this kernel has no field comm in struct task");
        assert_eq!((btf.structure("task").unwrap(), btf.function("task")), (3, None));
    }

    #[test]
    fn running_kernel_btf_is_readable() {
        let btf = match Btf::of_kernel() {
            Ok(btf) => btf,
            Err(error) => return seatmap_needs::skipped!("{error}"),
        };
        let [pid, tgid] = ["pid", "tgid"].map(|field| btf.field("task_struct", field).unwrap());
        assert_eq!(tgid, pid + 4);
        assert!(btf.field("task_struct", "se.sum_exec_runtime").unwrap() > 0);
        assert!(btf.tracepoint("sched_waking").is_ok());
    }

    proptest! {
        #[test]
        fn parser_survives_any_bytes(bytes: Vec<u8>) {
            let _ = Btf::parse(&bytes);
        }

        #[test]
        fn parser_survives_changed_types(
            changes in prop::collection::vec((0..180usize, any::<u8>()), 1..8),
            cut in 0..200usize,
        ) {
            let mut bytes = made();
            for (at, byte) in changes {
                if let Some(place) = bytes.get_mut(at) {
                    *place = byte;
                }
            }
            bytes.truncate(cut.max(24));
            if let Ok(btf) = Btf::parse(&bytes) {
                let _ = (btf.field("task", "pid.tgid"), btf.field("task", "tgid"), btf.tracepoint("waking"));
            }
        }
    }
}
