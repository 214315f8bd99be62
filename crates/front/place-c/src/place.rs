//! The call that everything else is for.

use crate::answer::AnswerHandle;
use crate::failure::Failure;
use crate::machine::Machine;
use crate::options::Options;
use crate::pattern::Pattern;
use crate::status::Status;
use seatmap_c_abi::Boundary;
use seatmap_place::PlaceRequest;
use std::time::Instant;

/// The program name that plans record.
const TOOL: &str = concat!("libseatmap_place ", env!("CARGO_PKG_VERSION"));

/// Finds where the tasks of a pattern should sit on a machine. options may be NULL: by distance, on
/// all CPUs, for a second.
///
/// On success *answer is the caller's, for seatmap_answer_free; else it is NULL. An answer needs
/// nothing that it was made from. Threads that the call starts have ended when it returns.
///
/// Fails with SEATMAP_STATUS_NOT_POSSIBLE where machine and options do not allow such a placement.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_place(
    machine: *const Machine,
    pattern: *const Pattern,
    options: *const Options,
    answer: *mut *mut AnswerHandle,
) -> Status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        Failure::give(answer, "answer", || {
            let machine = Failure::known(machine, "machine")?;
            let pattern = Failure::known(pattern, "pattern")?;
            place(machine, pattern, options.as_ref().unwrap_or(&Options::default()))
        })
    }
}

fn place(machine: &Machine, pattern: &Pattern, options: &Options) -> Result<AnswerHandle, Failure> {
    let began = Instant::now();
    let mut request = PlaceRequest::new(&machine.0, &pattern.0);
    options.apply(&mut request);
    let answer = request.place()?;
    let mut plan = request.plan(&answer);
    plan.seconds = Some(began.elapsed().as_secs_f64());
    plan.tool = Some(TOOL.to_owned());
    Ok(AnswerHandle::new(answer, &plan))
}
