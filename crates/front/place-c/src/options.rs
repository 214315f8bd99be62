//! Options of a placement.

use crate::argument::{array, at_most};
use crate::failure::PlaceCallFailure;
use crate::status::PlaceStatus;
use seatmap_c_abi::{Boundary, take_back};
use seatmap_data::machine::import::MAX_PUS;
use seatmap_data::plan::Objective;
use seatmap_os::CpuList;
use seatmap_place::search::SearchLimit;
use seatmap_place::{Level, PlaceRequest};
use std::ffi::c_int;

/// The longest search in seconds, as on the command line.
const MAX_SECONDS: f64 = 1e6;

/// The most parallel searches, as on the command line.
const MAX_THREADS: u32 = 1024;

/// Options of a placement. Only one thread at a time may use them; after a call they can be changed
/// and used again.
#[derive(Clone, Debug)]
pub struct PlacementOptions {
    objective: Objective,
    cpus: Option<Vec<u32>>,
    fixed: Vec<(usize, u32)>,
    avoid_smt: bool,
    effort: Effort,
    threads: u32,
    seed: u64,
}

/// The length of the search, without the work before it.
#[derive(Clone, Copy, Debug)]
enum Effort {
    Seconds(f64),
    Kicks(u64),
}

/// The objective that a placement minimises.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub enum PlaceObjective {
    /// The sum of bytes x round-trip nanoseconds.
    Distance = 0,
    /// The bytes through the most loaded link between caches, NUMA nodes or packages.
    Congestion = 1,
}

impl Default for PlacementOptions {
    fn default() -> Self {
        PlacementOptions {
            objective: Objective::Distance,
            cpus: None,
            fixed: Vec::new(),
            avoid_smt: false,
            effort: Effort::Seconds(1.0),
            threads: 1,
            seed: 1,
        }
    }
}

impl PlacementOptions {
    pub(crate) fn apply(&self, request: &mut PlaceRequest) {
        request.objective = self.objective;
        request.cpus.clone_from(&self.cpus);
        request.fixed.clone_from(&self.fixed);
        request.one_per = self.avoid_smt.then_some(Level::Core);
        request.threads = self.threads as usize;
        request.seed = self.seed;
        request.limit = match self.effort {
            Effort::Seconds(seconds) => SearchLimit::seconds(seconds),
            Effort::Kicks(kicks) => SearchLimit::kicks(kicks),
        };
    }
}

/// Default options: by distance, on all CPUs, for one second, in one thread. Never NULL. Free them
/// with seatmap_options_free.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_options_new() -> *mut PlacementOptions {
    Box::into_raw(Box::default())
}

/// Sets the objective: one of seatmap_objective.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_options_set_objective(
    options: *mut PlacementOptions,
    objective: c_int,
) -> PlaceStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        set(
            options,
            || known_objective(objective),
            |options, objective| {
                options.objective = objective;
            },
        )
    }
}

fn known_objective(objective: c_int) -> Result<Objective, PlaceCallFailure> {
    match objective {
        _ if objective == PlaceObjective::Distance as c_int => Ok(Objective::Distance),
        _ if objective == PlaceObjective::Congestion as c_int => Ok(Objective::Congestion),
        _ => Err(PlaceCallFailure::argument(format!("{objective} is not a seatmap_objective"))),
    }
}

/// Sets the CPUs that may be used, by the operating system's numbers, each once; they are copied.
/// Default: all of the machine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_options_set_cpus(
    options: *mut PlacementOptions,
    cpus: *const u32,
    count: usize,
) -> PlaceStatus {
    // SAFETY: as above.
    unsafe { set(options, || named_cpus(cpus, count), |options, cpus| options.cpus = Some(cpus)) }
}

/// # Safety
/// As [`seatmap_options_set_cpus`].
unsafe fn named_cpus(cpus: *const u32, count: usize) -> Result<Vec<u32>, PlaceCallFailure> {
    let count = at_most(count, MAX_PUS, "count")?;
    // SAFETY: the caller keeps the rules of the header.
    match unsafe { array(cpus, count, "cpus") }? {
        [] => Err(PlaceCallFailure::argument("count is 0; give at least one CPU".to_owned())),
        cpus => Ok(CpuList(cpus.to_vec()).distinct()?.0),
    }
}

/// Puts a task, counted from 0, on a CPU, by the operating system's number. Call it once for each
/// such task; seatmap_place checks that tasks and CPUs exist and fit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_options_fix(
    options: *mut PlacementOptions,
    task: usize,
    cpu: u32,
) -> PlaceStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { set(options, || Ok((task, cpu)), |options, pair| options.fixed.push(pair)) }
}

/// Sets whether each core takes at most one task. Default: false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_options_set_avoid_smt(
    options: *mut PlacementOptions,
    avoid_smt: bool,
) -> PlaceStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { set(options, || Ok(avoid_smt), |options, avoid_smt| options.avoid_smt = avoid_smt) }
}

/// Sets the length of the search in seconds, from 0 to 1e6. A search ends earlier if its answer is
/// proven optimal. Default: 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_options_set_seconds(
    options: *mut PlacementOptions,
    seconds: f64,
) -> PlaceStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { set(options, || checked_seconds(seconds), |options, effort| options.effort = effort) }
}

fn checked_seconds(seconds: f64) -> Result<Effort, PlaceCallFailure> {
    if (0.0..=MAX_SECONDS).contains(&seconds) {
        return Ok(Effort::Seconds(seconds));
    }
    Err(PlaceCallFailure::argument(format!("seconds is {seconds}; give 0 to 1e6")))
}

/// Ends the search after this many kicks out of local optima in place of a time, so that every run
/// gives the same answer. The last call of seconds or kicks counts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_options_set_kicks(
    options: *mut PlacementOptions,
    kicks: u64,
) -> PlaceStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { set(options, || Ok(Effort::Kicks(kicks)), |options, effort| options.effort = effort) }
}

/// Sets the number of parallel searches, one thread each, 1 to 1024. Default: 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_options_set_threads(
    options: *mut PlacementOptions,
    threads: u32,
) -> PlaceStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        set(options, || checked_threads(threads), |options, threads| options.threads = threads)
    }
}

fn checked_threads(threads: u32) -> Result<u32, PlaceCallFailure> {
    if (1..=MAX_THREADS).contains(&threads) {
        return Ok(threads);
    }
    Err(PlaceCallFailure::argument(format!("threads is {threads}; give 1 to {MAX_THREADS}")))
}

/// Sets the seed of random choices. Default: 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_options_set_seed(
    options: *mut PlacementOptions,
    seed: u64,
) -> PlaceStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { set(options, || Ok(seed), |options, seed| options.seed = seed) }
}

/// Frees options; NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_options_free(options: *mut PlacementOptions) {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { take_back(options) }
}

/// Changes options, if the value passes its check.
///
/// # Safety
/// `options` is NULL or options that nothing else uses during the call.
unsafe fn set<T>(
    options: *mut PlacementOptions,
    checked: impl FnOnce() -> Result<T, PlaceCallFailure>,
    put: impl FnOnce(&mut PlacementOptions, T),
) -> PlaceStatus {
    PlaceCallFailure::call(|| {
        // SAFETY: the caller's promise.
        let options = unsafe { PlaceCallFailure::changed(options, "options") }?;
        put(options, checked()?);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_options_match_rust() {
        let machine = seatmap_data::machine::catalog::load("graviton3").unwrap();
        let pattern = seatmap_data::pattern::generate("ring:4").unwrap();
        let usual = PlaceRequest::new(&machine, &pattern);
        let mut request = usual.clone();
        request.threads = 9;
        PlacementOptions::default().apply(&mut request);
        assert_eq!(
            (request.objective, request.threads, request.seed),
            (usual.objective, usual.threads, usual.seed)
        );
        assert_eq!(
            (request.cpus, request.fixed, request.one_per),
            (usual.cpus, usual.fixed, usual.one_per)
        );
        assert!(
            request.limit.deadline >= usual.limit.deadline
                && request.limit.kicks == usual.limit.kicks
        );
    }

    #[test]
    fn every_option_reaches_the_request() {
        let machine = seatmap_data::machine::catalog::load("graviton3").unwrap();
        let pattern = seatmap_data::pattern::generate("ring:4").unwrap();
        let mut request = PlaceRequest::new(&machine, &pattern);
        let mut options = PlacementOptions::default();
        let cpus = [5, 2, 9];
        let it = &raw mut options;
        // SAFETY: the options and the CPUs outlive the calls.
        let statuses = unsafe {
            [
                seatmap_options_set_objective(it, PlaceObjective::Congestion as c_int),
                seatmap_options_set_cpus(it, cpus.as_ptr(), cpus.len()),
                seatmap_options_fix(it, 3, 9),
                seatmap_options_fix(it, 1, 2),
                seatmap_options_set_avoid_smt(it, true),
                seatmap_options_set_kicks(it, 77),
                seatmap_options_set_threads(it, 3),
                seatmap_options_set_seed(it, 8),
            ]
        };
        assert_eq!(statuses, [PlaceStatus::Ok; 8]);
        options.apply(&mut request);
        assert_eq!((request.objective, request.cpus), (Objective::Congestion, Some(cpus.to_vec())));
        assert_eq!((request.fixed, request.one_per), (vec![(3, 9), (1, 2)], Some(Level::Core)));
        assert_eq!((request.limit.kicks, request.limit.deadline), (77, None));
        assert_eq!((request.threads, request.seed), (3, 8));
    }

    #[test]
    fn a_refused_value_changes_nothing() {
        let mut options = PlacementOptions::default();
        let before = format!("{options:?}");
        // SAFETY: the options outlive the calls.
        unsafe {
            assert_eq!(
                seatmap_options_set_threads(&raw mut options, MAX_THREADS + 1),
                PlaceStatus::BadArgument
            );
            assert_eq!(
                seatmap_options_set_seconds(&raw mut options, f64::INFINITY),
                PlaceStatus::BadArgument
            );
        }
        assert_eq!(format!("{options:?}"), before);
    }
}
