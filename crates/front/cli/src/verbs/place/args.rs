//! The options of `seatmap place`.

use super::on_cluster::OnCluster;
use clap::{Args, ValueEnum};
use seatmap_console::cpus::{OrAll, RequestedCpus, requested_cpus};
use seatmap_console::values::LevelChoice;
use seatmap_console::{ResultForms, choice, time_within};
use seatmap_data::document::whole_number;
use seatmap_data::machine::CoreKind;
use seatmap_data::plan::Objective;
use seatmap_measure::appraise::BeforePlan;
use seatmap_measure::appraise::rehearsal::ROUNDS;
use seatmap_place::search::SearchTime;
use seatmap_place::{MessageWait, PlaceMethod, SmtUse, Weight};
use std::path::PathBuf;
use std::time::Duration;

/// Options without a meaning for a QAPLIB instance, which has neither machine nor pattern.
const OF_PATTERNS: [&str; 23] = [
    "on",
    "rounds",
    "weight",
    "waiting",
    "spinning",
    "cpus",
    "fix",
    "avoid_smt",
    "use_smt",
    "one_per",
    "widen",
    "memory",
    "sections",
    "homes",
    "output",
    "html",
    "svg",
    "before",
    "load",
    "load_ns",
    "kind",
    "equal_kind",
    "prefer",
];

/// Default sections of a ring or mesh: Liu et al. 2015 cut the Xeon Phi's ring in four.
const SECTIONS: usize = 4;

const GALLERY: &str = "gallery";

#[derive(Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["pattern", "qaplib"]))]
#[command(group = clap::ArgGroup::new("picture").multiple(true).args(["html", "svg"]))]
pub struct PlaceArgs {
    /// The machine with core distances: host, a bundled machine, or a file; or a cluster's file.
    ///
    /// 'gallery' ranks all bundled machines by the pattern's time on each; 'gallery:FOLDER' adds
    /// the profiles of a folder.
    #[arg(long, value_name = "MACHINE", default_value = "host")]
    pub on: String,
    /// The communication pattern: a generator such as stencil2d:8x8 ('seatmap pattern list'), or a
    /// file; '-' is stdin.
    #[arg(long, value_name = "PATTERN")]
    pub pattern: Option<String>,
    /// Solve a QAPLIB instance instead.
    #[arg(long, value_name = "FILE", conflicts_with_all = OF_PATTERNS)]
    pub qaplib: Option<PathBuf>,
    /// The objective of the search [default: time if the tasks' work is known, as for observed
    /// programs; else distance].
    #[arg(long)]
    pub objective: Option<ObjectiveChoice>,
    /// Rounds of all messages, for --objective simulated [default: 4].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rounds: Option<u32>,
    /// The weight of the pattern's edges; --objective time always uses messages [default: bytes].
    #[arg(long, value_name = "WEIGHT")]
    pub weight: Option<WeightChoice>,
    /// Tasks sleep until a message arrives, which costs a wakeup as measured by 'seatmap measure'.
    /// The default for patterns observed by wakeups.
    #[arg(long, conflicts_with = "spinning")]
    pub waiting: bool,
    /// Tasks spin until a message arrives, which costs a core distance. The default for all other
    /// patterns.
    #[arg(long)]
    pub spinning: bool,
    /// The work of each task, in any unit: numbers such as 4,1,1,1, or a file of them. Default: all
    /// equal.
    #[arg(long, value_name = "LIST|FILE")]
    pub load: Option<String>,
    /// The time of a load of 1 on the fastest CPU, for --objective time.
    #[arg(long, value_name = "NS", value_parser = nanoseconds)]
    pub load_ns: Option<f64>,
    /// The CPUs to use, such as 0-3,8 or kind:performance. Default: all of the machine.
    #[arg(long, value_name = "LIST", value_parser = requested_cpus)]
    pub cpus: Option<RequestedCpus>,
    #[command(flatten)]
    pub or_all: OrAll,
    /// Fix a task on a CPU; may be given several times.
    #[arg(long, value_name = "TASK=CPU", value_parser = fix)]
    pub fix: Vec<(usize, u32)>,
    /// At most one task per core: the default if there are enough cores, an error if there are not.
    #[arg(long, conflicts_with = "one_per")]
    pub avoid_smt: bool,
    /// Let tasks share a core if that is closest, even if there are enough cores.
    #[arg(long, conflicts_with_all = ["avoid_smt", "one_per"])]
    pub use_smt: bool,
    /// At most one task per group of this level.
    #[arg(long, value_name = "GROUP")]
    pub one_per: Option<LevelChoice>,
    /// Use only one kind of core of a hybrid processor.
    #[arg(long, value_name = "KIND", conflicts_with = "equal_kind")]
    pub kind: Option<KindChoice>,
    /// Use only CPUs of one kind within 5 % of one speed, the fastest such group, for threads that
    /// meet at barriers.
    #[arg(long)]
    pub equal_kind: bool,
    /// Choose among placements of equal cost (within 1 %) by this.
    #[arg(long, value_name = "WHAT")]
    pub prefer: Option<PreferChoice>,
    /// Widen each seat to the core, cache, node or package of its CPU: the plan's seats are sets of
    /// CPUs.
    #[arg(long, value_name = "GROUP")]
    pub widen: Option<LevelChoice>,
    /// Put each task's memory on the NUMA node of its CPU; 'seatmap run --memory plan' and the
    /// exports apply it.
    #[arg(long)]
    pub memory: bool,
    /// The search method.
    #[arg(long, default_value = "auto")]
    pub method: MethodChoice,
    /// Sections of the ring or mesh, for --method pizza [default: 4].
    #[arg(long, value_name = "K")]
    pub sections: Option<usize>,
    /// Also choose the home of each channel's line, if the profile has homes.
    #[arg(long, alias = "home")]
    pub homes: bool,
    /// The time to search: 500ms, 10s, 2m; a plain number is seconds. A proven answer ends it
    /// sooner.
    #[arg(long, value_name = "TIME", default_value = "1", value_parser = seconds)]
    pub seconds: f64,
    /// Stop after N kicks instead, for the same answer on every computer.
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    pub kicks: Option<u64>,
    /// Parallel searches. Default: one per CPU, and one with --kicks or for QAPLIB.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// The seed of random choices.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write the plan to a file; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Draw the machine with its threads, lines and traffic, before and after, into a file; - is
    /// stdout.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// The placement drawn as "before".
    #[arg(long, value_name = "WHAT", default_value = "os", requires = "picture")]
    pub before: BeforeChoice,
    #[command(flatten)]
    pub forms: ResultForms,
    #[command(flatten)]
    pub on_cluster: OnCluster,
}

impl PlaceArgs {
    /// Rounds of all messages, if runs decide.
    pub fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(ROUNDS)
    }

    /// Whether the gallery's machines are ranked, and the folder of further profiles.
    pub fn gallery(&self) -> Option<Option<&str>> {
        match self.on.split_once(':') {
            Some((GALLERY, folder)) => Some(Some(folder)),
            _ => (self.on == GALLERY).then_some(None),
        }
    }

    /// A given option that applies only to seats on one machine.
    pub fn of_one_seating(&self) -> Option<String> {
        first_given!(
            self;
            // Time ignores bytes.
            weight,
            method = self.has_method(),
            cpus,
            fix,
            prefer,
            widen,
            memory,
            homes,
            output,
            svg,
            before = self.has_before()
        )
    }

    /// Options with a default count as typed if their value differs.
    pub fn has_method(&self) -> bool {
        self.method != MethodChoice::Auto
    }

    /// As [`PlaceArgs::has_method`].
    pub fn has_before(&self) -> bool {
        self.before != BeforeChoice::Os
    }

    /// The search method, with the sections of the ring or mesh for pizza slices.
    pub fn method(&self) -> PlaceMethod {
        match self.method {
            MethodChoice::Auto => PlaceMethod::Auto,
            MethodChoice::Partition => PlaceMethod::Partition,
            MethodChoice::Pizza => PlaceMethod::Pizza(self.sections.unwrap_or(SECTIONS)),
            MethodChoice::Getcore => PlaceMethod::GetCore,
        }
    }

    /// Whether tasks may share a core.
    pub fn smt(&self) -> SmtUse {
        match self.one_per {
            Some(level) => SmtUse::OnePer(level.into()),
            None if self.avoid_smt => SmtUse::Apart,
            None if self.use_smt => SmtUse::Shared,
            None => SmtUse::Auto,
        }
    }

    /// How tasks wait for a message.
    pub fn waiting(&self) -> MessageWait {
        match (self.waiting, self.spinning) {
            (true, _) => MessageWait::Asleep,
            (_, true) => MessageWait::Spinning,
            _ => MessageWait::AsObserved,
        }
    }

    /// How long to search.
    pub fn time(&self) -> SearchTime {
        self.kicks.map_or(SearchTime::Seconds(self.seconds), SearchTime::Kicks)
    }

    /// The number of parallel searches. Their number changes the answer, so it must not depend on
    /// the machine if the answer must be the same everywhere.
    pub fn threads(&self) -> usize {
        let is_alone = self.kicks.is_some() || self.qaplib.is_some();
        match self.threads {
            Some(threads) => usize::from(threads),
            None if is_alone => 1,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// A cluster option, given with a machine.
    pub fn for_clusters(&self) -> Option<String> {
        let option = self.on_cluster.given_option()?;
        Some(format!(
            "{option} needs a cluster: give a file of 'seatmap cluster measure' with --on, or \
             leave {option} out"
        ))
    }

    /// A given option without effect, and its purpose: a machine option with two matrices, or one
    /// without what it needs.
    pub fn unused(&self) -> Option<String> {
        let is_other = self.objective.is_some_and(|one| one != ObjectiveChoice::Distance);
        let of_machine = first_given!(self; objective = is_other, method = self.has_method());
        if let Some(option) = of_machine.filter(|_| self.qaplib.is_some()) {
            return Some(format!(
                "{option} needs a machine, and a QAPLIB instance has none; leave {option} out"
            ));
        }
        // An option without effect is an error, because its user expects one.
        if self.threads.is_some() && self.method == MethodChoice::Getcore {
            let getcore = "--method getcore, which places each task once and does not search";
            return Some(format!("--threads has no effect with {getcore}; leave --threads out"));
        }
        let is_timed = self.objective == Some(ObjectiveChoice::Time);
        if self.weight == Some(WeightChoice::Bytes) && (is_timed || self.waiting) {
            let option = if is_timed { "--objective time" } else { "--waiting" };
            let cost = if is_timed { "round trip" } else { "wakeup" };
            return Some(format!(
                "{option} counts messages, each with its {cost}; leave --weight bytes out"
            ));
        }
        let is_simulated = self.objective == Some(ObjectiveChoice::Simulated);
        let is_sum = self.objective.is_none_or(|objective| {
            matches!(objective, ObjectiveChoice::Distance | ObjectiveChoice::Time)
        });
        // Without an objective the pattern may have the time that a load takes.
        if let Some(unused) =
            self.objective.and_then(|objective| self.unused_loads(objective.into()))
        {
            return Some(unused);
        }
        let is_pizza = self.method == MethodChoice::Pizza;
        let given = [
            ("--waiting", self.waiting && !is_sum, "--objective distance or time"),
            ("--prefer", self.prefer.is_some() && is_simulated, "another objective"),
            ("--rounds", self.rounds.is_some() && !is_simulated, "--objective simulated"),
            ("--sections", self.sections.is_some() && !is_pizza, "--method pizza"),
        ];
        let (option, _, needed) = given.into_iter().find(|(_, is_unused, _)| *is_unused)?;
        Some(changes_nothing(option, needed))
    }

    /// Loads, if the pattern's objective ignores them.
    pub fn unused_loads(&self, objective: Objective) -> Option<String> {
        if objective == Objective::Time {
            return None;
        }
        if self.load_ns.is_some() {
            return Some(changes_nothing("--load-ns", OF_LOAD_TIME));
        }
        let is_unused = self.load.is_some() && self.prefer.is_none();
        is_unused.then(|| changes_nothing("--load", OF_LOADS))
    }
}

const OF_LOAD_TIME: &str = "--objective time";

const OF_LOADS: &str = "--objective time or --prefer big-cache";

fn changes_nothing(option: &str, needed: &str) -> String {
    format!("{option} has no effect without {needed}; add that, or leave {option} out")
}

choice! {
    /// An objective of placements.
    ObjectiveChoice for Objective {
        /// The sum of weight x core distance.
        Distance,
        /// The load of the most loaded link between caches, nodes or packages.
        Congestion,
        /// The time of the pattern's messages on the simulated machine; needs a model.
        Simulated,
        /// The time of the slowest seat: its work at the speed of its CPU, and its messages.
        Time,
    }
}

choice! {
    /// A kind of core of a hybrid processor.
    KindChoice for CoreKind {
        /// The strongest cores.
        Performance,
        /// Those between the strongest and the weakest.
        Middle,
        /// The weakest ordinary cores.
        Efficiency,
        /// Those of the low-power island.
        LowPower,
    }
}

/// How to choose among placements of equal cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PreferChoice {
    /// The tasks with the most cache_bytes, or with the largest loads, on the CPUs with the biggest
    /// L3.
    BigCache,
}

choice! {
    /// The placement drawn before a plan.
    BeforeChoice for BeforePlan {
        /// Tasks on CPUs in the order of their numbers.
        Os = BeforePlan::InOrder,
        /// The random placement with the median cost of 101.
        Random,
    }
}

choice! {
    /// The weight of an edge.
    WeightChoice for Weight {
        /// Its bytes.
        Bytes,
        /// Its messages.
        Messages,
    }
}

/// The search method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MethodChoice {
    /// Exact if that is quick, else a portfolio of starts, each refined.
    Auto,
    /// First across the chips, balanced and with little traffic between them, then inside them
    /// (Sudheer et al. 2009).
    Partition,
    /// Heavy components inside sections of the ring or mesh (Liu et al. 2015).
    Pizza,
    /// Each channel's threads next to the home of its line (Liu et al. 2015).
    Getcore,
}

fn fix(text: &str) -> Result<(usize, u32), String> {
    let parsed = text
        .split_once('=')
        .and_then(|(task, cpu)| Some((whole_number(task)?, whole_number(cpu)?)));
    parsed.ok_or_else(|| format!("'{text}' is not TASK=CPU, such as 0=4"))
}

fn nanoseconds(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|ns| (0.0..=1e15).contains(ns));
    number.ok_or_else(|| format!("'{text}' is not a time in nanoseconds, such as 5000"))
}

fn seconds(text: &str) -> Result<f64, String> {
    let bounds = Duration::ZERO..=Duration::from_secs(1_000_000);
    time_within(text, bounds, "0 to 11d").map(|time| time.as_secs_f64())
}
