//! Runs one meter per CPU.

use super::error::Error;
use super::host_cpu::HostCpu;
use super::meter::Metered;
use super::options::NoiseOptions;
use super::report::{CpuNoise, FORMAT, NoiseReport};
use super::seat;
use super::sources::{Snapshot, WatchedGaps};
use super::trace::{self, CpuTrace, Instance, Mark, Marks, Traced};
use seatmap_machines::host::HostClock;
use seatmap_os::usage::ResourceUsage;
use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// Rarely, because each call wakes a CPU.
const WATCH: Duration = Duration::from_millis(250);

/// Long enough to notice a busy CPU.
const BRIEF: Duration = Duration::from_millis(250);

/// Measures the noise of these CPUs simultaneously. Blocks until done.
///
/// The CPUs need not be in the process's affinity mask, but the thread's cpuset must contain them
/// after it has entered [`NoiseOptions::enter`]. `watch` receives the elapsed time and can stop the
/// measurement.
///
/// # Errors
///
/// [`Error`] if a meter cannot be pinned (then none runs) or was moved.
pub fn measure(
    cpus: &[u32],
    options: &NoiseOptions,
    watch: &mut dyn FnMut(Duration) -> ControlFlow<()>,
) -> Result<NoiseReport, Error> {
    if cpus.is_empty() {
        return Err(Error::Nothing);
    }
    if let Some(at) = (1..cpus.len()).find(|at| cpus[..*at].contains(&cpus[*at])) {
        return Err(Error::Twice(cpus[at]));
    }
    let room = Room { options, clock: HostClock::calibrated(), stop: AtomicBool::new(false) };
    std::thread::scope(|scope| room.measure(scope, cpus, watch))
}

/// Measures the noise of these CPUs for a quarter of a second.
///
/// # Errors
/// As [`measure`].
pub fn measure_briefly(cpus: &[u32]) -> Result<NoiseReport, Error> {
    let options = NoiseOptions { duration: BRIEF, ..NoiseOptions::default() };
    measure(cpus, &options, &mut |_| ControlFlow::Continue(()))
}

struct Room<'a> {
    options: &'a NoiseOptions,
    clock: HostClock,
    stop: AtomicBool,
}

struct Hired<'s> {
    cpu: u32,
    /// Starts the meter; dropping it ends the thread.
    go: Sender<Option<File>>,
    thread: ScopedJoinHandle<'s, Option<Brought>>,
}

struct Brought {
    metered: Metered,
    usage: ResourceUsage,
    marks: Marks,
    stayed: Result<(), Error>,
}

/// Each thread keeps its sender until then, so the channel ends when all are.
type Seated = Result<(), Error>;

impl Room<'_> {
    fn measure<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        cpus: &[u32],
        watch: &mut dyn FnMut(Duration) -> ControlFlow<()>,
    ) -> Result<NoiseReport, Error> {
        let (seated, seats) = channel();
        let hired: Vec<Hired> = cpus
            .iter()
            .map(|cpu| self.hire(scope, *cpu, seated.clone()))
            .collect::<Result<_, _>>()?;
        drop(seated);
        for hired in &hired {
            seats.recv().unwrap_or(Err(Error::Lost(hired.cpu)))?;
        }
        let trace =
            self.options.trace.then(|| Instance::begin(cpus)).transpose().map_err(Error::Trace)?;
        let markers: Vec<Option<File>> = hired
            .iter()
            .map(|_| trace.as_ref().map(Instance::marker).transpose())
            .collect::<io::Result<_>>()
            .map_err(Error::Trace)?;
        let before = Snapshot::now();
        let begin = Instant::now();
        for (hired, marker) in hired.iter().zip(markers) {
            // Joining reveals a thread that has ended.
            let _ = hired.go.send(marker);
        }
        self.wait(begin, &seats, watch);
        let after = Snapshot::now();
        let seconds = begin.elapsed().as_secs_f64();
        trace.as_ref().map(Instance::stop).transpose().map_err(Error::Trace)?;
        let figures =
            hired.into_iter().map(|hired| self.figures(hired, &before, &after, trace.as_ref()));
        Ok(NoiseReport {
            format: FORMAT,
            seconds,
            interrupted: self.stop.load(Ordering::Relaxed),
            clock: self.clock.source().word(),
            cpus: figures.collect::<Result<_, _>>()?,
        })
    }

    fn hire<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        cpu: u32,
        seated: Sender<Seated>,
    ) -> Result<Hired<'s>, Error> {
        let (go, gone) = channel();
        let thread = Builder::new()
            .name(format!("noise-cpu{cpu}"))
            .spawn_scoped(scope, move || self.meter(cpu, &seated, &gone));
        thread.map(|thread| Hired { cpu, go, thread }).map_err(|source| Error::Seat { cpu, source })
    }

    fn meter(
        &self,
        cpu: u32,
        seated: &Sender<Seated>,
        go: &Receiver<Option<File>>,
    ) -> Option<Brought> {
        let seat = seat::take(cpu, &self.options.enter);
        let sits = seat.is_ok();
        let mut host = HostCpu::new(self.clock.clone());
        // Allocated before the start, so the measurement has no page faults.
        let metered = sits.then(|| Metered::new(&mut host));
        seated.send(seat).ok()?;
        let mut metered = metered?;
        let marker = go.recv().ok()?;
        let moves = seat::moves();
        let before = ResourceUsage::of_thread();
        let begin = Mark::now(&self.clock);
        metered.run(&mut host, self.options.duration, &|| self.stop.load(Ordering::Relaxed));
        let usage = ResourceUsage::of_thread().since(before);
        let marks = Marks { begin, end: Mark::now(&self.clock) };
        // Written last, so no later event overwrites it. A missing mark is reported later.
        let _ = marker.map(|mut marker| marker.write_all(b"seatmap"));
        Some(Brought { metered, usage, marks, stayed: seat::check_since(cpu, moves) })
    }

    fn wait(
        &self,
        begin: Instant,
        seats: &Receiver<Seated>,
        watch: &mut dyn FnMut(Duration) -> ControlFlow<()>,
    ) {
        while seats.recv_timeout(WATCH).is_err_and(|ended| ended == RecvTimeoutError::Timeout) {
            if watch(begin.elapsed()).is_break() {
                self.stop.store(true, Ordering::Relaxed);
            }
        }
    }

    fn figures(
        &self,
        hired: Hired,
        before: &Snapshot,
        after: &Snapshot,
        trace: Option<&Instance>,
    ) -> Result<CpuNoise, Error> {
        let Ok(Some(mut brought)) = hired.thread.join() else { return Err(Error::Lost(hired.cpu)) };
        std::mem::replace(&mut brought.stayed, Ok(()))?;
        let explained = trace.map(|trace| brought.explain(&trace.recording(hired.cpu)?));
        let trace = explained.transpose().map_err(Error::Trace)?;
        let found = after.since(before, hired.cpu, brought.usage, watched(&brought.metered));
        Ok(CpuNoise::new(hired.cpu, self.clock.step_ns(), &brought.metered, found, trace))
    }
}

impl Brought {
    fn explain(&self, recording: &CpuTrace) -> io::Result<Traced> {
        let detour = &self.metered.detour;
        let ns_per_tick = self.metered.ns_per_tick;
        let traced = trace::explain(
            recording,
            &detour.gaps.timeline(),
            &self.marks,
            detour.origin,
            ns_per_tick,
        );
        traced.ok_or_else(|| io::Error::other("it lacks the meter's mark"))
    }
}

fn watched(metered: &Metered) -> WatchedGaps {
    let detour = metered.detour.watched_ticks as f64;
    let quanta = metered.quanta.worked_ticks as f64;
    WatchedGaps { gaps: metered.detour.gaps.sums().0, share: detour / (detour + quanta).max(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_os::affinity;

    fn short() -> NoiseOptions {
        NoiseOptions { duration: Duration::from_millis(60), ..NoiseOptions::default() }
    }

    fn on(cpus: &[u32], options: &NoiseOptions) -> Result<NoiseReport, Error> {
        measure(cpus, options, &mut |_| ControlFlow::Continue(()))
    }

    #[test]
    fn each_cpu_of_this_computer_is_measured() {
        let cpus = affinity::current().unwrap();
        let report = match on(&cpus, &short()) {
            // Another process is creating a cell.
            Err(
                error @ (Error::Moved { .. } | Error::MovedAndBack { .. } | Error::Cpuset { .. }),
            ) => {
                return seatmap_needs::skipped!("{error}");
            }
            result => result.unwrap(),
        };
        assert_eq!(report.cpus.iter().map(|noise| noise.cpu).collect::<Vec<_>>(), cpus);
        assert!(!report.interrupted && report.seconds > 0.0);
        for noise in &report.cpus {
            assert!((0.0..=100.0).contains(&noise.stolen_percent), "{noise:?}");
            assert_eq!(noise.histogram.iter().map(|bin| bin.count).sum::<u64>(), noise.gaps);
            assert!(
                noise.fwq_quanta > 0
                    && noise.fwq_min_us <= noise.fwq_p50_us
                    && noise.fwq_p50_us <= noise.fwq_max_us
            );
            assert!(
                noise.meter.resolution_ns > 0.0
                    && noise.meter.threshold_ns > noise.meter.resolution_ns
            );
        }
    }

    #[test]
    fn observer_can_end_the_measurement() {
        let endless =
            NoiseOptions { duration: Duration::from_secs(1 << 20), ..NoiseOptions::default() };
        let cpus = affinity::current().unwrap();
        let report = measure(&cpus[..1], &endless, &mut |_| ControlFlow::Break(())).unwrap();
        assert!(report.interrupted && report.seconds < 1e6);
    }

    #[test]
    fn invalid_requests_fail_before_measuring() {
        let cpu = affinity::current().unwrap()[0];
        assert!(matches!(on(&[], &short()), Err(Error::Nothing)));
        assert!(matches!(on(&[cpu, cpu], &short()), Err(Error::Twice(twice)) if twice == cpu));
        let endless =
            NoiseOptions { duration: Duration::from_secs(1 << 20), ..NoiseOptions::default() };
        assert!(matches!(on(&[cpu, 500_000], &endless), Err(Error::Cpu(_))));
    }
}
