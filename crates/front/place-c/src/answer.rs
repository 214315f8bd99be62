//! The result of a placement request.

use crate::failure::PlaceCallFailure;
use seatmap_c_abi::{Boundary, take_back};
use seatmap_data::plan::Plan;
use std::ffi::{CString, c_char, c_int};

/// A placement with its cost and origin. It never changes, so threads may share it.
pub struct AnswerHandle {
    found: seatmap_place::PlacementResult,
    method: CString,
    plan: CString,
}

/// A usual placement, without a search.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub enum Baseline {
    /// Tasks in order on CPUs in the order of their numbers.
    Os = 0,
    /// Tasks in order, each CPU as near to the last as the topology allows.
    Compact = 1,
    /// Tasks in order, each CPU as far from the others as the topology allows.
    Scatter = 2,
    /// The mean of 1000 random placements.
    RandomMean = 3,
    /// The best of 1000 random placements.
    RandomBest = 4,
}

impl AnswerHandle {
    pub(crate) fn new(found: seatmap_place::PlacementResult, plan: &Plan) -> Self {
        AnswerHandle {
            method: c_text(&found.method),
            plan: c_text(plan.to_json().trim_end()),
            found,
        }
    }

    fn baseline(&self, which: c_int) -> f64 {
        let them = &self.found.baselines;
        let known = [
            (Baseline::Os, them.os),
            (Baseline::Compact, them.compact),
            (Baseline::Scatter, them.scatter),
            (Baseline::RandomMean, them.random.mean),
            (Baseline::RandomBest, them.random.best),
        ];
        known
            .into_iter()
            .find(|(name, _)| *name as c_int == which)
            .map_or(f64::NAN, |(_, cost)| cost)
    }
}

/// Neither the names of methods nor JSON have zero bytes.
fn c_text(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

/// The number of placed tasks: the length of seatmap_answer_placement; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_answer_tasks(answer: *const AnswerHandle) -> usize {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { PlaceCallFailure::known(answer, "answer") }
        .map_or(0, |answer| answer.found.placement.len())
}

/// The CPU of each task, by the operating system's number. The array lives as long as the answer;
/// NULL for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_answer_placement(answer: *const AnswerHandle) -> *const u32 {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { PlaceCallFailure::known(answer, "answer") }
        .map_or(std::ptr::null(), |answer| answer.found.placement.as_ptr())
}

/// The cost of the placement: bytes x nanoseconds for distance, bytes for congestion; NAN for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_answer_cost(answer: *const AnswerHandle) -> f64 {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { PlaceCallFailure::known(answer, "answer") }
        .map_or(f64::NAN, |answer| answer.found.cost)
}

/// A lower bound of all placements' costs, in the unit of the cost; NAN for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_answer_lower_bound(answer: *const AnswerHandle) -> f64 {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { PlaceCallFailure::known(answer, "answer") }
        .map_or(f64::NAN, |answer| answer.found.lower_bound)
}

/// Whether it is proven that no placement costs less; false for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_answer_optimal(answer: *const AnswerHandle) -> bool {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { PlaceCallFailure::known(answer, "answer") }.is_ok_and(|answer| answer.found.optimal)
}

/// The cost of a baseline (one of seatmap_baseline), in the unit of the cost; NAN for NULL and for
/// other values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_answer_baseline(answer: *const AnswerHandle, which: c_int) -> f64 {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { PlaceCallFailure::known(answer, "answer") }
        .map_or(f64::NAN, |answer| answer.baseline(which))
}

/// How the placement was found. The text lives as long as the answer; NULL for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_answer_method(answer: *const AnswerHandle) -> *const c_char {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { PlaceCallFailure::known(answer, "answer") }
        .map_or(std::ptr::null(), |answer| answer.method.as_ptr())
}

/// The placement as a plan (seatmap-plan/1, JSON in one line), which `seatmap run --plan` and
/// `seatmap export` read. The text lives as long as the answer; NULL for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_answer_plan_json(answer: *const AnswerHandle) -> *const c_char {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { PlaceCallFailure::known(answer, "answer") }
        .map_or(std::ptr::null(), |answer| answer.plan.as_ptr())
}

/// Frees an answer with its array and texts; NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_answer_free(answer: *mut AnswerHandle) {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { take_back(answer) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_place::{PlaceRequest, search::SearchLimit};
    use std::ffi::CStr;

    #[test]
    fn answer_figures_match_rust() {
        let machine = seatmap_data::machine::catalog::load("ryzen-5950x").unwrap();
        let pattern = seatmap_data::pattern::generate("ring:6").unwrap();
        let mut request = PlaceRequest::new(&machine, &pattern);
        request.limit = SearchLimit::kicks(10);
        let found = request.place().unwrap();
        let plan = request.plan(&found);
        let answer = AnswerHandle::new(found.clone(), &plan);
        let baselines = [
            Baseline::Os,
            Baseline::Compact,
            Baseline::Scatter,
            Baseline::RandomMean,
            Baseline::RandomBest,
        ];
        let them = found.baselines;
        // SAFETY: the answer outlives the calls.
        unsafe {
            let placement = std::slice::from_raw_parts(
                seatmap_answer_placement(&answer),
                seatmap_answer_tasks(&answer),
            );
            assert_eq!(placement, found.placement);
            let figures = (seatmap_answer_cost(&answer), seatmap_answer_lower_bound(&answer));
            assert_eq!(figures, (found.cost, found.lower_bound));
            assert_eq!(seatmap_answer_optimal(&answer), found.optimal);
            let told = baselines.map(|which| seatmap_answer_baseline(&answer, which as c_int));
            assert_eq!(
                told,
                [them.os, them.compact, them.scatter, them.random.mean, them.random.best]
            );
            assert!(seatmap_answer_baseline(&answer, 5).is_nan());
            assert_eq!(
                CStr::from_ptr(seatmap_answer_method(&answer)).to_str().unwrap(),
                found.method
            );
            let json = CStr::from_ptr(seatmap_answer_plan_json(&answer)).to_str().unwrap();
            assert_eq!(Plan::from_json(json).unwrap(), plan);
        }
    }
}
