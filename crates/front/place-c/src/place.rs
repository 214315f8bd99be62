//! Placement, the main call of the library.

use crate::answer::AnswerHandle;
use crate::failure::PlaceCallFailure;
use crate::machine::MachineHandle;
use crate::options::PlacementOptions;
use crate::pattern::PatternHandle;
use crate::status::PlaceStatus;
use seatmap_c_abi::Boundary;
use seatmap_place::PlaceRequest;
use std::time::Instant;

/// The program name in plans.
const TOOL: &str = concat!("libseatmap_place ", env!("CARGO_PKG_VERSION"));

/// Places the tasks of a pattern on a machine. options may be NULL: by distance, on all CPUs, for
/// one second.
///
/// Free *answer with seatmap_answer_free; on failure it is NULL. An answer does not depend on its
/// inputs, which may be freed. Threads of the call have ended when it returns.
///
/// Fails with SEATMAP_STATUS_NOT_POSSIBLE if machine and options do not allow such a placement.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_place(
    machine: *const MachineHandle,
    pattern: *const PatternHandle,
    options: *const PlacementOptions,
    answer: *mut *mut AnswerHandle,
) -> PlaceStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        PlaceCallFailure::give(answer, "answer", || {
            let machine = PlaceCallFailure::known(machine, "machine")?;
            let pattern = PlaceCallFailure::known(pattern, "pattern")?;
            place(machine, pattern, options.as_ref().unwrap_or(&PlacementOptions::default()))
        })
    }
}

fn place(
    machine: &MachineHandle,
    pattern: &PatternHandle,
    options: &PlacementOptions,
) -> Result<AnswerHandle, PlaceCallFailure> {
    let began = Instant::now();
    let mut request = PlaceRequest::new(&machine.0, &pattern.0);
    options.apply(&mut request);
    let answer = request.place()?;
    let mut plan = request.plan(&answer);
    plan.seconds = Some(began.elapsed().as_secs_f64());
    plan.tool = Some(TOOL.to_owned());
    Ok(AnswerHandle::new(answer, &plan))
}
