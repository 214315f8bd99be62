//! `seatmap cell serve`.

use crate::args::CellServe;
use crate::myself;
use seatmap_cell::{Host, NoiseJudge};
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output;
use seatmap_control::{Exported, Inherited, ServerOptions, server};
use seatmap_os::peer;
use std::time::Duration;

/// Serves until interrupted.
pub fn run(host: Host, typed: &CellServe, judge: Box<NoiseJudge<'static>>) -> Result<(), CliError> {
    let group = typed.group.as_deref().map(group).transpose()?;
    let socket = typed.socket.clone().unwrap_or_else(|| host.run.file(server::SOCKET));
    let warden = myself::warden();
    let policy = typed.policy;
    let slice = Duration::from_secs(typed.slice);
    let options = ServerOptions { socket, group, policy, slice, warden, export: export(typed)? };
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

/// The folder to export, as an absolute path, because the file proxy starts in another folder.
fn export(typed: &CellServe) -> Result<Option<Exported>, CliError> {
    let absolute =
        typed.export.as_ref().map(std::path::absolute).transpose().map_err(CliError::input)?;
    Ok(absolute.map(|folder| Exported {
        folder,
        is_read_only: typed.export_read_only,
        file_proxy: myself::file_proxy(),
    }))
}

fn group(name: &str) -> Result<u32, CliError> {
    peer::group(name).ok_or_else(|| {
        CliError::input(format!(
            "there is no group '{}'; /etc/group lists them",
            output::visible(name)
        ))
    })
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
