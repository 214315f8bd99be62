//! The request: a pattern to be placed on a machine.

use crate::search::SearchLimit;
use crate::{Level, PlaceError, Pus};
use seatmap_data::machine::{CoreKind, Profile, Wakeups};
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::Objective;

/// A request: where should the tasks of a pattern sit on a machine?
#[derive(Clone, Debug)]
pub struct PlaceRequest<'a> {
    /// The machine, with core distances.
    pub profile: &'a Profile,
    /// The traffic between the tasks.
    pub pattern: &'a Pattern,
    /// The objective that judges a placement: `Distance`, `Congestion` or `Time`.
    pub objective: Objective,
    /// The quantity that an edge weighs. By default its bytes, and its messages where these cost a
    /// wakeup each.
    pub weight: Option<Weight>,
    /// How tasks wait for a message, which decides what it costs for `Distance` and `Time`.
    pub waiting: MessageWait,
    /// The PUs that may be used, by OS index; all with known distances by default.
    pub cpus: Option<Vec<u32>>,
    /// Use only PUs of this kind of core; [`PlaceRequest::settled`] sees to it.
    pub kind: Option<CoreKind>,
    /// Use only PUs of one kind and nearly one speed; [`PlaceRequest::settled`] sees to it.
    pub equal_seats: bool,
    /// Whether tasks may share a core; [`PlaceRequest::settled`] makes `one_per` of it.
    pub smt: SmtUse,
    /// At most one task on each group of this level.
    pub one_per: Option<Level>,
    /// Tasks that must sit on a PU.
    pub fixed: Vec<(usize, u32)>,
    /// The method of the search.
    pub method: PlaceMethod,
    /// Among placements that cost the same within 1 %, prefer big caches for the tasks that need
    /// them.
    pub prefers_cache: bool,
    /// Choose for each communicating pair the home of its line too.
    pub homes: bool,
    /// When to stop.
    pub limit: SearchLimit,
    /// Searches side by side.
    pub threads: usize,
    /// Where random choices start.
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
    /// As they were observed: asleep where the pattern was observed by wakeups, the machine's are
    /// known, and edges do not weigh bytes; else spinning.
    #[default]
    AsObserved,
    /// Asleep: a message costs a wakeup, on one PU or across.
    Asleep,
    /// Spinning: a message costs a core distance.
    Spinning,
}

/// Whether tasks may share a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmtUse {
    /// Not while there is a core for each task, unless the objective knows what sharing costs.
    #[default]
    Auto,
    /// Yes, where that is nearest.
    Shared,
    /// No.
    Apart,
    /// At most one task on each group of a level.
    OnePer(Level),
}

/// The method of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceMethod {
    /// Exact where that is quick, else the portfolio; multilevel for thousands of tasks.
    Auto,
    /// First the tasks over the chips, evenly, with little crossing; then inside them (Sudheer et
    /// al. 2009).
    Partition,
    /// This many sections of a ring or mesh, each heavy component inside one (the Pizza Slice of
    /// Liu et al. 2015).
    Pizza(usize),
    /// Channel by channel next to the home of its line (`GetCore`, Algorithm 4 of Liu et al. 2015).
    GetCore,
}

impl<'a> PlaceRequest<'a> {
    /// By distance and bytes on all PUs, for a second, on one thread. By wakeups where the pattern
    /// was observed by them and the machine's are known.
    #[must_use]
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

    /// The PU of each task without a plan: in the order of the tasks, on PUs in the order of their
    /// numbers.
    ///
    /// # Errors
    /// The profile has no distances, or none for these PUs.
    pub fn in_order(&self) -> Result<Vec<u32>, PlaceError> {
        let mut os = self.pus()?.os;
        os.sort_unstable();
        Ok(os.into_iter().cycle().take(self.pattern.tasks).collect())
    }

    /// The objective where nobody names one: the time of the slowest seat where it is known how
    /// long the tasks work, since distances alone give idle tasks as many seats as busy ones; else
    /// distance.
    #[must_use]
    pub fn usual_objective(&self) -> Objective {
        // A recording has the time and not the tasks' parts of it.
        let are_loads_known = !self.pattern.loads.is_empty() || self.pattern.observation.is_none();
        let knows_work = self.pattern.load_ns.is_some() && are_loads_known;
        let is_timeable =
            self.method == PlaceMethod::Auto && self.weight != Some(Weight::Bytes) && !self.homes;
        if knows_work && is_timeable { Objective::Time } else { Objective::Distance }
    }

    /// The weight that counts in the end.
    pub(crate) fn counted_weight(&self) -> Weight {
        // A time adds up round trips, one for each message.
        if self.objective == Objective::Time || self.counts_wakeups() {
            return Weight::Messages;
        }
        self.weight.unwrap_or(Weight::Bytes)
    }

    /// The weighted directed edges.
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

    /// The PUs that may be used, with their distances. One task a core means one PU of each.
    /// Sections bound the tasks of a zone, and there is one sort of zone: with them, one task a
    /// group means one PU of it too.
    pub(crate) fn pus(&self) -> Result<Pus, PlaceError> {
        let all = Pus::new(self.profile, self.cpus.as_deref(), self.homes)?;
        let pus = match self.one_per.filter(|level| *level == Level::Core || self.has_sections()) {
            Some(level) => self.one_pu_a_group(level, all)?,
            None => all,
        };
        Ok(self.costed(pus))
    }

    /// PUs with the costs that messages have for this request.
    pub(crate) fn costed(&self, pus: Pus) -> Pus {
        if self.counts_wakeups() { pus.woken(self.profile) } else { pus }
    }

    /// Whether a message costs a wakeup: links carry bytes, simulated programs spin, and homes
    /// belong to lines.
    #[must_use]
    pub fn counts_wakeups(&self) -> bool {
        let is_sum = matches!(self.objective, Objective::Distance | Objective::Time);
        let are_asleep = match self.waiting {
            MessageWait::AsObserved => self.pattern.waits() && self.weight != Some(Weight::Bytes),
            MessageWait::Asleep => true,
            MessageWait::Spinning => false,
        };
        are_asleep && is_sum && !self.homes && knows_wakeups(self.profile)
    }

    /// Whether tasks are spread over sections before anything else.
    pub(crate) fn has_sections(&self) -> bool {
        matches!(self.method, PlaceMethod::Partition | PlaceMethod::Pizza(_))
    }
}

/// Whether it is known what a wakeup costs on one CPU, and between two.
#[must_use]
pub fn knows_wakeups(profile: &Profile) -> bool {
    profile.wakeups.as_ref().is_some_and(Wakeups::tell_one_from_two)
}
