//! `seatmap-papers controller serve`.

use super::{host, meant};
use crate::args::ControllerServe;
use seatmap_cell::{GuardedHost, NoiseJudge};
use seatmap_console::error::CliError;
use seatmap_console::interrupt::StopFlag;
use seatmap_console::output;
use seatmap_controller::{InheritedState, ServerOptions, channel, server};

pub fn run(typed: &ControllerServe) -> Result<(), CliError> {
    let host = host()?;
    // Finish first what a killed program left.
    let left = host.take_over()?;
    left.iter().for_each(|left| output::tell(&left.to_string()));
    let options = meant::server(typed)?;
    let interrupt = StopFlag::listen()?;
    server::serve(host, &options, judge(), &|| interrupt.is_raised(), &mut |inherited| {
        report(inherited);
        ready(&options);
    })?;
    Ok(())
}

/// A cell is as noisy as its noisiest CPU.
fn judge() -> Box<NoiseJudge<'static>> {
    Box::new(|cpus| Ok(seatmap_health::noise::measure_briefly(&cpus.0)?.worst_stolen_percent()))
}

fn report(inherited: InheritedState) {
    inherited.left.iter().for_each(|left| output::tell(&left.to_string()));
    if let Some(lost) = inherited.lost {
        CliError::work(lost).report();
    }
}

/// Prints the line that the parent process waits for.
fn ready(options: &ServerOptions) {
    let socket = output::visible(&options.socket.display().to_string());
    let files = options.export.as_ref().map(|_| channel::beside(&options.socket));
    let files =
        files.map(|at| format!(", files at {}", output::visible(&at.display().to_string())));
    let policy = options.policy;
    let files = files.unwrap_or_default();
    // A missing reader does not end the controller.
    let _ = output::print(&format!("listening at {socket}, policy {policy}{files}\n"));
}
