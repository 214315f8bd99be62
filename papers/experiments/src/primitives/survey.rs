//! Surveys all primitives, for a pair of CPUs of each kind on this computer.

use super::{
    Atomics, BatchPlan, CopyBytes, DescriptorKind, Descriptors, FutexPingPong, Primitive,
    PrimitiveError, PrimitiveThreads, ProcessVmReadv, ReadModifyWrite, ThreadCreateJoin,
};
use seatmap_data::machine::{Pu, Topology};
use seatmap_data::statistics::words::counted;

const SIZES: [usize; 5] = [8, 1 << 10, 64 << 10, 1 << 20, 16 << 20];
/// Bytes copied in a batch, so that large copies do not take too long.
const COPIED_BYTES: usize = 32 << 20;
/// Batches of atomics are short, so that a batch in which another program had the CPU stands out.
const ATOMICS: BatchPlan = BatchPlan { warmup: 8, batches: 60, operations: 500 };

/// A primitive, timed.
#[derive(Clone, Debug, PartialEq)]
pub struct PrimitiveTimes {
    /// The primitive's name, and its CPUs.
    pub what: String,
    /// Nanoseconds for each operation, one value for each batch of the first CPU; or why its
    /// threads did not overlap.
    pub batches_ns: Result<Vec<f64>, String>,
}

/// Times every primitive between two CPUs of each distance class, and on one CPU alone.
///
/// # Errors
/// A CPU is not available, or a system call failed.
pub fn survey(topology: &Topology, allowed: &[u32]) -> Result<Vec<PrimitiveTimes>, PrimitiveError> {
    let mut room = PrimitiveThreads::new();
    let pus: Vec<&Pu> = topology.pus.iter().filter(|pu| allowed.contains(&pu.os)).collect();
    let Some(first) = pus.first() else { return Ok(Vec::new()) };
    let mut rows = alone(&mut room, first.os)?;
    for (class, other) in classes(first, &pus) {
        rows.extend(between(&mut room, &class, [first.os, other])?);
    }
    rows.extend(crowd(&mut room, allowed)?);
    Ok(rows)
}

fn classes(first: &Pu, pus: &[&Pu]) -> Vec<(String, u32)> {
    let mut found: Vec<(String, u32)> = Vec::new();
    for pu in pus.iter().filter(|pu| pu.os != first.os) {
        if !found.iter().any(|(known, _)| known == class(first, pu)) {
            found.push((class(first, pu).to_owned(), pu.os));
        }
    }
    found
}

fn class(first: &Pu, pu: &Pu) -> &'static str {
    match () {
        () if pu.core.is_some() && pu.core == first.core => "SMT siblings",
        () if pu.l3.is_some() && pu.l3 == first.l3 => "same L3",
        () if pu.package == first.package => "same package",
        () => "other package",
    }
}

fn alone(room: &mut PrimitiveThreads, cpu: u32) -> Result<Vec<PrimitiveTimes>, PrimitiveError> {
    Ok(vec![row(room, &ThreadCreateJoin, "", &[cpu], plan(100))?])
}

fn between(
    room: &mut PrimitiveThreads,
    class: &str,
    cpus: [u32; 2],
) -> Result<Vec<PrimitiveTimes>, PrimitiveError> {
    let mut rows = vec![row(room, &FutexPingPong, class, &cpus, plan(200))?];
    for kind in [DescriptorKind::EventFd, DescriptorKind::Pipe, DescriptorKind::UnixSocket] {
        rows.push(row(room, &Descriptors(kind), class, &cpus, plan(200))?);
    }
    for bytes in SIZES {
        let operations = (COPIED_BYTES / bytes).clamp(1, 2000) as u32;
        rows.push(row(room, &CopyBytes { bytes }, class, &cpus, plan(operations))?);
        rows.push(row(room, &ProcessVmReadv { bytes }, class, &cpus, plan(operations))?);
    }
    Ok(rows)
}

/// Read-modify-writes by 1 CPU, 2, 4 and so on up to all, on a shared word and on separate ones.
fn crowd(
    room: &mut PrimitiveThreads,
    allowed: &[u32],
) -> Result<Vec<PrimitiveTimes>, PrimitiveError> {
    let counts = (0..)
        .map(|power| 1 << power)
        .take_while(|count| *count < allowed.len())
        .chain([allowed.len()]);
    let mut rows = Vec::new();
    for count in counts {
        for operation in
            [ReadModifyWrite::CompareExchange, ReadModifyWrite::FetchAdd, ReadModifyWrite::Swap]
        {
            for shared in [true, false] {
                let by = counted(count, "CPU");
                rows.push(row(
                    room,
                    &Atomics { operation, shared },
                    &by,
                    &allowed[..count],
                    ATOMICS,
                )?);
            }
        }
    }
    Ok(rows)
}

fn plan(operations: u32) -> BatchPlan {
    BatchPlan { warmup: 2, batches: 15, operations }
}

fn row(
    room: &mut PrimitiveThreads,
    primitive: &impl Primitive,
    class: &str,
    cpus: &[u32],
    plan: BatchPlan,
) -> Result<PrimitiveTimes, PrimitiveError> {
    let batches_ns = match primitive.run(room, cpus, plan) {
        Ok(samples) => Ok(samples.by_task_ns.into_iter().next().unwrap_or_default()),
        Err(apart @ PrimitiveError::Apart { .. }) => Err(apart.to_string()),
        Err(error) => return Err(error),
    };
    let name = primitive.name();
    let what = if class.is_empty() { name } else { format!("{name}, {class}") };
    Ok(PrimitiveTimes { what, batches_ns })
}
