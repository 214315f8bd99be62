//! Measures the work in a period of a trial.
//!
//! | measure | if |
//! |---|---|
//! | the user's metric | the user gave one |
//! | bytes between its threads and clients | it passes some |
//! | voluntary switches, checked against user time | its threads share memory |
//!
//! For the same work, threads on one CPU may switch more often, and spinning threads use more user
//! time. So a gain needs both: `bench/advise/shared` compares them with counters of real work. Both
//! are read from `/proc`, because counting every message slows the program.

use seatmap_data::document::Failure;
use seatmap_observe::{Method, ObservationSession, ObserveError, Subject, TracingMechanism};
use seatmap_os::Tid;
use seatmap_trial::live::WorkMetric;
use seatmap_trial::live::meter::{
    Counts, LEAST_BYTES_PER_S, MetricReader, growth_with_new, passed_bytes,
};
use std::time::Duration;

/// Shows whether the program passes bytes.
const FIRST_LOOK: Duration = Duration::from_millis(300);

/// Fewer switches say nothing about the work.
const LEAST_SWITCHES_PER_S: f64 = 10.0;

/// `read` and `write` carry a program's messages if the kernel counts this share of them.
const PASSED_SHARE: f64 = 0.5;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Measure {
    Metric,
    /// Counted message by message.
    Bytes,
    /// Counted by the kernel for each process.
    PassedBytes,
    Switches,
}

/// Reads a program's work at both ends of a period.
pub struct WorkMeter {
    /// The observation of the program's threads.
    pub session: ObservationSession,
    measure: Measure,
    reader: Option<MetricReader>,
    begun: Total,
    first: Total,
}

#[derive(Debug, Default)]
struct Total {
    bytes: f64,
    /// Of each process.
    passed_bytes: Counts,
    cpu_s: f64,
    at_s: f64,
}

impl Total {
    /// An exited process's bytes do not count.
    fn passed_since(&self, earlier: &Total) -> f64 {
        growth_with_new(&self.passed_bytes, &earlier.passed_bytes) as f64
    }
}

/// The work of a period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeriodWork {
    /// The work per second; `None` if it is unreadable or says nothing.
    pub rate: Option<f64>,
    /// The mean number of CPUs used.
    pub cpus: f64,
    /// Its threads' user time in seconds, if part of the measure.
    pub user_s: Option<f64>,
}

impl WorkMeter {
    /// Measures the user's metric, or the bytes that these processes exchange, or their switches if
    /// they exchange few. `None` if these cannot be observed here.
    ///
    /// # Errors
    /// [`Failure`]: the metric is unavailable, or the program cannot be observed.
    pub fn begin(
        pids: &[Tid],
        metric: Option<WorkMetric>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, Failure> {
        let measure = if metric.is_some() { Measure::Metric } else { Measure::Bytes };
        let reader = metric.map(|metric| reader_of(Some(metric))).transpose()?;
        let subject = Subject::Survivors(pids.to_vec());
        // Even without bytes, new threads must be observed.
        let mut session = observed(Some(Method::Sockets), &subject)?;
        if session.is_none() && reader.is_some() {
            session = observed(None, &subject)?;
        }
        let Some(mut session) = session else { return Ok(None) };
        if measure == Measure::Bytes {
            session.watch(Some(FIRST_LOOK), stop)?;
        }
        let mut meter = WorkMeter {
            session,
            measure,
            reader,
            begun: Total::default(),
            first: Total::default(),
        };
        meter.first = meter.total();
        let has_bytes = meter.first.bytes / FIRST_LOOK.as_secs_f64() >= LEAST_BYTES_PER_S;
        if measure == Measure::Bytes && !has_bytes {
            meter.measure = Measure::Switches;
            meter.reader = Some(reader_of(None)?);
            meter.session.pause(true)?;
        }
        Ok(Some(meter))
    }

    /// The unit of the work.
    pub fn unit(&self) -> String {
        let metric = self.reader.as_ref().map(|reader| reader.metric.to_string());
        match self.measure {
            Measure::Metric | Measure::Switches => metric.unwrap_or_default(),
            Measure::Bytes | Measure::PassedBytes => "bytes".to_owned(),
        }
    }

    /// Why the user's metric gave no rate; `None` without a metric.
    pub fn problem(&self) -> Option<String> {
        let reader = self.reader.as_ref().filter(|_| self.measure == Measure::Metric)?;
        let problem = reader.problem.clone();
        Some(problem.unwrap_or_else(|| format!("'{}' did not grow", reader.metric)))
    }

    /// Stops counting messages if the kernel's own count has them too, because that slows a program
    /// and could favour some seats.
    ///
    /// # Errors
    /// [`Failure`]: the kernel refused.
    pub fn stop_observing(&mut self) -> Result<(), Failure> {
        let now = self.total();
        let passed_bytes = now.passed_since(&self.first);
        let is_counted = passed_bytes >= PASSED_SHARE * (now.bytes - self.first.bytes);
        if self.measure == Measure::Bytes && is_counted {
            self.measure = Measure::PassedBytes;
            self.session.pause(true)?;
        }
        Ok(())
    }

    /// Starts a period. `stop` ends the metric's own command.
    pub fn begin_period(&mut self, stop: &mut dyn FnMut() -> bool) {
        let threads = self.session.threads();
        let messages = self.session.messages();
        if let Some(reader) = &mut self.reader {
            reader.begin(messages, &threads, stop);
        }
        self.begun = self.total();
    }

    /// Ends a period.
    pub fn end_period(&mut self, stop: &mut dyn FnMut() -> bool) -> PeriodWork {
        let now = self.total();
        let seconds = (now.at_s - self.begun.at_s).max(1e-9);
        let cpus = (now.cpu_s - self.begun.cpu_s).max(0.0) / seconds;
        let threads = self.session.threads();
        let messages = self.session.messages();
        let counted = self.reader.as_mut().and_then(|reader| {
            let count = reader.end(messages, &threads, stop)?;
            Some(count / reader.seconds())
        });
        let bytes = now.bytes - self.begun.bytes;
        let passed_bytes = now.passed_since(&self.begun);
        let (rate, least) = match self.measure {
            Measure::Metric => (counted, f64::MIN_POSITIVE),
            Measure::Switches => (counted, LEAST_SWITCHES_PER_S),
            Measure::Bytes => (Some(bytes / seconds), LEAST_BYTES_PER_S),
            Measure::PassedBytes => (Some(passed_bytes / seconds), LEAST_BYTES_PER_S),
        };
        let rate = rate.filter(|rate| *rate >= least);
        PeriodWork { rate, cpus, user_s: self.reader.as_ref().and_then(|reader| reader.user_s) }
    }

    fn total(&mut self) -> Total {
        let seen = self.session.seen();
        let edges = seen.windows.iter().flat_map(|window| &window.edges);
        Total {
            bytes: edges.map(|edge| edge.bytes).sum(),
            passed_bytes: passed_bytes(&self.session.threads()),
            cpu_s: seen.tasks.iter().map(|task| task.cpu_s).sum(),
            at_s: self.session.elapsed().as_secs_f64(),
        }
    }
}

/// `None` if this user or kernel cannot observe the program.
fn observed(
    method: Option<Method>,
    subject: &Subject,
) -> Result<Option<ObservationSession>, Failure> {
    match ObservationSession::begin(method, TracingMechanism::Best, subject) {
        Err(ObserveError::Forbidden { .. } | ObserveError::Unavailable { .. }) => Ok(None),
        session => Ok(Some(session?)),
    }
}

fn reader_of(metric: Option<WorkMetric>) -> Result<MetricReader, Failure> {
    MetricReader::new(metric, false).map_err(Failure::input)
}
