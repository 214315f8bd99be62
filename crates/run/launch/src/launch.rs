//! Runs a program and seats its threads while it runs.

use crate::allocator::SeatAllocator;
use crate::cell_watch::CellWatch;
use crate::child::{Child, ChildStage};
use crate::count::CpuCount;
use crate::error::LaunchError;
use crate::executable::Executable;
use crate::fit::{CpuFit, FitWatch};
use crate::front::FrontLink;
use crate::living::LivingReport;
use crate::memory::ProgramMemory;
use crate::pinner::{Birth, Pinner};
use crate::policies::Policies;
use crate::report::{Behind, Report};
use crate::signals::{ReceivedSignal, Signals};
use crate::tracer::Tracer;
use crate::verifier::{MemoryReport, Verifier};
use crate::watch::ProcessWatch;
use crate::{Ending, front, signals};
use seatmap_os::quota::QuotaWatch;
use seatmap_os::{CpuSet, Root, affinity, interpreter, proc_mount};
use std::io::Write;
use std::time::{Duration, Instant};

/// The pause between two checks for the child's start.
const STARTING: Duration = Duration::from_millis(1);

/// Options of a launch.
#[derive(Debug, Default)]
pub struct LaunchOptions<'a> {
    /// Seats no thread before this program (`*` stands for any text).
    pub start_at: Option<String>,
    /// The mask of unseated threads; by default this process's.
    pub home: Option<CpuSet>,
    /// Lets threads that wait for a shared seat use all seats. Not for cells, where the kernel
    /// balances no load.
    pub widens: bool,
    /// The source of the program's memory; by default the kernel's choice.
    pub memory: Option<ProgramMemory>,
    /// Locates the program's pages at this interval, and at each process's end.
    pub verify_memory: Option<Duration>,
    /// The CPUs that the program sees. Its settings and files are the executable's.
    pub fit: Option<CpuFit>,
    /// Watches the program's cell, to report its end.
    pub cell: Option<CellWatch>,
    /// The connection to the front, if the caller waits for one.
    pub link: Option<&'a mut FrontLink>,
}

/// Runs a program to its end, seats its threads, and reports. Streams, terminal and process group
/// are the caller's; signals are forwarded. Threads that outlive the first process get the mask
/// that they would have without Seatmap.
///
/// The calling process should have one thread and no other children, whose ends would be reported
/// here.
///
/// # Errors
/// [`LaunchError`] if the program could not be started. The report lists unseated threads.
pub fn run(
    program: &Executable,
    seating: SeatAllocator,
    options: LaunchOptions,
) -> Result<(Ending, Report), LaunchError> {
    let mut launch = Launch::begin(program, seating, options)?;
    let ending = launch.attend();
    let behind = launch.behind();
    let mut report = Report { complete: true, ..launch.report() };
    if behind.processes > 0 {
        report.behind = Some(launch.give_masks_back(behind));
    }
    Ok((ending, report))
}

/// A running program.
pub struct Launch<'a> {
    signals: Signals,
    child: Child,
    tracer: Tracer,
    pinner: Pinner,
    watch: ProcessWatch,
    memory: Option<ProgramMemory>,
    fit: Option<FitWatch>,
    cell: Option<CellWatch>,
    link: Option<&'a mut FrontLink>,
    shown: LivingReport,
    quotas: QuotaWatch,
    stopped: Option<i32>,
    asked_to_stop: bool,
}

impl<'a> Launch<'a> {
    /// Starts a program. Its threads are seated while [`Launch::attend`] or [`Launch::stay`] runs.
    ///
    /// # Errors
    /// [`LaunchError`]; the program does not run then.
    pub fn begin(
        program: &Executable,
        seating: SeatAllocator,
        options: LaunchOptions<'a>,
    ) -> Result<Self, LaunchError> {
        proc_mount::check(&Root::new("/"))?;
        let LaunchOptions { start_at, home, widens, memory, verify_memory, fit, cell, mut link } =
            options;
        let home = home.map_or_else(|| affinity::to_put_back(0), Ok);
        let home = home.map_err(LaunchError::system("read this process's affinity"))?;
        let held = link.as_mut().and_then(|link| link.take_signals());
        let signals = held
            .map_or_else(Signals::hold, Ok)
            .map_err(LaunchError::system("hold back signals"))?;
        let first = seating.first_task().filter(|_| start_at.is_none());
        let policies =
            memory.as_ref().map_or_else(Policies::none, |memory| Policies::of(memory, first));
        let policy = memory.as_ref().and_then(|memory| memory.all.as_ref()).or(policies.of_first());
        let prepared =
            policy.map(|policy| Executable { memory: Some(policy.clone()), ..program.clone() });
        let child = Child::new(prepared.as_ref().unwrap_or(program), &signals)
            .map_err(LaunchError::system("start a process"))?;
        if link.is_some() {
            front::leave_session();
        }
        // Returning ends the child.
        program
            .group
            .as_deref()
            .map_or(Ok(()), |members| {
                let mut members = Root::new("/").control_file(members)?;
                members.write_all(child.pid.to_string().as_bytes())
            })
            .map_err(LaunchError::system("move the program into its control group"))?;
        let fit = fit.map(|fit| FitWatch::new(fit, home.clone()));
        fit.as_ref()
            .and_then(FitWatch::mask)
            .map_or(Ok(()), |mask| mask.give(child.pid))
            .map_err(LaunchError::system("set the program's mask"))?;
        let quotas = QuotaWatch::of(child.pid);
        let nodes = memory.as_ref().and_then(|memory| memory.nodes.clone());
        let mut tracer =
            Tracer::new(child.pid, verify_memory.map(|pace| Verifier::new(nodes, pace)));
        if seating.order_is_open() || start_at.is_some() {
            tracer.seize().map_err(LaunchError::seizing)?;
        }
        let mut pinner = Pinner::new(seating, home, start_at);
        pinner.widens = widens;
        pinner.policies = policies;
        pinner.arrive(child.pid, Birth { pid: child.pid, creator: child.pid, is_late: false });
        let watch = ProcessWatch::new(child.pid);
        let mut launch = Launch {
            signals,
            child,
            tracer,
            pinner,
            watch,
            memory,
            fit,
            cell,
            link,
            shown: LivingReport::new(),
            quotas,
            stopped: None,
            asked_to_stop: false,
        };
        launch.child.begin();
        launch.start(program)?;
        Ok(launch)
    }

    /// Seats the program's threads until its first process ends.
    pub fn attend(&mut self) -> Ending {
        loop {
            if let Some(ending) = self.attend_for(Duration::MAX) {
                return ending;
            }
        }
    }

    /// Like [`Launch::attend`], but returns `None` after this time.
    pub fn attend_for(&mut self, time: Duration) -> Option<Ending> {
        let begun = Instant::now();
        loop {
            let more = self.tracer.hear(&mut self.pinner);
            if self.tracer.ending.is_some() || begun.elapsed() >= time {
                return self.tracer.ending;
            }
            self.stop_with_the_program();
            if let Some(came) = self.wait(more) {
                self.pass_on(came);
            }
        }
    }

    /// Living processes and threads.
    pub fn behind(&mut self) -> Behind {
        self.tracer.hear(&mut self.pinner);
        let processes = self.watch.living(&mut self.pinner, &self.tracer);
        let threads = processes
            .iter()
            .map(|pid| seatmap_os::task::threads(*pid).map_or(1, |tids| tids.len()))
            .sum();
        Behind { processes: processes.len(), threads, supervisor: None, freed: 0, waiter: None }
    }

    /// Seats remaining threads until the last ends or a signal arrives; returns whether one did.
    pub fn stay(&mut self) -> bool {
        self.watch.slow_down();
        while !self.pinner.threads.is_empty() || self.watch.knows_processes() {
            let more = self.tracer.hear(&mut self.pinner);
            if self.wait(more).is_some_and(|came| came.asks_to_end()) {
                return true;
            }
        }
        false
    }

    /// Ends the seating: restores masks, except those chosen by threads. A waiting process restores
    /// offline CPUs later.
    pub fn give_masks_back(&mut self, behind: Behind) -> Behind {
        let freed = self.pinner.give_masks_back(|| self.watch.processes().collect());
        if let Some(fit) = &mut self.fit {
            fit.widen_all();
        }
        let waiter = front::wait_behind(self.pinner.take_owed());
        Behind { freed, waiter, ..behind }
    }

    /// The CPUs of threads bound to one CPU, shared with other runs' threads.
    pub fn shared_cpus(&self) -> CpuSet {
        self.pinner.seating.leases.shared()
    }

    /// The report so far.
    pub fn report(&mut self) -> Report {
        self.watch.last_look(&mut self.pinner);
        let report = Report::of(&self.pinner, Some(self.child.pid), self.tracer.hampered.clone());
        let mut throttled = self.quotas.stops();
        if !throttled.is_empty() && self.fit.is_none() {
            throttled
                .extend(CpuCount::of_self().ok().and_then(|count| count.excess(report.created)));
        }
        let fit = self.fit.as_ref().map(|fit| fit.report.clone());
        let mut report = Report { memory: self.memory_report(), fit, throttled, ..report };
        if let Some(end) = self.cell.as_mut().and_then(CellWatch::end) {
            report.lose_the_cell(end, &self.pinner);
        }
        report
    }

    fn memory_report(&self) -> Option<MemoryReport> {
        let wish = self.memory.as_ref();
        match &self.tracer.verifier {
            Some(verifier) => Some(verifier.report(wish)),
            None => wish.map(|memory| MemoryReport::of(Some(memory))),
        }
    }

    /// The connection to the front.
    pub fn link(&mut self) -> Option<&mut FrontLink> {
        self.link.as_deref_mut()
    }

    /// The program's first process.
    pub fn pid(&self) -> seatmap_os::Tid {
        self.child.pid
    }

    fn start(&mut self, program: &Executable) -> Result<(), LaunchError> {
        loop {
            self.tracer.hear(&mut self.pinner);
            match self.child.start() {
                ChildStage::Running => return Ok(()),
                ChildStage::Refused(source) => {
                    self.attend();
                    let source = interpreter::explained(program.file(), source);
                    let path = program.path.to_string_lossy().into_owned();
                    return Err(LaunchError::Execute { path, source });
                }
                ChildStage::Unprepared(source) => {
                    self.attend();
                    let what = "set the program's memory policy or files";
                    return Err(LaunchError::System { what, source });
                }
                ChildStage::Pending => {
                    if let Some(came) = self.signals.next(STARTING) {
                        self.pass_on(came);
                    }
                }
            }
        }
    }

    fn show(&mut self, has_news: bool) {
        if self.shown.is_due(has_news) {
            let report =
                Report::of(&self.pinner, Some(self.child.pid), self.tracer.hampered.clone());
            self.shown.show(&report);
        }
    }

    fn wait(&mut self, is_busy: bool) -> Option<ReceivedSignal> {
        if self.watch.wait().is_zero() {
            let has_news = self.watch.look(&mut self.pinner, &mut self.tracer);
            if let Some(verifier) = &mut self.tracer.verifier {
                verifier.look(self.watch.processes());
            }
            if let Some(fit) = &mut self.fit {
                fit.look(&self.pinner.threads.counts());
            }
            if let Some(cell) = &mut self.cell {
                cell.look();
            }
            self.show(has_news);
        }
        self.signals.next(if is_busy { Duration::ZERO } else { self.watch.wait() })
    }

    fn pass_on(&mut self, came: ReceivedSignal) {
        let wakes = came.signal == libc::SIGCONT;
        self.asked_to_stop = !wakes && (self.asked_to_stop || came.asks_to_stop());
        if !came.to_group && !wakes || wakes && self.tracer.stopped.is_some() {
            signals::send(self.child.pid, came.signal);
        }
        if let Some(link) = &mut self.link {
            link.passed_on(came);
        }
    }

    /// The shell shows a job as stopped when its process stops. The program stops first: it may
    /// restore the terminal, or not stop at all. Without a front nothing would continue this
    /// process.
    fn stop_with_the_program(&mut self) {
        let before = std::mem::replace(&mut self.stopped, self.tracer.stopped);
        let went_on = std::mem::take(&mut self.tracer.went_on);
        match (before, self.stopped, &mut self.link) {
            (None, Some(signal), Some(link)) => link.stopped(signal),
            (Some(_), None, Some(link)) => link.continued(),
            // The program continued and stopped again between two looks; so must the front.
            (Some(_), Some(signal), Some(link)) if went_on && !link.front_has_stopped() => {
                link.stopped(signal)
            }
            (_, Some(signal), None) if std::mem::take(&mut self.asked_to_stop) => {
                self.signals.stop_unless(signal, || false);
            }
            _ => {}
        }
    }
}
