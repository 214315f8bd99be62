//! `seatmap cell serve`.

use crate::args::CellServe;
use crate::myself;
use seatmap_cell::{Host, NoiseJudge};
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output;
use seatmap_control::{ControlError, Exported, Inherited, ServerOptions, channel, server};
use seatmap_os::peer;
use serde::Serialize;
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
    let mut ready = |inherited: Inherited| {
        // It serves all the same.
        inherited.left.iter().for_each(|left| output::tell(&format!("not put back: {left}")));
        if let Some(lost) = inherited.lost {
            CliError::work(lost).report();
        }
        ready(typed, &options);
    };
    server::serve(host, &options, judge, &|| interrupt.asked(), &mut ready).map_err(|error| {
        match error {
            ControlError::AnotherRuns
            | ControlError::Export { .. }
            | ControlError::Socket { .. } => CliError::input(error),
            error => CliError::work(error),
        }
    })
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
    let none = || {
        CliError::input(format!(
            "there is no group '{}'; /etc/group lists them",
            output::visible(name)
        ))
    };
    peer::group(name).ok_or_else(none)
}

/// The socket of a controller of cells, once it listens: the output of `seatmap cell serve --json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Listening<'a> {
    /// Name and version of the format.
    #[cfg_attr(test, schemars(extend("const" = "seatmap-controller/1")))]
    format: &'static str,
    /// The socket for requests.
    socket: &'a str,
    /// The policy that decides which request goes first: `fifo`, `priority` or `fair`.
    #[cfg_attr(test, schemars(extend("enum" = ["fifo", "priority", "fair"])))]
    policy: &'static str,
    /// The 9P socket for files; null without `--export`.
    channel: Option<&'a str>,
}

/// Prints the line that the program which started this server waits for.
fn ready(typed: &CellServe, options: &ServerOptions) {
    let socket = options.socket.display().to_string();
    let policy = typed.policy.word();
    let channel =
        options.export.as_ref().map(|_| channel::beside(&options.socket).display().to_string());
    let files = channel
        .as_ref()
        .map(|at| format!(", files at {}", output::visible(at)))
        .unwrap_or_default();
    // A missing reader does not end a server.
    let _ = if typed.json {
        let format = "seatmap-controller/1";
        output::json(&Listening { format, socket: &socket, policy, channel: channel.as_deref() })
    } else {
        output::print(&format!(
            "listening at {}, policy {policy}{files}\n",
            output::visible(&socket)
        ))
    };
}
