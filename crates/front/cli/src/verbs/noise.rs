//! `seatmap noise`.

use clap::Args;
use seatmap_console::cpus::{OrAll, RequestedCpus, requested_cpus};
use seatmap_console::error::with_causes;
use seatmap_console::here::host_name;
use seatmap_console::output::OfMachine;
use seatmap_console::{
    Bar, CliError, CliResult, Destination, ResultForms, StopFlag, output, time_in,
};
use seatmap_health::noise::{NoiseOptions, NoiseReport};
use seatmap_launch::share::SoleWork;
use seatmap_os::cpus::Cpus;
use seatmap_os::quota::QuotaWatch;
use seatmap_report::{noise, svg};
use std::path::PathBuf;
use std::time::Duration;

/// From a few turns of the meters to a day.
const LENGTH: &str = "50ms to 1d";

#[derive(Args)]
pub struct NoiseArgs {
    /// The CPUs to measure together, such as 0-3,8 or no-smt; isolated ones too. Default: all
    /// online CPUs.
    #[arg(long, value_name = "LIST", value_parser = requested_cpus)]
    cpus: Option<RequestedCpus>,
    #[command(flatten)]
    or_all: OrAll,
    /// How long: 500ms, 10s, 2m; a plain number is seconds.
    #[arg(long, value_name = "TIME", default_value = "2", value_parser = time_in(LENGTH))]
    seconds: Duration,
    /// Name what used the CPU during the long gaps, by the kernel's trace. Requires root.
    #[arg(long)]
    trace: bool,
    /// Write a picture of the gaps: their lengths and times.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    forms: ResultForms,
}

pub fn run(typed: &NoiseArgs) -> CliResult {
    // Two meters on one CPU would measure each other.
    super::run::check_sole(SoleWork::Noise)?;
    let page = output::page(typed.forms.html.as_deref(), typed.forms.json)?;
    let has_page = page == Some(Destination::Stdout);
    let on_stdout = if typed.forms.json { Some("--json") } else { has_page.then_some("--html -") };
    let picture = output::beside(typed.svg.as_deref(), on_stdout, "--svg")?;
    let has_file = has_page || picture == Some(Destination::Stdout);
    let report = measure(&cpus(typed)?, typed)?;
    if let Some(page) = page {
        page.write(&noise::page(&report).html())?;
    }
    if let Some(picture) = picture {
        picture.write(&svg::noise(&report))?;
    }
    if typed.forms.json {
        let document = OfMachine { document: &report, machine: &host_name() };
        output::even_unread(output::json(&document))?;
    } else if !has_file {
        output::even_unread(output::show(&noise::summary(&report)))?;
    }
    // The figures until Ctrl-C are good.
    if report.interrupted {
        Err(CliError::work(format!(
            "interrupted; the figures cover the first {:.2} s",
            report.seconds
        )))
    } else {
        Ok(())
    }
}

/// By default all online CPUs within the cpuset, with a message about the others.
fn cpus(typed: &NoiseArgs) -> CliResult<Vec<u32>> {
    if let Some(chosen) = typed.or_all.here(typed.cpus.as_ref())? {
        return Ok(chosen.list.0);
    }
    let (open, closed) = seatmap_health::noise::reachable(&Cpus::read()?.online);
    output::tell_each(closed.iter().map(|error| format!("left out: {}", with_causes(error))));
    Ok(open)
}

fn measure(cpus: &[u32], typed: &NoiseArgs) -> CliResult<NoiseReport> {
    let options =
        NoiseOptions { duration: typed.seconds, trace: typed.trace, ..NoiseOptions::default() };
    let interrupt = StopFlag::listen()?;
    let bar = Bar::new("measuring");
    let all_ms = options.duration.as_millis() as usize;
    let quotas = QuotaWatch::begin();
    let report = seatmap_health::noise::measure(cpus, &options, &mut |gone| {
        // The meters may end late.
        bar.show(all_ms.min(gone.as_millis() as usize), all_ms);
        interrupt.flow()
    })?;
    output::tell_of_quotas(&quotas);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_is_bounded() {
        let seconds = time_in(LENGTH);
        assert_eq!(
            (seconds("0.5"), seconds("500ms")),
            (Ok(Duration::from_millis(500)), Ok(Duration::from_millis(500)))
        );
        assert_eq!(
            (seconds("2"), seconds("10m")),
            (Ok(Duration::from_secs(2)), Ok(Duration::from_secs(600)))
        );
        for bad in ["", "0", "-1", "nan", "inf", "1e9", "49ms", "25h", "2x"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
