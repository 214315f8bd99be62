//! Machines: bundled ones, files, and plain matrices.

use crate::argument::{array, at_most, bytes, text};
use crate::failure::PlaceCallFailure;
use crate::file::CallerFile;
use crate::status::PlaceStatus;
use seatmap_c_abi::{Boundary, take_back};
use seatmap_data::machine::import::{self, MAX_PUS};
use seatmap_data::machine::{CoreDistance, Matrix, Origin, OriginKind, Profile, Topology, catalog};
use seatmap_os::CpuList;
use std::ffi::c_char;

/// The longest round trip, in nanoseconds: a second each way, as in imported files.
const MAX_ROUND_TRIP_NS: f64 = 2e9;

/// A machine: its CPUs and their distances. It never changes, so threads may share it.
pub struct MachineHandle(pub(crate) Profile);

/// Opens a bundled machine by its name, such as "graviton3"; `seatmap machines` lists them.
///
/// Free *machine with seatmap_machine_free; on failure it is NULL.
///
/// Fails with SEATMAP_STATUS_BAD_ARGUMENT if no machine has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_machine_bundled(
    name: *const c_char,
    machine: *mut *mut MachineHandle,
) -> PlaceStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        PlaceCallFailure::give(machine, "machine", || {
            Ok(MachineHandle(catalog::load(text(name, "name")?)?))
        })
    }
}

/// Reads a machine from a file: a profile from `seatmap measure -o`, a hand-written description, or
/// a file for `seatmap import` (CSV of core-to-core-latency, MCTOP, hwloc XML). Those commands also
/// warn of oddities; this call does not.
///
/// Free *machine with seatmap_machine_free; on failure it is NULL.
///
/// Fails with SEATMAP_STATUS_BAD_FILE if the file cannot be read or understood.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_machine_read(
    path: *const c_char,
    machine: *mut *mut MachineHandle,
) -> PlaceStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        PlaceCallFailure::give(machine, "machine", || {
            Ok(MachineHandle(read(&CallerFile::new(bytes(path, "path")?))?))
        })
    }
}

/// Makes a machine from distances alone.
///
/// distance_ns holds cpus x cpus cells, row by row: the time for a cache line from one CPU to the
/// other and back, in nanoseconds. The matrix is symmetric, and its diagonal is ignored; NAN is an
/// unknown distance. os holds the operating system's number of each row's CPU, each once; NULL
/// numbers them from 0. Both are copied.
///
/// Free *machine with seatmap_machine_free; on failure it is NULL.
///
/// Fails with SEATMAP_STATUS_BAD_ARGUMENT if the distances are not such a matrix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_machine_from_distances(
    cpus: usize,
    os: *const u32,
    distance_ns: *const f64,
    machine: *mut *mut MachineHandle,
) -> PlaceStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { PlaceCallFailure::give(machine, "machine", || with_distances(cpus, os, distance_ns)) }
}

/// # Safety
/// As [`seatmap_machine_from_distances`].
unsafe fn with_distances(
    cpus: usize,
    os: *const u32,
    distance_ns: *const f64,
) -> Result<MachineHandle, PlaceCallFailure> {
    let n = at_most(cpus, MAX_PUS, "cpus")?;
    let numbers = if os.is_null() { 0 } else { n };
    // SAFETY: the caller keeps the rules of the header, and n x n cannot overflow.
    let (os, cells) =
        unsafe { (array(os, numbers, "os")?, array(distance_ns, n * n, "distance_ns")?) };
    let os = if os.is_empty() { (0..n as u32).collect() } else { os.to_vec() };
    Ok(MachineHandle(of_distances(os, cells)?))
}

/// The number of a machine's CPUs; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_machine_cpus(machine: *const MachineHandle) -> usize {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { PlaceCallFailure::known(machine, "machine") }
        .map_or(0, |machine| machine.0.topology.pus.len())
}

/// Frees a machine; NULL is fine. Its answers remain valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_machine_free(machine: *mut MachineHandle) {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { take_back(machine) }
}

fn read(file: &CallerFile) -> Result<Profile, PlaceCallFailure> {
    import::read(&file.bytes()?, &file.name(), None).map_err(|error| file.refused(error))
}

fn of_distances(os: Vec<u32>, cells: &[f64]) -> Result<Profile, PlaceCallFailure> {
    let os = CpuList(os).distinct()?.0;
    let n = os.len();
    if n == 0 {
        return Err(PlaceCallFailure::argument("cpus is 0; a machine has at least one".to_owned()));
    }
    let matrix = Matrix::from_fn(n, |i, j| if i == j { 0.0 } else { cells[i * n + j] });
    check(&matrix)?;
    let origin = Origin {
        kind: OriginKind::Imported,
        source: "a matrix".to_owned(),
        date: None,
        tool: None,
    };
    let mut profile = Profile::new("matrix", origin, Topology::unknown(os.iter().copied()));
    profile.core_distance = Some(CoreDistance::imported(os, matrix));
    profile.check()?;
    Ok(profile)
}

fn check(matrix: &Matrix) -> Result<(), PlaceCallFailure> {
    for (i, j, there) in matrix.pairs() {
        let back = matrix[(j, i)];
        if there.is_nan() && back.is_nan() {
            continue;
        }
        if !(0.0..=MAX_ROUND_TRIP_NS).contains(there) {
            return wrong(
                matrix,
                i,
                j,
                "a distance is between 0 and 2e9, or NAN both ways".to_owned(),
            );
        }
        if *there != back {
            return wrong(
                matrix,
                j,
                i,
                format!("the other way is {there}; a round trip is the same both ways"),
            );
        }
    }
    Ok(())
}

fn wrong(matrix: &Matrix, i: usize, j: usize, what: String) -> Result<(), PlaceCallFailure> {
    Err(PlaceCallFailure::argument(format!("distance_ns[{i}][{j}] is {}: {what}", matrix[(i, j)])))
}
