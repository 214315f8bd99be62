//! Whether tasks share cores.
//!
//! Distances, which are shortest on one core, do not show how much hardware threads slow each other
//! down.

use crate::request::{MessageWait, SmtUse};
use crate::{
    Level, PlaceError, PlaceMethod, PlaceRequest, PlacementResult, knows_wakeups, search, unfit,
};
use seatmap_data::plan::Objective;

/// The other use of SMT takes 1/`OTHER_WAY_PART` of the time or kicks.
pub const OTHER_WAY_PART: u32 = 5;

impl PlaceRequest<'_> {
    /// Applies the requested kind, and decides which groups take one task each.
    ///
    /// # Errors
    /// [`PlaceError`]: the machine has no such PUs, or the tasks sleep and the cost of wakeups is
    /// unknown.
    pub fn settled(mut self) -> Result<Self, PlaceError> {
        if self.waiting == MessageWait::Asleep && !knows_wakeups(self.profile) {
            return unfit(format!(
                "--waiting needs the cost of wakeups, and {} has none; measure it with 'seatmap \
                 measure' on that computer",
                self.profile.name
            ));
        }
        if let Some(kind) = self.kind {
            self.only(kind)?;
        }
        let have_cores = self.equal_seats && self.only_equal()?;
        self.one_per = self.one_per_group(have_cores);
        Ok(self)
    }

    fn one_per_group(&self, have_cores: bool) -> Option<Level> {
        match self.smt {
            SmtUse::OnePer(level) => Some(level),
            SmtUse::Apart => Some(Level::Core),
            SmtUse::Shared => None,
            // A time includes the cost of sharing, so it needs no rule, unless equal seats with a
            // core each were promised.
            SmtUse::Auto if self.objective == Objective::Time => {
                (have_cores && self.smt_cores().is_some()).then_some(Level::Core)
            }
            SmtUse::Auto => {
                (self.has_core_each() && !self.fixes_share_a_core()).then_some(Level::Core)
            }
        }
    }

    fn has_core_each(&self) -> bool {
        self.smt_cores().is_some_and(|cores| self.pattern.tasks <= cores)
    }

    /// Whether both uses of SMT are possible, and the user named no level.
    pub fn has_other_way(&self) -> bool {
        // Simulations would need more runs, and these methods do not support it.
        let is_sum = self.objective != Objective::Simulated && self.method == PlaceMethod::Auto;
        let is_named = matches!(self.smt, SmtUse::OnePer(_));
        is_sum && !is_named && self.has_core_each() && !self.fixes_share_a_core()
    }

    /// The answer with the other use of SMT.
    ///
    /// # Errors
    /// [`PlaceError`], as for the request itself.
    pub fn other_way(&self, limit: search::SearchLimit) -> Result<PlacementResult, PlaceError> {
        let one_per = if self.one_per.is_some() { None } else { Some(Level::Core) };
        let limit = limit.unless(self.limit.stop.clone());
        PlaceRequest { one_per, limit, ..self.clone() }.place()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::request;
    use seatmap_data::machine::CoreKind;

    /// Two packages of 8 cores with two hardware threads each.
    fn settled(tasks: usize, change: impl Fn(&mut PlaceRequest)) -> (Option<Level>, bool) {
        let mut request = request("xeon-e5-2680-2s", &format!("ring:{tasks}"));
        change(&mut request);
        let request = request.settled().unwrap();
        (request.one_per, request.has_other_way())
    }

    #[test]
    fn default_smt_use_gives_each_task_its_core() {
        assert_eq!(settled(16, |_| {}), (Some(Level::Core), true));
        assert_eq!(settled(17, |_| {}), (None, false));
        assert_eq!(settled(16, |request| request.smt = SmtUse::Shared), (None, true));
        assert_eq!(settled(17, |request| request.smt = SmtUse::Apart), (Some(Level::Core), false));
        assert_eq!(
            settled(2, |request| request.smt = SmtUse::OnePer(Level::Package)),
            (Some(Level::Package), false),
            "a level that was named leaves nothing to look at"
        );
        assert_eq!(
            settled(4, |request| request.fixed = vec![(0, 3), (1, 19)]),
            (None, false),
            "fixed on one core"
        );
    }

    #[test]
    fn time_objective_shares_cores_unless_seats_are_equal() {
        assert_eq!(settled(4, |request| request.objective = Objective::Time), (None, true));
        assert_eq!(
            settled(4, |request: &mut PlaceRequest| {
                request.objective = Objective::Time;
                request.equal_seats = true;
            }),
            (Some(Level::Core), true)
        );
    }

    #[test]
    fn settled_request_rejects_unmeasured_wakeups_and_missing_kind() {
        let mut request = request("graviton3", "ring:4");
        request.waiting = MessageWait::Asleep;
        let error = request.clone().settled().unwrap_err().to_string();
        assert!(error.starts_with("--waiting needs") && error.contains("graviton3"), "{error}");
        request.waiting = MessageWait::AsObserved;
        request.kind = Some(CoreKind::Efficiency);
        let error = request.settled().unwrap_err().to_string();
        assert!(error.starts_with("--kind efficiency: the topology of graviton3"), "{error}");
    }
}
