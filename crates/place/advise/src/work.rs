//! Measures the work in a period of a trial.
//!
//! The measure is the bytes between its threads and clients, or the user's metric: switches vary
//! for the same work.

use crate::AdviseError;
use seatmap_observe::{Method, ObservationSession, ObserveError, Subject, TracingMechanism};
use seatmap_os::Tid;
use seatmap_trial::live::WorkMetric;
use seatmap_trial::live::meter::MetricReader;

/// About 100 lines of a log; fewer bytes say nothing about the work.
const LEAST_BYTES_PER_S: f64 = 10_000.0;

/// Reads the work of a program at both ends of a period.
pub struct WorkMeter {
    session: ObservationSession,
    meter: Option<MetricReader>,
    begun: Total,
}

/// The total work and CPU time at one moment.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    bytes: f64,
    cpu_s: f64,
    at_s: f64,
}

/// The work of a period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeriodWork {
    /// The work per second; `None` if it is unreadable or says nothing.
    pub rate: Option<f64>,
    /// The mean number of CPUs that the observed processes used.
    pub cpus: f64,
}

impl WorkMeter {
    /// Measures the bytes that these processes exchange, or the user's metric.
    ///
    /// # Errors
    /// [`AdviseError`]: the metric is unavailable, or the program cannot be observed.
    pub fn begin(pids: &[Tid], metric: Option<WorkMetric>) -> Result<Self, AdviseError> {
        let meter = metric
            .map(|metric| MetricReader::new(Some(metric), false))
            .transpose()
            .map_err(AdviseError::Metric)?;
        let subject = Subject::Survivors(pids.to_vec());
        // Even without bytes, new threads must be observed.
        let session = match ObservationSession::begin(
            Some(Method::Sockets),
            TracingMechanism::Best,
            &subject,
        ) {
            Err(ObserveError::Forbidden { .. } | ObserveError::Unavailable { .. })
                if meter.is_some() =>
            {
                ObservationSession::begin(None, TracingMechanism::Best, &subject)?
            }
            session => session?,
        };
        Ok(WorkMeter { session, meter, begun: Total::default() })
    }

    /// The observation of the program's threads.
    pub fn session(&mut self) -> &mut ObservationSession {
        &mut self.session
    }

    /// The unit of the work.
    #[must_use]
    pub fn unit(&self) -> String {
        let metric = self.meter.as_ref().map(|meter| meter.metric().to_string());
        metric.unwrap_or_else(|| "bytes".to_owned())
    }

    /// Why the user's metric gave no rate; `None` without a metric.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let meter = self.meter.as_ref()?;
        let problem = meter.problem().map(str::to_owned);
        Some(problem.unwrap_or_else(|| format!("'{}' did not grow", meter.metric())))
    }

    /// Starts a period. `stop` ends the metric's own command.
    pub fn begin_period(&mut self, stop: &mut dyn FnMut() -> bool) {
        let threads = self.session.threads();
        let messages = self.session.messages();
        if let Some(meter) = &mut self.meter {
            meter.begin(messages, &threads, stop);
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
        let rate = match &mut self.meter {
            Some(meter) => {
                let count = meter.end(messages, &threads, stop);
                count.map(|count| count / meter.seconds()).filter(|rate| *rate > 0.0)
            }
            None => Some((now.bytes - self.begun.bytes) / seconds)
                .filter(|rate| *rate >= LEAST_BYTES_PER_S),
        };
        PeriodWork { rate, cpus }
    }

    fn total(&mut self) -> Total {
        let seen = self.session.seen();
        let edges = seen.windows.iter().flat_map(|window| &window.edges);
        Total {
            bytes: edges.map(|edge| edge.bytes).sum(),
            cpu_s: seen.tasks.iter().map(|task| task.cpu_s).sum(),
            at_s: self.session.elapsed().as_secs_f64(),
        }
    }
}
