//! `seatmap measure`.

use crate::progress::Display;
use clap::Args;
use seatmap_console::cpus::{OrAll, RequestedCpus, requested_cpus};
use seatmap_console::error::with_causes;
use seatmap_console::{
    Bars, CliError, CliResult, Destination, ResultForms, StopFlag, here, input, output, view,
};
use seatmap_data::machine::{Profile, SharedProfile};
use seatmap_machines::catalog::{Capability, Machine, MachineKind};
use seatmap_measure::measurement::{MeasureNews, Measurement, MeasurementRequest};
use seatmap_measure::past::{self, Remembrance};
use seatmap_measure::plan::Effort;
use seatmap_measure::source::{MeasuredBy, RoundTripSource};
use seatmap_measure::wakeups::USUAL_PAIRS;
use seatmap_report::terminal::{self, DrawOptions};
use seatmap_report::{Page, html};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Args)]
pub struct MeasureArgs {
    /// The machine: host, a bundled machine, or a file; anything but the host is replayed from its
    /// figures.
    #[arg(long, value_name = "MACHINE", default_value = "host")]
    on: String,
    /// The CPUs to measure, such as 0-3,8 or no-smt. Default: all allowed ones.
    #[arg(long, value_name = "LIST", value_parser = requested_cpus)]
    cpus: Option<RequestedCpus>,
    #[command(flatten)]
    or_all: OrAll,
    /// Visits to each pair; by default at least 3. On this host more while a quarter of a second
    /// lasts, and 20 more, spread over a second, to pairs whose visits disagree.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    passes: Option<u32>,
    /// 33 batches per pair: the median, and little else.
    #[arg(long, conflicts_with = "thorough")]
    quick: bool,
    /// At least 576 batches per pair, in nine passes or more.
    #[arg(long)]
    thorough: bool,
    /// Measure pairs in different cache groups at once, after checking that this changes nothing.
    #[arg(long)]
    parallel: bool,
    /// Group N cache lines by their home, and fit what each home adds to a distance.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=65_536)
    )]
    homes: u32,
    /// On a model, PERCENT of its PUs communicate in random pairs while lines are grouped by home.
    #[arg(
        long,
        value_name = "PERCENT",
        requires = "homes",
        value_parser = clap::value_parser!(u8).range(1..=100)
    )]
    utilisation: Option<u8>,
    /// Also measure 1, 2, ... N/2 pairs at once, as a curve.
    #[arg(long)]
    loaded: bool,
    /// Also measure the speed of each CPU: a fixed piece of work, alone and all together.
    #[arg(long)]
    speed: bool,
    /// Pairs per distance whose threads sleep and wake each other, to measure wakeups; 0 skips this
    /// [default: 2].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=4096))]
    wakeups: Option<u32>,
    /// Also measure the memory bandwidth by number of threads: read, write and triad.
    #[arg(long)]
    bandwidth: bool,
    /// Continue an interrupted run of the same command.
    #[arg(long)]
    resume: bool,
    /// The seed of random orders.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write the profile to a file; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also write a profile for publishing: nothing in it names a person or a host; a line says
    /// what was omitted.
    #[arg(long, value_name = "FILE")]
    share: Option<PathBuf>,
    #[command(flatten)]
    forms: ResultForms,
}

pub fn run(typed: &MeasureArgs) -> CliResult {
    let outputs = MeasureOutputs::new(typed)?;
    let machine = input::machine(&typed.on)?;
    let request = request(typed, &machine)?;
    // A program that sees a journal may stop its run.
    let interrupt = StopFlag::listen()?;
    let mut display = None;
    let mut bars = Bars::default();
    let measurement = request.run(&mut |news| {
        output::tell_each(news.sentence());
        match news {
            MeasureNews::Begins { pus, resolution_ns } => {
                display = Some(Display::new(pus, resolution_ns));
            }
            MeasureNews::Step(step) => display.iter_mut().for_each(|display| display.show(step)),
            MeasureNews::Ends => display = None,
            MeasureNews::Streams(done, all) => bars.show("memory bandwidth", done, all),
            _ => {}
        }
        interrupt.flow()
    })?;
    bars.clear();
    let profile = &measurement.profile;
    outputs.write(typed, &measurement, &request.source, &machine)?;
    if outputs.is_document {
        output::print_exact(&profile.to_json())?;
    } else if ![&outputs.page, &outputs.shared].contains(&&Some(Destination::Stdout)) {
        output::show(&table(profile))?;
    }
    // Last, because until now the journal keeps the measurement.
    measurement.forget_journal().map_err(CliError::work)
}

fn request(typed: &MeasureArgs, machine: &Machine) -> CliResult<MeasurementRequest> {
    let source = source(typed, machine)?;
    let journal = source.journal(typed.output.as_deref()).unwrap_or_else(|error| {
        output::tell(&format!("the measurement will not be saved: {}", with_causes(&error)));
        None
    });
    refuse_if!(
        typed.resume && journal.is_none(),
        "--resume needs -o FILE here: no measurement was saved"
    );
    refuse_if!(
        !source.is_host() && typed.speed,
        "--speed measures this host, not {}; a machine's file states the speed of its CPUs \
         ([speed])",
        source.name()
    );
    refuse_if!(
        !source.is_host() && typed.wakeups.is_some(),
        "--wakeups measures this host, not {}; leave --wakeups out",
        source.name()
    );
    refuse_if!(
        !source.is_host() && typed.bandwidth,
        "--bandwidth measures this host, not {}; 'seatmap show' prints that of a profile",
        source.name()
    );
    Ok(MeasurementRequest {
        source,
        effort: match (typed.quick, typed.thorough) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Thorough,
            _ => Effort::Usual,
        },
        passes: typed.passes,
        seed: typed.seed,
        parallel: typed.parallel,
        homes: typed.homes,
        utilisation_percent: typed.utilisation.unwrap_or(0).into(),
        loaded: typed.loaded,
        speed: typed.speed,
        wakeup_pairs: typed.wakeups.unwrap_or(USUAL_PAIRS),
        bandwidth: typed.bandwidth,
        journal,
        resume: typed.resume,
        by: MeasuredBy { tool: here::tool(), date: here::today() },
    })
}

fn source(typed: &MeasureArgs, machine: &Machine) -> CliResult<RoundTripSource> {
    let cpus = typed.or_all.on(typed.cpus.as_ref(), machine)?.map(|chosen| chosen.list);
    let cpus = cpus.as_ref();
    let is_host = machine.is_host();
    let is_model = matches!(machine.kind, MachineKind::Model(_));
    // A profile without distances, such as a topology, has nothing to replay.
    if !is_host && !is_model {
        machine.require(Capability::Distances).map_err(CliError::input)?;
    }
    // On the host homes are measured; a file or model must have them.
    if typed.homes > 1 && !is_host {
        machine.require(Capability::Homes).map_err(CliError::input)?;
    }
    CliError::check_input(typed.utilisation.filter(|_| !is_model).map(|percent| {
        format!(
            "--utilisation {percent}: {} is {}; only a model can keep its other CPUs busy",
            typed.on,
            machine.kind()
        )
    }))?;
    let source = match &machine.kind {
        MachineKind::Host => RoundTripSource::host(here::cpus_to_measure(cpus)?),
        MachineKind::Model(model) => RoundTripSource::simulated(Arc::clone(model), cpus),
        _ => RoundTripSource::replayed(input::profile_of(machine)?, cpus),
    };
    Ok(source?)
}

struct MeasureOutputs {
    is_document: bool,
    output: Option<Destination>,
    page: Option<Destination>,
    shared: Option<Destination>,
}

impl MeasureOutputs {
    fn new(typed: &MeasureArgs) -> CliResult<Self> {
        let output = output::beside(typed.output.as_deref(), None, "-o")?;
        let is_document = typed.forms.json || output == Some(Destination::Stdout);
        let page = output::page(typed.forms.html.as_deref(), is_document)?;
        let on_stdout = is_document
            .then_some("--json")
            .or_else(|| (page == Some(Destination::Stdout)).then_some("--html -"));
        let shared = output::beside(typed.share.as_deref(), on_stdout, "--share")?;
        Ok(MeasureOutputs { is_document, output, page, shared })
    }

    /// Writes or remembers the profile of a machine.
    fn write(
        &self,
        typed: &MeasureArgs,
        measurement: &Measurement,
        source: &RoundTripSource,
        machine: &Machine,
    ) -> CliResult {
        let profile = &measurement.profile;
        output::tell_each(&measurement.warnings);
        measurement.used_up.iter().for_each(|quotas| output::tell_of_used_up(quotas));
        if let Some(page) = &self.page {
            let model = source.model().map(|model| &**model);
            let words = input::words_of(machine, &profile.topology);
            page.write(&html::page(profile, model, &[], &words))?;
        }
        output::tell_each(match source {
            // Before it is remembered, or it would be compared with itself.
            RoundTripSource::Host { .. } => past::remark_on_change(profile),
            RoundTripSource::Replayed { .. } => Some(format!(
                "{} is {}: its figures were replayed with synthetic noise; nothing was \
                 measured",
                typed.on,
                machine.kind()
            )),
            RoundTripSource::Simulated { .. } => None,
        });
        match (&self.output, source) {
            (Some(file @ (Destination::File(_) | Destination::Stream(_))), _) => {
                file.write(&profile.to_json())?;
            }
            // A profile in a file is the user's, and does not change the remembered one.
            (_, RoundTripSource::Host { pus, .. }) => {
                let remembrance = past::remember(profile, pus);
                output::tell_each(remembrance.remark());
                tell_where(&remembrance);
            }
            _ => {}
        }
        if let Some(file) = &self.shared {
            let shared = SharedProfile::of(profile);
            file.write(&shared.profile.to_json())?;
            output::tell(&shared.sentence());
        }
        Ok(())
    }
}

fn tell_where(remembrance: &Remembrance) {
    if let (Remembrance::Kept { .. }, Some(path)) = (remembrance, here::host_profile()) {
        let path = path.display();
        output::tell_person(&format!(
            "saved for other commands in {path}; 'seatmap show' prints it again"
        ));
    }
}

fn table(profile: &Profile) -> Page {
    let options = DrawOptions {
        colour: view::colour(&std::io::stdout()),
        width: view::width(),
        ..DrawOptions::default()
    };
    let checked = profile.home_model.as_ref().and_then(|model| model.lines.as_ref()?.checked);
    let checked = checked.map(|checked| format!("Homes {checked}."));
    terminal::page(profile, &options, None).paragraph(Vec::from_iter(checked))
}
