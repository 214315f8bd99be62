//! `seatmap doctor`.

use crate::args::Doctor;
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination, visible};
use seatmap_console::view::ColourChoice;
use seatmap_console::{here, view};
use seatmap_doctor::isolation;
use seatmap_doctor::measuring::examine;
use seatmap_doctor::{Diagnosis, RemedyKind, Severity, seats};
use seatmap_machine::Topology;
use seatmap_os::cpus::Cpus;
use seatmap_os::root::Root;
use seatmap_report::html;
use seatmap_report::terminal::Colour;
use serde::Serialize;

/// Examines this host.
pub fn run(typed: &Doctor, colour: ColourChoice) -> Result<(), CliError> {
    let page = output::page(typed.html.as_deref(), typed.json)?;
    let topology = seatmap_host::topology::of_host().map_err(CliError::work)?;
    let mut found = examine(&topology);
    found.extend(seats::examine(&Root::new("/"), std::env::vars_os()));
    // Last, as with `--try` it takes a CPU for a moment, which the other looks would see.
    found.extend(isolation::examine(&topology, &cpus(typed, &topology)?, typed.may_try));
    if let Some(page) = &page {
        page.write(&html::doctor(&here::host_name(), &found))?;
    }
    if typed.json {
        return output::json(&Document::new(&found));
    }
    // The page is on stdout: the lines would break it.
    if page == Some(Destination::Stdout) {
        return Ok(());
    }
    let coloured = view::colour(colour, &std::io::stdout()) != Colour::None;
    output::print(&found.iter().map(|diagnosis| line(diagnosis, coloured)).collect::<String>())
}

/// Those named, which must be there and online; else all that a cell could have.
fn cpus(typed: &Doctor, topology: &Topology) -> Result<Vec<u32>, CliError> {
    let cpus = Cpus::read().map_err(CliError::work)?;
    let Some(named) = &typed.cpus else { return Ok(isolation::usual_cpus(topology, &cpus.online)) };
    // A CPU that is isolated from this process can be asked about as well.
    Cpus { allowed: cpus.online.clone(), ..cpus }.check(&named.0).map_err(CliError::input)?;
    Ok(named.0.clone())
}

/// The things on a host that disturb a measurement or a quiet program: the output of
/// `seatmap doctor --json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Document<'a> {
    /// Name and version of the format.
    #[cfg_attr(test, schemars(extend("const" = "seatmap-doctor/1")))]
    format: &'static str,
    /// The host's name.
    machine: String,
    /// Everything that was examined.
    findings: Vec<Finding<'a>>,
}

/// One thing that was examined.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Finding<'a> {
    /// The thing that was examined.
    subject: &'a str,
    /// `OK`: as it should be. `INFO`: nothing to mend. `FIX`: can be mended on the running system.
    /// `BOOT`: by a word on the kernel's command line. `NO`: cannot be mended from here.
    #[cfg_attr(test, schemars(extend("enum" = ["OK", "INFO", "FIX", "BOOT", "NO"])))]
    level: &'a str,
    /// The state in which it was found.
    found: &'a str,
    /// The remedy; null where there is nothing to mend, or no way to do it.
    remedy: Option<&'a str>,
    /// The kind of the remedy: a command for a shell, a word for the kernel's command line
    /// (`boot-...`), or advice, a sentence. Older documents do not say.
    #[cfg_attr(test, schemars(default))]
    remedy_kind: Option<RemedyKind>,
}

impl<'a> Document<'a> {
    fn new(found: &'a [Diagnosis]) -> Self {
        let findings = found
            .iter()
            .map(|diagnosis| Finding {
                subject: diagnosis.subject,
                level: diagnosis.level.word(),
                found: &diagnosis.found,
                remedy: diagnosis.remedy.as_ref().map(|remedy| remedy.text.as_str()),
                remedy_kind: diagnosis.remedy.as_ref().map(|remedy| remedy.kind),
            })
            .collect();
        Document { format: "seatmap-doctor/1", machine: here::host_name(), findings }
    }
}

fn line(diagnosis: &Diagnosis, coloured: bool) -> String {
    let word = format!("{:<4}", diagnosis.level.word());
    let word = if coloured { format!("\x1b[{}m{word}\x1b[0m", sgr(diagnosis.level)) } else { word };
    let remedy = diagnosis
        .remedy
        .as_ref()
        // 22 columns: a word of 4, a subject of 14, and two gaps of 2, so that the arrow stands
        // below the finding.
        .map(|remedy| format!("\n{:22}-> {}", "", visible(&remedy.text)))
        .unwrap_or_default();
    format!("{word}  {:<14}  {}{remedy}\n", diagnosis.subject, visible(&diagnosis.found))
}

/// Green, none, yellow, red.
fn sgr(level: Severity) -> &'static str {
    match level {
        // SGR parameters (ECMA-48): 32 green, 33 yellow, 31 red; the word says the level as well,
        // for those who see no colours.
        Severity::Ok => "32",
        Severity::Info => "0",
        Severity::Fix | Severity::Boot => "33",
        Severity::No => "31",
    }
}
