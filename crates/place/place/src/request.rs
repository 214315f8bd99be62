//! The request: a pattern to place on a machine.

use crate::search::SearchLimit;
use crate::{Level, PlaceError, Pus};
use seatmap_data::machine::{CoreKind, Profile, Wakeups};
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::Objective;

/// The pattern to place, the machine, and the rules.
#[derive(Clone, Debug)]
pub struct PlaceRequest<'a> {
    /// The machine, with core distances.
    pub profile: &'a Profile,
    /// The traffic between the tasks.
    pub pattern: &'a Pattern,
    /// The objective. [`PlaceRequest::place`] supports `Distance`, `Congestion` and `Time`.
    pub objective: Objective,
    /// The weight of an edge: by default bytes, or messages if each costs a wakeup.
    pub weight: Option<Weight>,
    /// How tasks wait for messages, which decides the cost for `Distance` and `Time`.
    pub waiting: MessageWait,
    /// The usable PUs; by default all with known distances.
    pub cpus: Option<Vec<u32>>,
    /// Use only this kind of core ([`PlaceRequest::settled`]).
    pub kind: Option<CoreKind>,
    /// Use only PUs of one kind and speed ([`PlaceRequest::settled`]).
    pub equal_seats: bool,
    /// Whether tasks may share a core; [`PlaceRequest::settled`] sets `one_per`.
    pub smt: SmtUse,
    /// At most one task on each group of this level.
    pub one_per: Option<Level>,
    /// Fixed tasks, each with its PU.
    pub fixed: Vec<(usize, u32)>,
    /// The method of the search.
    pub method: PlaceMethod,
    /// At equal cost within 1 %, prefer big caches for tasks that need them.
    pub prefers_cache: bool,
    /// Also choose homes of lines for communicating pairs.
    pub homes: bool,
    /// When to stop.
    pub limit: SearchLimit,
    /// The number of parallel searches.
    pub threads: usize,
    /// The seed of the random choices.
    pub seed: u64,
}

/// The weight of an edge in a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Its bytes.
    Bytes,
    /// Its messages.
    Messages,
}

/// How tasks wait for a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageWait {
    /// Asleep if the pattern was observed by wakeups, the machine's wakeups are known, and edges do
    /// not weigh bytes; otherwise spinning.
    #[default]
    AsObserved,
    /// A message costs a wakeup, on one PU or between two.
    Asleep,
    /// A message costs a core distance.
    Spinning,
}

/// Whether tasks may share a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmtUse {
    /// Tasks share cores only if there are too few, unless the objective includes the cost of
    /// sharing.
    #[default]
    Auto,
    /// Tasks may share cores.
    Shared,
    /// No core gets two tasks.
    Apart,
    /// At most one task on each group of a level.
    OnePer(Level),
}

/// The method of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceMethod {
    /// Exact if that is quick, annealing for nested groups and for thousands of PUs, otherwise the
    /// portfolio.
    Auto,
    /// Spreads the tasks evenly over the chips with little traffic between them, then inside each
    /// (Sudheer et al. 2009).
    Partition,
    /// Divides a ring or mesh into this many sections, with each heavy component inside one (the
    /// Pizza Slice of Liu et al. 2015).
    Pizza(usize),
    /// Each channel next to the home of its line (`GetCore`, Algorithm 4 of Liu et al. 2015).
    GetCore,
}

impl<'a> PlaceRequest<'a> {
    /// A request by distance and bytes on all PUs, for one second on one thread; by wakeups if the
    /// pattern was observed by them and the machine's are known.
    pub fn new(profile: &'a Profile, pattern: &'a Pattern) -> Self {
        PlaceRequest {
            profile,
            pattern,
            objective: Objective::Distance,
            weight: None,
            waiting: MessageWait::AsObserved,
            cpus: None,
            kind: None,
            equal_seats: false,
            smt: SmtUse::Auto,
            one_per: None,
            fixed: Vec::new(),
            method: PlaceMethod::Auto,
            prefers_cache: false,
            homes: false,
            limit: SearchLimit::seconds(1.0),
            threads: 1,
            seed: 1,
        }
    }

    /// The placement without a plan: tasks and PUs in numerical order.
    ///
    /// # Errors
    /// The profile has no distances, or none for these PUs.
    pub fn in_order(&self) -> Result<Vec<u32>, PlaceError> {
        let mut os = self.pus()?.os;
        os.sort_unstable();
        Ok(os.into_iter().cycle().take(self.pattern.tasks).collect())
    }

    /// `Time` if the tasks' work is known, because by distance idle tasks get as many seats as busy
    /// ones; otherwise distance.
    pub fn usual_objective(&self) -> Objective {
        // A recording has only the total time.
        let are_loads_known = !self.pattern.loads.is_empty() || self.pattern.observation.is_none();
        let knows_work = self.pattern.load_ns.is_some() && are_loads_known;
        let is_timeable =
            self.method == PlaceMethod::Auto && self.weight != Some(Weight::Bytes) && !self.homes;
        if knows_work && is_timeable { Objective::Time } else { Objective::Distance }
    }

    pub(crate) fn counted_weight(&self) -> Weight {
        if self.objective == Objective::Time || self.counts_wakeups() {
            return Weight::Messages;
        }
        self.weight.unwrap_or(Weight::Bytes)
    }

    pub(crate) fn edges(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let weight = self.counted_weight();
        self.pattern.edges.iter().map(move |edge| {
            let amount = match weight {
                Weight::Messages => edge.messages,
                Weight::Bytes => edge.bytes,
            };
            (edge.from, edge.to, amount)
        })
    }

    /// The usable PUs: one per core for one task per core. Sections use up the only kind of zone,
    /// so with them one task per group means one PU per group.
    pub(crate) fn pus(&self) -> Result<Pus, PlaceError> {
        let all = Pus::new(self.profile, self.cpus.as_deref(), self.homes)?;
        let pus = match self.one_per.filter(|level| *level == Level::Core || self.has_sections()) {
            Some(level) => self.one_pu_a_group(level, all)?,
            None => all,
        };
        Ok(self.costed(pus))
    }

    pub(crate) fn costed(&self, pus: Pus) -> Pus {
        if self.counts_wakeups() { pus.woken(self.profile) } else { pus }
    }

    /// Whether a message costs a wakeup: links carry bytes, simulated programs spin, and homes
    /// belong to lines.
    pub fn counts_wakeups(&self) -> bool {
        let is_sum = matches!(self.objective, Objective::Distance | Objective::Time);
        let are_asleep = match self.waiting {
            MessageWait::AsObserved => self.pattern.waits() && self.weight != Some(Weight::Bytes),
            MessageWait::Asleep => true,
            MessageWait::Spinning => false,
        };
        are_asleep && is_sum && !self.homes && knows_wakeups(self.profile)
    }

    pub(crate) fn has_sections(&self) -> bool {
        matches!(self.method, PlaceMethod::Partition | PlaceMethod::Pizza(_))
    }
}

/// Whether the costs of a wakeup on one CPU and between two are known.
pub fn knows_wakeups(profile: &Profile) -> bool {
    profile.wakeups.as_ref().is_some_and(Wakeups::tell_one_from_two)
}
