//! Copies of bytes between CPUs.

use super::{BatchPlan, Primitive, PrimitiveError, PrimitiveThreads, SamplesResult};
use std::hint::black_box;
use std::io;

/// Copies bytes with the processor, from a buffer that the last CPU wrote to a buffer of the first
/// CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyBytes {
    /// Bytes.
    pub bytes: usize,
}

/// Reads bytes through process_vm_readv(2), the single copy of MPI libraries, from this process
/// itself, which needs no permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessVmReadv {
    /// Bytes.
    pub bytes: usize,
}

fn written_by_the_last(
    room: &mut PrimitiveThreads,
    cpus: &[u32],
    bytes: usize,
) -> Result<Vec<u8>, PrimitiveError> {
    match cpus.last() {
        Some(cpu) => room.on(*cpu, || vec![1; bytes]),
        None => Ok(Vec::new()),
    }
}

fn time(
    primitive: &impl Primitive,
    room: &mut PrimitiveThreads,
    cpus: &[u32],
    plan: BatchPlan,
    bytes: usize,
    copy: fn(&[u8], &mut [u8]) -> io::Result<()>,
) -> SamplesResult {
    let takes = primitive.cpus();
    if !takes.contains(&cpus.len()) {
        return Err(PrimitiveError::Cpus { name: primitive.name(), takes, given: cpus.len() });
    }
    let from = written_by_the_last(room, cpus, bytes)?;
    let from = from.as_slice();
    room.time(primitive, &cpus[..1], plan, |_| {
        let mut to = vec![2; bytes];
        move || copy(from, black_box(&mut to))
    })
}

fn by_the_processor(from: &[u8], to: &mut [u8]) -> io::Result<()> {
    to.copy_from_slice(black_box(from));
    Ok(())
}

fn by_the_kernel(from: &[u8], to: &mut [u8]) -> io::Result<()> {
    let there = libc::iovec { iov_base: from.as_ptr().cast_mut().cast(), iov_len: from.len() };
    let here = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: to.len() };
    // SAFETY: `here` is writable for its length and `there` readable for its, both in this process
    // and alive meanwhile.
    let read = unsafe {
        libc::process_vm_readv(libc::getpid(), &raw const here, 1, &raw const there, 1, 0)
    };
    match usize::try_from(read) {
        Ok(read) if read == from.len() => Ok(()),
        Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

impl Primitive for CopyBytes {
    fn name(&self) -> String {
        format!("copy {} B", self.bytes)
    }

    fn cpus(&self) -> std::ops::RangeInclusive<usize> {
        1..=2
    }

    fn attempt(&self, room: &mut PrimitiveThreads, cpus: &[u32], plan: BatchPlan) -> SamplesResult {
        time(self, room, cpus, plan, self.bytes, by_the_processor)
    }
}

impl Primitive for ProcessVmReadv {
    fn name(&self) -> String {
        format!("process_vm_readv {} B", self.bytes)
    }

    fn cpus(&self) -> std::ops::RangeInclusive<usize> {
        1..=2
    }

    fn attempt(&self, room: &mut PrimitiveThreads, cpus: &[u32], plan: BatchPlan) -> SamplesResult {
        time(self, room, cpus, plan, self.bytes, by_the_kernel)
    }
}
