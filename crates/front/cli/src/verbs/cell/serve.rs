//! `seatmap cell serve`.

use super::meant;
use crate::args::CellServe;
use seatmap_cell::{Host, NoiseJudge};
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output;
use seatmap_control::{Inherited, ServerOptions, server};

/// Serves until interrupted.
pub fn run(host: Host, typed: &CellServe, judge: Box<NoiseJudge<'static>>) -> Result<(), CliError> {
    let options = meant::server(&host, typed)?;
    let interrupt = Interrupt::listen()?;
    server::serve(host, &options, judge, &|| interrupt.is_raised(), &mut |inherited| {
        report(inherited);
        ready(typed.json, &options);
    })?;
    Ok(())
}

/// Reports what an earlier server left behind. The new one serves all the same.
fn report(inherited: Inherited) {
    inherited.left.iter().for_each(|left| output::tell(&format!("not put back: {left}")));
    if let Some(lost) = inherited.lost {
        CliError::work(lost).report();
    }
}

/// Prints the line that the program which started this server waits for.
fn ready(is_document: bool, options: &ServerOptions) {
    let announcement = options.announcement();
    // A missing reader does not end a server.
    let _ = if is_document {
        output::json(&announcement)
    } else {
        let socket = output::visible(&announcement.socket);
        let files = announcement.channel.as_deref().map(output::visible);
        let files = files.map(|at| format!(", files at {at}")).unwrap_or_default();
        output::print(&format!("listening at {socket}, policy {}{files}\n", announcement.policy))
    };
}
