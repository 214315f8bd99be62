//! Answers the program's system calls.
//!
//! Lengths, masks and errors follow `kernel/sched/syscalls.c` and `mm/mempolicy.c`. Other processes
//! appear as strangers, which may use all CPUs and cannot be moved.

use crate::cpu_times::PretendedCpuTimes;
use crate::policy::PretendedPolicy;
use crate::record::ProgramRecord;
use crate::thread_file::ThreadFileKind;
use crate::{PretendedMachine, thread_file};
use seatmap_os::listener::{AnsweredFile, CallAnswer, TrappedCall};
use seatmap_os::located_file::LocatedFile;
use seatmap_os::numa_maps::page_bytes;
use seatmap_os::{CpuSet, Root, Tid, task};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const IS_THREAD: u64 = 0x0001_0000;

const OF_NODE: u64 = 1;
const OF_ADDRESS: u64 = 2;
const OF_ALLOWED: u64 = 4;

const WORD_BYTES: u64 = 8;

/// That of the largest kernels (`NR_CPUS`, arch/x86/Kconfig).
const MOST_MASK_BYTES: u64 = 8192 / 8;

/// The kernel's longest node mask, in bits: a page of x86-64.
const MOST_NODE_BITS: u64 = 4096 * 8;

const TIMES: &str = "/proc/stat";

/// The bytes of a path read at once, a divisor of a page.
const PATH_PIECE: u64 = 256;

/// The place of `resolve` in `struct open_how`, and its flag for paths below a folder as if below
/// `/` (include/uapi/linux/openat2.h).
const RESOLVE_AT: u64 = 16;
const RESOLVE_IN_ROOT: u64 = 0x10;

/// The most recorded page moves.
const MOST_MOVED: usize = 1 << 20;
const MOST_RANGES: usize = 1 << 14;

/// A system call of the program.
pub struct ProgramCall<'a> {
    /// The calling thread.
    pub tid: Tid,
    /// The call.
    pub call: TrappedCall,
    /// Its arguments.
    pub arguments: [u64; 6],
    /// The thread's memory, by address.
    pub memory: &'a File,
    /// Seconds since the program began.
    pub at_s: f64,
}

/// A memory policy for an address range.
pub struct BoundRange {
    /// The process.
    pub pid: Tid,
    /// The thread that set it.
    pub tid: Tid,
    /// The first address.
    pub start: u64,
    /// The length, in bytes.
    pub bytes: u64,
    /// The policy.
    pub policy: PretendedPolicy,
}

/// The pretended machine's kernel.
pub struct PretendedKernel {
    /// The pretended machine.
    pub machine: PretendedMachine,
    /// The program's threads.
    pub record: ProgramRecord,
    /// Memory ranges with separate policies, in order.
    pub ranges: Vec<BoundRange>,
    /// The answered calls, by name.
    pub calls: BTreeMap<&'static str, u64>,
    moved: HashMap<(Tid, u64), u32>,
    cpu_times: PretendedCpuTimes,
}

type Refusal = i32;

type Answered = Result<i64, Refusal>;

fn fault(_: io::Error) -> Refusal {
    libc::EFAULT
}

impl ProgramCall<'_> {
    fn set(&self, address: u64, bytes: u64) -> Result<CpuSet, Refusal> {
        let mut words = vec![0; bytes as usize];
        self.memory.read_exact_at(&mut words, address).map_err(fault)?;
        let bits = 0..bytes as u32 * 8;
        Ok(bits.filter(|bit| words[(bit / 8) as usize] >> (bit % 8) & 1 == 1).collect())
    }

    fn path(&self, address: u64) -> Option<Vec<u8>> {
        let mut path = Vec::new();
        while path.len() < libc::PATH_MAX as usize {
            // Pieces end at page boundaries, because the next page may not be mapped.
            let at = address.checked_add(path.len() as u64)?;
            let piece = PATH_PIECE - at % PATH_PIECE;
            let mut bytes = vec![0; piece as usize];
            self.memory.read_exact_at(&mut bytes, at).ok()?;
            let end = bytes.iter().position(|byte| *byte == 0);
            path.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
            if end.is_some() {
                return Some(path);
            }
        }
        None
    }

    /// The file that a call opens for reading, and the flags.
    fn opened(&self) -> Option<(LocatedFile, i32)> {
        let [first, second, third, ..] = self.arguments;
        let (folder, address, flags) = match self.call {
            TrappedCall::Open => (libc::AT_FDCWD, first, second),
            TrappedCall::OpenAt => (first as i32, second, third),
            _ => (first as i32, second, u64::from_ne_bytes(self.number(third).ok()?)),
        };
        let flags = flags as i32;
        let cannot_read = flags & libc::O_ACCMODE == libc::O_WRONLY;
        if cannot_read || flags & (libc::O_PATH | libc::O_DIRECTORY) != 0 {
            return None;
        }
        let mut path = self.path(address).filter(|path| !path.is_empty())?;
        if self.call == TrappedCall::OpenAt2 {
            let resolve = u64::from_ne_bytes(self.number(third + RESOLVE_AT).ok()?);
            let slashes = path.iter().take_while(|byte| **byte == b'/').count();
            path.drain(..if resolve & RESOLVE_IN_ROOT != 0 { slashes } else { 0 });
        }
        let follows_last = flags & libc::O_NOFOLLOW == 0;
        Some((LocatedFile::named(self.tid, folder, &path, follows_last).ok()?, flags))
    }

    fn number<const BYTES: usize>(&self, address: u64) -> Result<[u8; BYTES], Refusal> {
        let mut number = [0; BYTES];
        self.memory.read_exact_at(&mut number, address).map_err(fault)?;
        Ok(number)
    }

    fn give(&self, address: u64, bytes: &[u8]) -> Result<(), Refusal> {
        self.memory.write_all_at(bytes, address).map_err(fault)
    }

    fn give_number(&self, address: u64, number: u32) -> Result<(), Refusal> {
        if address == 0 { Ok(()) } else { self.give(address, &number.to_ne_bytes()) }
    }
}

/// This computer's file.
fn text_here(path: &str) -> Option<String> {
    Root::new("/").read(path).ok()
}

fn word_bytes(bits: u64) -> u64 {
    bits.div_ceil(8 * WORD_BYTES) * WORD_BYTES
}

fn words(set: &CpuSet, bytes: u64) -> Vec<u8> {
    let mut words = vec![0_u8; bytes as usize];
    for member in set.iter() {
        if let Some(byte) = words.get_mut((member / 8) as usize) {
            *byte |= 1 << (member % 8);
        }
    }
    words
}

impl PretendedKernel {
    /// A machine's kernel, with the program's first process.
    pub fn new(machine: PretendedMachine, pid: Tid) -> Self {
        PretendedKernel {
            record: ProgramRecord::new(pid, machine.allowed.clone()),
            machine,
            ranges: Vec::new(),
            calls: BTreeMap::new(),
            moved: HashMap::new(),
            cpu_times: PretendedCpuTimes::default(),
        }
    }

    /// Answers a call.
    pub fn answer(&mut self, call: &ProgramCall) -> CallAnswer {
        let Some(at) = self.record.caller(call.tid, call.at_s) else {
            // The thread was killed.
            return CallAnswer::CarriedOut;
        };
        let (name, answered) = match call.call {
            TrappedCall::Open | TrappedCall::OpenAt | TrappedCall::OpenAt2 => {
                let Some(file) = self.open(call) else { return CallAnswer::CarriedOut };
                *self.calls.entry("open").or_default() += 1;
                return CallAnswer::File(file);
            }
            TrappedCall::StatFs | TrappedCall::FStatFs => {
                let Some(file_system) = self.file_system(call) else {
                    return CallAnswer::CarriedOut;
                };
                let answered = call.give(call.arguments[1], &file_system).map(|()| 0);
                ("statfs", answered)
            }
            TrappedCall::GetAffinity => ("sched_getaffinity", self.get_affinity(call, at)),
            TrappedCall::SetAffinity => ("sched_setaffinity", self.set_affinity(call, at)),
            TrappedCall::GetCpu => ("getcpu", self.get_cpu(call, at)),
            TrappedCall::GetPolicy => ("get_mempolicy", self.get_policy(call, at)),
            TrappedCall::SetPolicy => ("set_mempolicy", self.set_policy(call, at)),
            TrappedCall::BindMemory => ("mbind", self.bind_memory(call, at)),
            TrappedCall::MovePages => ("move_pages", self.move_pages(call, at)),
            // All pages are already in place.
            TrappedCall::MigratePages => ("migrate_pages", Ok(0)),
            TrappedCall::HomeNode => ("set_mempolicy_home_node", Ok(0)),
            other => {
                self.follow(other, call, at);
                return CallAnswer::CarriedOut;
            }
        };
        *self.calls.entry(name).or_default() += 1;
        answered.map_or_else(CallAnswer::Failure, CallAnswer::Value)
    }

    /// The file opened by this call, if answered: libnuma reads CPUs and nodes from `status`, and
    /// ps(1) a CPU from `stat`.
    fn open(&mut self, call: &ProgramCall) -> Option<AnsweredFile> {
        let (file, flags) = call.opened()?;
        let text = self.text_at(file.path()?.to_str()?, call.at_s)?;
        Some(AnsweredFile { text, closes_on_exec: flags & libc::O_CLOEXEC != 0 })
    }

    /// `None` for files that are not answered.
    fn text_at(&mut self, path: &str, at_s: f64) -> Option<String> {
        if path == TIMES {
            self.record.refresh_all(at_s);
            let host = text_here(TIMES).unwrap_or_default();
            return Some(self.cpu_times.stat(&self.machine, &self.record, at_s, &host));
        }
        let file = thread_file::at(path)?;
        let group = self.machine.group;
        Some(match file.kind {
            ThreadFileKind::Group => group.membership(),
            ThreadFileKind::Cpuset => "/\n".to_owned(),
            ThreadFileKind::MountInfo => group.mountinfo(&text_here(path)?),
            ThreadFileKind::MountTable => group.mount_table(&text_here(path)?),
            ThreadFileKind::Status => {
                let at = self.record.subject(file.tid, at_s)?;
                let mask = self.record.threads[at].mask();
                thread_file::status_on(&text_here(path)?, &self.machine, mask)
            }
            ThreadFileKind::Stat => {
                let at = self.record.subject(file.tid, at_s)?;
                thread_file::stat_on(&text_here(path)?, self.record.cpu_of(at))
            }
        })
    }

    /// The answer to `statfs` about control groups' mounts, by which programs tell their versions.
    fn file_system(&self, call: &ProgramCall) -> Option<Vec<u8>> {
        let named = match call.call {
            TrappedCall::StatFs => {
                LocatedFile::named(call.tid, libc::AT_FDCWD, &call.path(call.arguments[0])?, true)
            }
            _ => LocatedFile::named(call.tid, call.arguments[0] as i32, b"", true),
        };
        let file = named.ok()?;
        let kind = self.machine.group.file_system(file.path()?.to_str()?)?;
        file.file_system(kind).ok()
    }

    fn follow(&mut self, kind: TrappedCall, call: &ProgramCall, at: usize) {
        let flags = match kind {
            TrappedCall::Exit => return self.record.thread_ends(at, call.at_s),
            TrappedCall::ExitGroup => {
                let pid = self.record.threads[at].pid;
                return self.record.process_ends(pid, call.at_s);
            }
            TrappedCall::Clone => call.arguments[0],
            TrappedCall::Clone3 => {
                call.number(call.arguments[0]).map(u64::from_ne_bytes).unwrap_or_default()
            }
            _ => 0,
        };
        self.record.creates(at, flags & IS_THREAD != 0, call.at_s);
    }

    /// 0 for the caller; `None` for a stranger.
    fn named(&mut self, call: &ProgramCall, at: usize) -> Result<Option<usize>, Refusal> {
        match call.arguments[0] as i32 {
            0 => Ok(Some(at)),
            ..0 => Err(libc::EINVAL),
            tid => match self.record.subject(tid, call.at_s) {
                None if !task::exists(tid) => Err(libc::ESRCH),
                found => Ok(found),
            },
        }
    }

    fn mask_bytes(&self) -> u64 {
        word_bytes(u64::from(self.machine.cpu_bits()))
    }

    fn get_affinity(&mut self, call: &ProgramCall, at: usize) -> Answered {
        let [_, bytes, to, ..] = call.arguments;
        let bytes = u64::from(bytes as u32);
        if bytes * 8 < u64::from(self.machine.cpu_bits()) || !bytes.is_multiple_of(WORD_BYTES) {
            return Err(libc::EINVAL);
        }
        let mask = match self.named(call, at)? {
            Some(subject) => self.record.threads[subject].mask(),
            None => &self.machine.online,
        };
        let bytes = bytes.min(self.mask_bytes());
        call.give(to, &words(mask, bytes))?;
        Ok(bytes as i64)
    }

    fn set_affinity(&mut self, call: &ProgramCall, at: usize) -> Answered {
        let [_, bytes, from, ..] = call.arguments;
        let mask = call.set(from, u64::from(bytes as u32).min(self.mask_bytes()))?;
        let subject = self.named(call, at)?.ok_or(libc::EPERM)?;
        let kept = mask.within(&self.machine.allowed);
        if kept.is_empty() {
            // The kernel first truncates a mask to its own length.
            let wanted = call.set(from, bytes.min(MOST_MASK_BYTES)).unwrap_or(mask);
            self.record.refuse(subject, wanted, call.at_s);
            return Err(libc::EINVAL);
        }
        self.record.seat(subject, kept, call.at_s);
        Ok(0)
    }

    fn get_cpu(&self, call: &ProgramCall, at: usize) -> Answered {
        let cpu = self.record.cpu_of(at);
        call.give_number(call.arguments[0], cpu)?;
        call.give_number(call.arguments[1], self.machine.node_of(cpu))?;
        Ok(0)
    }

    /// Its length is one bit too large.
    fn nodes(&self, call: &ProgramCall, address: u64, bits: u64) -> Result<CpuSet, Refusal> {
        let bits = bits.saturating_sub(1);
        if address == 0 || bits == 0 {
            return Ok(CpuSet::default());
        }
        if bits > MOST_NODE_BITS {
            return Err(libc::EINVAL);
        }
        let set = call.set(address, word_bytes(bits))?;
        Ok(set.iter().filter(|node| u64::from(*node) < bits).collect())
    }

    fn policy(&mut self, mode: u64, nodes: &CpuSet, at: usize) -> Result<PretendedPolicy, Refusal> {
        let usable = self.machine.memory_nodes();
        let policy = PretendedPolicy::of(mode as u32, nodes, &usable);
        if policy.is_none() {
            let lacking = nodes.without(&usable);
            self.record.threads[at].refused_nodes.extend(lacking);
        }
        policy.ok_or(libc::EINVAL)
    }

    fn set_policy(&mut self, call: &ProgramCall, at: usize) -> Answered {
        let [mode, address, bits, ..] = call.arguments;
        let nodes = self.nodes(call, address, bits)?;
        self.record.threads[at].policy = self.policy(mode, &nodes, at)?;
        Ok(0)
    }

    fn get_policy(&mut self, call: &ProgramCall, at: usize) -> Answered {
        let [mode_to, nodes_to, bits, address, flags, _] = call.arguments;
        let is_too_short = nodes_to != 0 && bits < u64::from(self.machine.node_bits());
        let is_of_allowed = flags & OF_ALLOWED != 0;
        let is_of_address = flags & OF_ADDRESS != 0;
        if is_too_short
            || flags & !(OF_NODE | OF_ADDRESS | OF_ALLOWED) != 0
            || is_of_allowed && flags & (OF_NODE | OF_ADDRESS) != 0
            || !is_of_address && address != 0
        {
            return Err(libc::EINVAL);
        }
        if is_of_allowed {
            call.give_number(mode_to, 0)?;
            return self.give_nodes(call, &self.machine.memory_nodes());
        }
        let thread = &self.record.threads[at];
        let pid = thread.pid;
        let range = self.range_of(pid, address).filter(|_| is_of_address);
        let policy = range.map_or(&thread.policy, |range| &range.policy).clone();
        let mode = match (flags & OF_NODE != 0, is_of_address) {
            (true, true) => self.node_of_page(at, address),
            (true, false) if policy.interleaves() => policy.node(0, 0),
            (true, false) => return Err(libc::EINVAL),
            (false, _) => policy.number(),
        };
        call.give_number(mode_to, mode)?;
        self.give_nodes(call, &policy.nodes)
    }

    fn give_nodes(&self, call: &ProgramCall, nodes: &CpuSet) -> Answered {
        let [_, address, bits, ..] = call.arguments;
        if address != 0 {
            let bits = bits.saturating_sub(1).min(MOST_NODE_BITS);
            call.give(address, &words(nodes, word_bytes(bits)))?;
        }
        Ok(0)
    }

    fn bind_memory(&mut self, call: &ProgramCall, at: usize) -> Answered {
        let [start, bytes, mode, address, bits, _] = call.arguments;
        if !start.is_multiple_of(page_bytes()) || start.checked_add(bytes).is_none() {
            return Err(libc::EINVAL);
        }
        let nodes = self.nodes(call, address, bits)?;
        let policy = self.policy(mode, &nodes, at)?;
        let thread = &self.record.threads[at];
        // An allocator that binds each of its blocks gives all the same policy.
        if self.ranges.len() >= MOST_RANGES {
            return Ok(0);
        }
        self.ranges.push(BoundRange {
            pid: thread.pid,
            tid: thread.tid,
            start,
            bytes: bytes.next_multiple_of(page_bytes()),
            policy,
        });
        Ok(0)
    }

    fn range_of(&self, pid: Tid, address: u64) -> Option<&BoundRange> {
        self.ranges.iter().rev().find(|range| {
            range.pid == pid && (range.start..range.start + range.bytes).contains(&address)
        })
    }

    /// Memory without a policy counts as first touched by the calling thread.
    fn node_of_page(&self, at: usize, address: u64) -> u32 {
        let thread = &self.record.threads[at];
        let page = address / page_bytes();
        let local = self.machine.node_of(self.record.cpu_of(at));
        let moved = self.moved.get(&(thread.pid, page)).copied();
        moved.unwrap_or_else(|| match self.range_of(thread.pid, address) {
            Some(range) => range.policy.node(page - range.start / page_bytes(), local),
            None => thread.policy.node(page, local),
        })
    }

    fn move_pages(&mut self, call: &ProgramCall, at: usize) -> Answered {
        let [_, count, pages, nodes, status, flags] = call.arguments;
        if flags & !6 != 0 {
            return Err(libc::EINVAL);
        }
        let subject = self.named(call, at)?.ok_or(libc::EPERM)?;
        let usable = self.machine.memory_nodes();
        for rank in 0..count {
            let address = u64::from_ne_bytes(call.number(pages + rank * 8)?);
            let node = if nodes == 0 {
                self.node_of_page(subject, address)
            } else {
                let node = u32::from_ne_bytes(call.number(nodes + rank * 4)?);
                if !usable.contains(node) {
                    self.record.threads[at].refused_nodes.insert(node);
                    return Err(libc::ENODEV);
                }
                if self.moved.len() < MOST_MOVED {
                    let pid = self.record.threads[subject].pid;
                    self.moved.insert((pid, address / page_bytes()), node);
                }
                node
            };
            call.give_number(status + rank * 4, node)?;
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests;
