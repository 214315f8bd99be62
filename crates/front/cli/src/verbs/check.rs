//! `seatmap check`.

use crate::args::{Check, ColourChoice};
use crate::error::{AtFile, CliError};
use crate::interrupt::Interrupt;
use crate::output::{self, Destination};
use crate::verbs::place::ranks;
use crate::{input, place, plan_input, view};
use seatmap_machine::Topology;
use seatmap_os::root::Root;
use seatmap_ranks::RankPlan;
use seatmap_report::terminal::Colour;
use seatmap_watch::judge::told::{Judged, changes};
use seatmap_watch::seating::FORMAT;
use seatmap_watch::{Asked, Choice, ChoiceError, Expected, Finding, Seating, Verdict, WatchOptions, Watcher};
use std::path::Path;
use std::time::{Duration, Instant};

/// How often a long wait looks whether it was asked to stop.
const PAUSE: Duration = Duration::from_millis(50);

/// Checks where the threads of living programs sit. Exit code 1 means that something is wrong.
pub fn run(typed: &Check, colour: ColourChoice) -> Result<(), CliError> {
    let file = typed.output.as_deref().map(Destination::new).transpose()?;
    if typed.json && file == Some(Destination::Stdout) {
        return Err(CliError::input("--json and -o - both print on stdout; give -o a file's name"));
    }
    let (expected, ranks) = match &typed.expect {
        Some(path) => expected(path, typed.any_machine)?,
        None => (None, None),
    };
    let asked = Asked { rules: typed.rules.clone(), expected, strict: typed.strict };
    let coloured = view::colour(colour, &std::io::stdout()) != Colour::None;
    let checker = Checker { typed, file, asked, ranks, topology: topology()?, coloured };
    match typed.watch {
        None => checker.once(),
        Some(every) => checker.again_and_again(every),
    }
}

/// The seats in a plan, or in a seating; or a plan for the ranks of a job, whose seats depend on the processes found.
fn expected(path: &Path, any_machine: bool) -> Result<(Option<Expected>, Option<RankPlan>), CliError> {
    let bytes = input::bytes(path)?;
    match ranks::of_bytes(path, &bytes)? {
        Some(plan) => Ok((None, Some(plan))),
        None => Ok((Some(of_threads(path, &bytes, any_machine)?), None)),
    }
}

fn of_threads(path: &Path, bytes: &[u8], any_machine: bool) -> Result<Expected, CliError> {
    if seatmap_plan::plan::is_plan(bytes) {
        let plan = plan_input::plan_in(path, bytes)?;
        return match plan.check_machine(&place::host_name()) {
            Err(error) if !any_machine => Err(CliError::input(AtFile::new(path, error))),
            _ => Ok(Expected::of_plan(&plan)),
        };
    }
    let read = Expected::of_seating(&String::from_utf8_lossy(bytes));
    read.map_err(|error| CliError::input(AtFile::new(path, format!("neither a plan nor a seating: {error}"))))
}

/// The whole computer, as far as this process's control group shows it. Its own mask hides nothing.
pub(super) fn topology() -> Result<Topology, CliError> {
    let online = seatmap_os::cpus::Cpus::read().map_err(CliError::work)?.online;
    // A kernel that refuses leaves the mask as it was: the topology is then that of the own CPUs.
    let _ = online.into_iter().collect::<seatmap_os::CpuSet>().give(0);
    seatmap_host::topology::of_host().map_err(CliError::work)
}

/// A check: the programs, the rules, and the place for the result.
struct Checker<'a> {
    typed: &'a Check,
    file: Option<Destination>,
    asked: Asked,
    ranks: Option<RankPlan>,
    topology: Topology,
    coloured: bool,
}

impl Checker<'_> {
    /// `None`: no program is bound, and no other was chosen.
    fn begin(&self) -> Result<Option<Watcher>, CliError> {
        let options = WatchOptions {
            window: self.typed.seconds,
            trace: self.typed.trace,
            every_cpu: true,
            ..WatchOptions::default()
        };
        let choice = match choice(self.typed) {
            // Of a job, its ranks on this computer, bound or not.
            Choice::Bound if self.ranks.is_some() => match ranks::living() {
                pids if pids.is_empty() => return Ok(None),
                pids => Choice::Processes { pids, with_children: false },
            },
            choice => choice,
        };
        match Watcher::begin(&choice, &options) {
            Ok(watcher) => Ok(Some(watcher)),
            Err(ChoiceError::Empty(_)) if choice == Choice::Bound => Ok(None),
            Err(error @ ChoiceError::Proc(_)) => Err(CliError::work(error)),
            Err(error) => Err(CliError::input(error)),
        }
    }

    fn judged<'s>(&self, seating: &'s Seating) -> Judged<'s> {
        let wants_shown = self.asked.expected.is_none() && self.asked.rules.is_empty();
        let expected = match &self.ranks {
            Some(plan) => Some(ranks::expected(plan, seating, self.typed.any_machine)),
            None if wants_shown => Expected::shown(&Root::new("/"), seating),
            None => self.asked.expected.clone(),
        };
        let asked = Asked { expected, ..self.asked.clone() };
        Judged::new(seating, &self.topology, &asked)
    }

    fn once(&self) -> Result<(), CliError> {
        let Some(mut watcher) = self.begin()? else { return self.tell_of_nothing() };
        watcher.watch(self.typed.seconds);
        let seating = watcher.seating();
        // A /proc that hides other users may show nothing at all, which is told.
        if seating.processes.is_empty() && !self.typed.all {
            return Err(CliError::input("the program ended while it was watched"));
        }
        let judged = self.judged(&seating);
        self.tell(&judged)?;
        self.end(&judged.findings, judged.verdict)
    }

    /// The whole result, on paper and on the screen.
    fn tell(&self, judged: &Judged) -> Result<(), CliError> {
        if let Some(file) = &self.file {
            file.write(&seatmap_document::written(judged))?;
        }
        if self.typed.json {
            return output::json(judged);
        }
        let is_quiet = self.typed.quiet && !judged.verdict.fails(self.typed.strict);
        if is_quiet || self.file == Some(Destination::Stdout) {
            return Ok(());
        }
        output::print(&judged.table(self.coloured))
    }

    /// A computer on which nobody has bound a program is as asked, unless there should be one.
    fn tell_of_nothing(&self) -> Result<(), CliError> {
        let seating = Seating { format: FORMAT.to_owned(), machine: place::host_name(), ..Seating::default() };
        if self.asked.expected.is_some() || self.ranks.is_some() {
            let judged = self.judged(&seating);
            self.tell(&judged)?;
            return self.end(&judged.findings, judged.verdict);
        }
        match self.typed.json || self.typed.quiet || self.file.is_some() {
            true => self.tell(&self.judged(&seating)),
            false => output::print("no program is bound; --pid PID, --name GLOB and --all check others\n"),
        }
    }

    /// Exit code 1, with a line that says why, where the check fails.
    fn end(&self, findings: &[Finding], verdict: Verdict) -> Result<(), CliError> {
        if !verdict.fails(self.typed.strict) {
            return Ok(());
        }
        let wrong = findings.iter().filter(|finding| finding.is_wrong()).count();
        Err(CliError::work(match wrong {
            0 if verdict == Verdict::Wrong => "something was wrong while the programs were watched".to_owned(),
            0 => "not everything could be seen, and --strict asks for that; run it as root".to_owned(),
            1 => "1 thing is wrong".to_owned(),
            count => format!("{count} things are wrong"),
        }))
    }

    /// Checks until Ctrl-C, or until the programs have ended. The worst verdict decides.
    fn again_and_again(&self, every: Duration) -> Result<(), CliError> {
        let interrupt = Interrupt::listen()?;
        let Some(mut watcher) = self.begin()? else { return self.tell_of_nothing() };
        let began = Instant::now();
        watch(&mut watcher, self.typed.seconds, &interrupt);
        let seating = watcher.seating();
        let judged = self.judged(&seating);
        self.tell(&judged)?;
        let (mut worst, mut findings) = (judged.verdict, judged.findings);
        while !interrupt.asked() {
            watch(&mut watcher, every, &interrupt);
            let seating = watcher.seating();
            if interrupt.asked() || seating.processes.is_empty() {
                break;
            }
            let judged = self.judged(&seating);
            self.tell_changes(&findings, &judged, began.elapsed())?;
            worst = worst.max(judged.verdict);
            findings = judged.findings;
        }
        self.end(&findings, worst)
    }

    fn tell_changes(&self, before: &[Finding], judged: &Judged, gone: Duration) -> Result<(), CliError> {
        let changes = changes(before, &judged.findings, self.coloured);
        if changes.is_empty() {
            return Ok(());
        }
        if self.typed.json || self.file.is_some() {
            return self.tell(judged);
        }
        output::print(&format!("after {:.0} s:\n{changes}", gone.as_secs_f64()))
    }
}

/// Waits, with short looks, until the time is over or Ctrl-C comes.
fn watch(watcher: &mut Watcher, time: Duration, interrupt: &Interrupt) {
    let began = Instant::now();
    while let Some(left) = time.checked_sub(began.elapsed()).filter(|left| !left.is_zero() && !interrupt.asked()) {
        watcher.watch(left.min(PAUSE));
    }
}

/// The processes that the user chose; without a choice, those that are bound.
fn choice(typed: &Check) -> Choice {
    if !typed.pid.is_empty() {
        return Choice::Processes { pids: typed.pid.clone(), with_children: typed.children };
    }
    match (&typed.cgroup, &typed.unit, &typed.name) {
        (Some(path), _, _) => Choice::Group(path.clone()),
        (_, Some(unit), _) => Choice::Unit(unit.clone()),
        (_, _, Some(name)) => Choice::Name(name.clone()),
        _ if typed.slurm_step => Choice::SlurmStep,
        _ if typed.all => Choice::All,
        _ => Choice::Bound,
    }
}
