//! A race on the running services: the present sets against the plan, in alternating periods.
//!
//! Each round has both, in random order. A service's own metric judges it: a growing total of its
//! work, read at both ends of a period. The plan is kept only if no service is shown to lose more
//! than its limit, and one to gain.

use crate::apply::{ApplyRequest, ServicesHost};
use crate::plan::PlannedService;
use seatmap_data::document::{Failure, printed_number, unfit, with_causes};
use seatmap_data::statistics::signed_rank;
use seatmap_data::statistics::trial::{Schedule, each};
use seatmap_data::statistics::words::{agreeing, counted};
use seatmap_os::{Ending, limited};
use serde::Serialize;
use std::process::Command;
use std::time::{Duration, Instant};

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-services-race/1";

/// The confidence of all claims together.
const CONFIDENCE: f64 = 0.95;

/// The unread start of a period, while caches fill and threads move.
const SETTLING: f64 = 0.2;

/// The arm with the plan; the other one has the present sets.
const PLANNED: usize = 0;

const PATIENCE: Duration = Duration::from_secs(10);

/// For readings, beyond two periods, before an applied plan ends.
const SLACK: Duration = Duration::from_secs(120);

/// The default limit on the loss of a service, in percent.
pub const USUAL_LIMIT_PERCENT: f64 = 2.0;

/// A request for a race.
#[derive(Clone, Debug, PartialEq)]
pub struct ServicesRaceRequest {
    /// The plan, and how it is applied if it wins.
    pub apply: ApplyRequest,
    /// The length of a period.
    pub period: Duration,
    /// The number of rounds, each of two periods.
    pub rounds: usize,
}

/// The outcome of a race.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RaceReport {
    /// Name and version of the format.
    pub format: String,
    /// The name of the plan.
    pub plan: String,
    /// The number of rounds.
    pub rounds: usize,
    /// The length of a period, in seconds.
    pub period_s: f64,
    /// The services.
    pub services: Vec<RacedService>,
    /// The conclusion.
    pub verdict: RaceVerdict,
}

/// One service in a race.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RacedService {
    /// Its name.
    pub name: String,
    /// Its metric; null if it is not judged.
    pub metric: Option<String>,
    /// The limit on its loss, in percent.
    pub limit_percent: f64,
    /// The rounds with readable metrics.
    pub counted: usize,
    /// The change of its work with the plan, in percent: the estimate, and the ends of the
    /// interval; null with too few rounds.
    pub change_percent: Option<[f64; 3]>,
}

/// The conclusion of a race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RaceVerdict {
    /// A service gains, and none loses more than its limit: the plan is applied.
    Kept,
    /// These services may lose more than their limits: the plan was undone.
    MayLose {
        /// The services.
        services: Vec<String>,
    },
    /// No service is shown to gain: the plan was undone.
    NoGain,
    /// These metrics were readable in too few rounds: the plan was undone.
    TooFewRounds {
        /// The services.
        services: Vec<String>,
    },
}

/// The total of a metric, and when.
type Reading = (f64, Instant);

struct Race<'a> {
    host: &'a ServicesHost,
    request: &'a ServicesRaceRequest,
    judged: Vec<&'a PlannedService>,
    stands: bool,
    /// Logarithms of planned by present rates, by service.
    logs: Vec<Vec<f64>>,
}

impl ServicesHost {
    /// Races a plan against the present sets, and keeps it if it wins. Otherwise it is undone, even
    /// after a kill.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn race(
        &self,
        request: &ServicesRaceRequest,
        stop: &dyn Fn() -> bool,
        tell: &dyn Fn(usize, usize),
    ) -> Result<RaceReport, Failure> {
        let services = request.apply.plan.services.iter();
        let judged: Vec<&PlannedService> =
            services.filter(|one| one.service.metric.is_some()).collect();
        if judged.is_empty() {
            let why = "no service of the plan has a metric; add metric = \"COMMAND\" to \
                       services.toml (a shell command that prints a total of the service's work), \
                       and plan again";
            return unfit(why);
        }
        let rounds = request.rounds;
        let fewest = signed_rank::fewest(each(CONFIDENCE, judged.len()));
        if rounds < fewest {
            return unfit(format!(
                "{} {} too few for {}; give --rounds {fewest} or more",
                counted(rounds, "round"),
                agreeing(rounds, "is", "are"),
                counted(judged.len(), "metric")
            ));
        }
        for planned in &judged {
            read(planned)?;
        }
        let logs = vec![Vec::new(); judged.len()];
        let mut race = Race { host: self, request, judged, stands: false, logs };
        let run = race.run(stop, tell);
        let put_back = race.stand(false);
        run?;
        put_back?;
        let report = race.report();
        if report.verdict == RaceVerdict::Kept {
            self.apply(&request.apply)?;
        }
        Ok(report)
    }
}

impl Race<'_> {
    fn run(&mut self, stop: &dyn Fn() -> bool, tell: &dyn Fn(usize, usize)) -> Result<(), Failure> {
        let mut schedule = Schedule::new(1);
        let rounds = self.request.rounds;
        for round in 0..rounds {
            let mut rates = [Vec::new(), Vec::new()];
            for arm in schedule.order(2) {
                rates[arm] = self.period(arm == PLANNED, stop)?;
            }
            let [planned, now] = &rates;
            for (logs, (planned, now)) in self.logs.iter_mut().zip(planned.iter().zip(now)) {
                let log = (planned / now).ln();
                if log.is_finite() {
                    logs.push(log);
                }
            }
            tell(round + 1, rounds);
        }
        Ok(())
    }

    fn period(&mut self, planned: bool, stop: &dyn Fn() -> bool) -> Result<Vec<f64>, Failure> {
        self.stand(planned)?;
        rest(self.request.period.mul_f64(SETTLING), stop)?;
        let begun = self.readings()?;
        rest(self.request.period.mul_f64(1.0 - SETTLING), stop)?;
        let ended = self.readings()?;
        let rates = begun.iter().zip(&ended).map(|((total, at), (later_total, later))| {
            (later_total - total) / (*later - *at).as_secs_f64().max(1e-6)
        });
        Ok(rates.collect())
    }

    fn readings(&self) -> Result<Vec<Reading>, Failure> {
        self.judged.iter().map(|planned| read(planned)).collect()
    }

    fn stand(&mut self, planned: bool) -> Result<(), Failure> {
        if planned == self.stands {
            return Ok(());
        }
        if planned {
            let time = 2 * self.request.period + SLACK;
            self.host.apply(&ApplyRequest { time, ..self.request.apply.clone() })?;
            self.stands = true;
            return Ok(());
        }
        self.stands = false;
        // Masks that lack a CPU would change later periods.
        let (_, left) = self.host.undo(Some(&self.request.apply.name))?;
        match left.first() {
            Some(left) => Err(Failure::work(left.to_string())),
            None => Ok(()),
        }
    }

    fn report(&self) -> RaceReport {
        let confidence = each(CONFIDENCE, self.judged.len());
        let services: Vec<RacedService> = self
            .request
            .apply
            .plan
            .services
            .iter()
            .map(|planned| {
                let at = self.judged.iter().position(|one| *one == planned);
                let logs = at.map_or(&[][..], |at| &self.logs[at]);
                let shift = signed_rank::shift_in_order(logs, confidence);
                RacedService {
                    name: planned.service.name.clone(),
                    metric: planned.service.metric.clone(),
                    limit_percent: planned.service.limit_percent.unwrap_or(USUAL_LIMIT_PERCENT),
                    counted: logs.len(),
                    change_percent: shift.map(|shift| {
                        [shift.centre, shift.low, shift.high].map(|log| 100.0 * log.exp_m1())
                    }),
                }
            })
            .collect();
        RaceReport {
            format: FORMAT.to_owned(),
            plan: self.request.apply.name.to_string(),
            rounds: self.request.rounds,
            period_s: self.request.period.as_secs_f64(),
            verdict: verdict(&services),
            services,
        }
    }
}

/// The conclusion from the intervals of all judged services.
pub fn verdict(services: &[RacedService]) -> RaceVerdict {
    let unread = named(services, |_, low| low.is_none());
    let losing = named(services, |one, low| low.is_some_and(|low| low < -one.limit_percent));
    let gaining = named(services, |_, low| low.is_some_and(|low| low > 0.0));
    match (unread.is_empty(), losing.is_empty(), gaining.is_empty()) {
        (false, ..) => RaceVerdict::TooFewRounds { services: unread },
        (_, false, _) => RaceVerdict::MayLose { services: losing },
        (.., false) => RaceVerdict::Kept,
        (.., true) => RaceVerdict::NoGain,
    }
}

/// Services to which a rule applies, given the lower end of their intervals.
fn named(
    services: &[RacedService],
    applies: fn(&RacedService, Option<f64>) -> bool,
) -> Vec<String> {
    let judged = services.iter().filter(|one| one.metric.is_some());
    let applying = judged.filter(|one| applies(one, one.change_percent.map(|[_, low, _]| low)));
    applying.map(|one| one.name.clone()).collect()
}

fn read(planned: &PlannedService) -> Result<Reading, Failure> {
    let line = planned.service.metric.as_deref().unwrap_or_default();
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    let problem = match limited::output("sh", &mut command, PATIENCE) {
        Ok(output) => match printed_number(&String::from_utf8_lossy(&output.stdout)) {
            Some(total) => return Ok((total, Instant::now())),
            None => match Ending::of(output.status) {
                ending if ending.is_success() => "not a number".to_owned(),
                ending => format!("the command {ending}"),
            },
        },
        Err(error) => with_causes(&error),
    };
    let service = &planned.service.name;
    unfit(format!("the metric of service '{service}' did not print a total: {problem}"))
}

fn rest(time: Duration, stop: &dyn Fn() -> bool) -> Result<(), Failure> {
    let end = Instant::now() + time;
    loop {
        if stop() {
            return Err(Failure::work("interrupted; the plan was undone".to_owned()));
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(Duration::from_millis(50)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raced(name: &str, change_percent: Option<[f64; 3]>) -> RacedService {
        RacedService {
            name: name.into(),
            metric: Some("echo 1".into()),
            limit_percent: 2.0,
            counted: 9,
            change_percent,
        }
    }

    #[test]
    fn plan_is_kept_only_without_possible_loser() {
        let gains = raced("a", Some([8.0, 3.0, 12.0]));
        let same = raced("b", Some([0.1, -1.5, 1.7]));
        let unsure = raced("c", Some([1.0, -4.0, 6.0]));
        assert_eq!(verdict(&[gains.clone(), same.clone()]), RaceVerdict::Kept);
        assert_eq!(verdict(&[same]), RaceVerdict::NoGain);
        let may_lose = RaceVerdict::MayLose { services: vec!["c".into()] };
        assert_eq!(verdict(&[gains.clone(), unsure]), may_lose);
        let unread = RaceVerdict::TooFewRounds { services: vec!["d".into()] };
        assert_eq!(verdict(&[gains.clone(), raced("d", None)]), unread);
        let without = RacedService { metric: None, ..raced("e", None) };
        assert_eq!(verdict(&[gains, without]), RaceVerdict::Kept, "it is named, and not judged");
    }
}
