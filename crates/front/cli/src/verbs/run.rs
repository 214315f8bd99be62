//! `seatmap run`.

mod auto;
mod meant;
mod page;

use crate::args::RunArgs;
use meant::Meant;
use page::{SeatingOutputs, Voice};
use seatmap_console::error::CliError;
use seatmap_launch::request;
use seatmap_launch::share::SoleWork;

pub use page::{remark, show, warn_of_handing_over, warn_of_settings, write};

/// Runs a program, or attaches to a running one, and pins its threads. The program's exit code is
/// this process's.
pub fn run(typed: &RunArgs) -> Result<(), CliError> {
    if typed.auto || typed.live.replay.is_some() {
        return auto::run(typed);
    }
    let meant = meant::request(typed)?;
    let files = SeatingOutputs::new(typed)?;
    match meant {
        Meant::Attach(request) => page::attached(request.run()?, typed.allow_unseated, &files),
        Meant::Start(request) => {
            warn_of_settings(&request.program, &request.seats, request.options.widens, typed.quiet);
            let program = request.program.path.to_string_lossy().into_owned();
            let mut voice = Voice { files, program, has_plan: typed.plan.is_some() };
            request.run(&mut voice)?.leave_alike()
        }
    }
}

/// Refuses work on all CPUs of this node if several instances of one command would do it at the
/// same time.
pub fn check_sole(work: SoleWork) -> Result<(), CliError> {
    Ok(request::check_sole(work)?)
}
