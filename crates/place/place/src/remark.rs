//! Facts about a placement that its cost does not show.

use crate::search::SearchTime;
use crate::smt::OTHER_WAY_PART;
use crate::{
    CoreSharing, Links, MessageWait, PlaceError, PlaceRequest, PlacementResult, PlainSettings, Pus,
    Slowest, Weight,
};
use seatmap_data::machine::{CoreKind, Nearness, PairStatus};
use seatmap_data::plan::{Agreement, Objective, Plan};
use std::collections::HashSet;

/// Links busier by this factor than without a plan get a remark.
const CLEARLY_MORE: f64 = 1.1;

/// A fact that the user should know besides the cost.
#[derive(Clone, Debug, PartialEq)]
pub enum PlacementRemark {
    /// Tasks sleep, but the cost of wakeups is unknown, so core distances replace it.
    WakeupsUnknown,
    /// Tasks sleep until a message comes, at these costs.
    Wakeups {
        /// The median round trip of two wakeups in nanoseconds, by nearness.
        round_trips_ns: Vec<(Nearness, f64)>,
        /// Whether the objective forces a CPU for each task.
        have_cpu_each: bool,
    },
    /// The seat that a barrier would wait for.
    SlowestSeat {
        /// The seat.
        seat: Slowest,
        /// The kind of its core, on a hybrid processor.
        kind: Option<CoreKind>,
        /// Whether the speeds of the CPUs were measured.
        are_speeds_known: bool,
    },
    /// Equal seats were requested, but some CPUs' kind and speed are unknown.
    EqualityUnknown {
        /// CPUs without known kind and speed.
        unknown: usize,
        /// CPUs that could be seats.
        cpus: usize,
    },
    /// The weight between chips or sections.
    Crossing {
        /// The weight between them.
        crossing: f64,
        /// The weight of all edges.
        all: f64,
    },
    /// This many channels have no candidate line.
    ChannelsWithoutLine(usize),
    /// There are fewer cores than tasks.
    TooFewCores {
        /// Cores with two or more tasks.
        shared: usize,
        /// The smallest possible number of them.
        least: usize,
        /// Number of tasks.
        tasks: usize,
        /// Number of usable cores.
        cores: usize,
    },
    /// Each task has its own core.
    CoreEach {
        /// The costs with a core each and with shared cores, if searched.
        beside_shared: Option<[f64; 2]>,
    },
    /// Tasks may share cores, although there are enough.
    CoresMayBeShared {
        /// Cores with two or more tasks.
        shared: usize,
        /// The costs with shared cores and with a core each, if searched.
        beside_apart: Option<[f64; 2]>,
    },
    /// Packages and NUMA nodes, by OS number, with unused memory and caches.
    Empty {
        /// Packages.
        packages: Vec<u32>,
        /// NUMA nodes of other packages.
        nodes: Vec<u32>,
        /// Whether each has its own memory, according to the topology.
        have_memory: bool,
    },
    /// A hypervisor ran two seats alternately on one CPU during the measurement.
    Stacked {
        /// The first such pair of CPUs.
        cpus: [u32; 2],
        /// The number of such pairs.
        pairs: usize,
    },
    /// A usual order costs no more.
    AsGoodAs(PlainSettings),
    /// How well cheaper objectives rank the placements.
    Agreement(Agreement),
    /// The most loaded link between groups of CPUs.
    LoadedLink {
        /// Its name.
        link: String,
        /// The amount, in units of `weight`.
        load: f64,
        /// The unit of the amount.
        weight: Weight,
    },
    /// The busiest link carries clearly more than without a plan, which the objective `distance`
    /// ignores.
    BusierLink {
        /// Its name.
        link: String,
        /// The bytes through it.
        bytes: f64,
        /// The busiest link's bytes with tasks in the OS's order.
        in_order_bytes: f64,
        /// An objective that includes link loads.
        remedy: LinkObjective,
    },
}

/// The objective that includes link loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkObjective {
    /// `congestion`: the profile has links.
    Congestion,
    /// `simulated`: a model runs the messages on its links.
    Simulated,
    /// No objective knows this machine's links.
    Unknown,
}

impl PlacementRemark {
    /// A remark on the busiest links in the OS's order and as planned, if the latter is clearly
    /// busier.
    ///
    /// # Errors
    /// [`PlaceError`]: the request's CPUs have no distances.
    pub fn busier_link(
        request: &PlaceRequest,
        in_order: &(String, f64),
        planned: (String, f64),
        has_model: bool,
    ) -> Result<Option<Self>, PlaceError> {
        if planned.1 <= in_order.1 * CLEARLY_MORE {
            return Ok(None);
        }
        let pus = Pus::new(request.profile, request.cpus.as_deref(), request.homes)?;
        let remedy = match (Links::new(request.profile, &pus).is_empty(), has_model) {
            (false, _) => LinkObjective::Congestion,
            (true, true) => LinkObjective::Simulated,
            (true, false) => LinkObjective::Unknown,
        };
        let (link, bytes) = planned;
        Ok(Some(PlacementRemark::BusierLink { link, bytes, in_order_bytes: in_order.1, remedy }))
    }
}

impl PlaceRequest<'_> {
    fn have_memory(&self, packages: &[u32], nodes: &[u32]) -> bool {
        let pus = &self.profile.topology.pus;
        // A PU whose node has no memory names another node.
        let mut of_nodes =
            pus.iter().filter(|pu| pu.numa.is_some_and(|node| nodes.contains(&node)));
        of_nodes.all(|pu| pu.memory.is_none())
            && packages.iter().all(|package| {
                let mut own = pus.iter().filter(|pu| pu.package == Some(*package));
                own.any(|pu| pu.memory.is_none())
            })
    }

    /// The remarks on an answer, in reading order. Searching with the other use of SMT takes a part
    /// of `time`.
    ///
    /// # Errors
    /// [`PlaceError`], as for the request itself.
    pub fn remarks(
        &self,
        answer: &PlacementResult,
        plan: &Plan,
        time: SearchTime,
    ) -> Result<Vec<PlacementRemark>, PlaceError> {
        let mut remarks = Vec::new();
        remarks.extend(self.unknown_equality());
        remarks.extend(self.wakeups());
        if self.objective == Objective::Time {
            let seat = self.slowest(&answer.placement)?;
            remarks.push(PlacementRemark::SlowestSeat {
                kind: self.profile.topology.pu(seat.os).and_then(|pu| pu.kind),
                are_speeds_known: self.profile.speed.is_some(),
                seat,
            });
        }
        let crossing = answer.crossing;
        remarks.extend(crossing.map(|(crossing, all)| PlacementRemark::Crossing { crossing, all }));
        let without = answer.channels.iter().filter(|channel| channel.line.is_none()).count();
        // Without any line, the machine has no candidates.
        if without > 0 && without < answer.channels.len() {
            remarks.push(PlacementRemark::ChannelsWithoutLine(without));
        }
        if let Some(sharing) = self.sharing(&answer.placement) {
            remarks.extend(self.cores(answer, &sharing, time)?);
            if !(sharing.empty_packages.is_empty() && sharing.empty_nodes.is_empty()) {
                let packages = sharing.empty_packages;
                remarks.push(PlacementRemark::Empty {
                    have_memory: self.have_memory(&packages, &sharing.empty_nodes),
                    packages,
                    nodes: sharing.empty_nodes,
                });
            }
        }
        remarks.extend(self.stacked(plan));
        remarks.extend(self.plain(answer)?.map(PlacementRemark::AsGoodAs));
        remarks.extend(answer.agreement.map(PlacementRemark::Agreement));
        let busiest = answer.busiest_link.clone();
        let weight = self.counted_weight();
        remarks.extend(busiest.map(|(link, load)| PlacementRemark::LoadedLink {
            link,
            load,
            weight,
        }));
        Ok(remarks)
    }

    fn wakeups(&self) -> Option<PlacementRemark> {
        if !self.counts_wakeups() {
            // Congestion counts bytes, and simulations their own waits.
            let is_sum = matches!(self.objective, Objective::Distance | Objective::Time);
            let is_unknown = is_sum
                && self.pattern.waits()
                && self.waiting != MessageWait::Spinning
                && self.profile.wakeups.is_none();
            return is_unknown.then_some(PlacementRemark::WakeupsUnknown);
        }
        let topology = &self.profile.topology;
        let classes = self.profile.wakeups.as_ref()?.classes(topology);
        Some(PlacementRemark::Wakeups {
            round_trips_ns: classes
                .iter()
                .map(|class| (class.sharing, class.median_ns()))
                .collect(),
            have_cpu_each: self.objective == Objective::Distance
                && self.pattern.tasks <= topology.pus.len(),
        })
    }

    fn cores(
        &self,
        answer: &PlacementResult,
        sharing: &CoreSharing,
        time: SearchTime,
    ) -> Result<Option<PlacementRemark>, PlaceError> {
        let tasks = self.pattern.tasks;
        let cores = sharing.cores;
        let shared = sharing.shared_cores;
        if tasks > cores {
            let least = self.least_shared(tasks - cores, cores);
            return Ok(Some(PlacementRemark::TooFewCores { shared, least, tasks, cores }));
        }
        if self.smt_cores().is_none() {
            return Ok(None);
        }
        let is_one_each = self.one_per.is_some();
        // If no core is shared, a core each is the same placement.
        let is_looked_at = self.has_other_way() && (is_one_each || shared > 0);
        let other = if is_looked_at {
            Some([answer.cost, self.other_way(time.part(OTHER_WAY_PART))?.cost])
        } else {
            None
        };
        Ok(Some(if is_one_each {
            PlacementRemark::CoreEach { beside_shared: other }
        } else {
            PlacementRemark::CoresMayBeShared { shared, beside_apart: other }
        }))
    }

    fn least_shared(&self, beyond: usize, cores: usize) -> usize {
        let allowed = self.allowed().unwrap_or_default();
        let mut threads: Vec<usize> = self.on_cores(&allowed).into_values().collect();
        threads.sort_unstable_by(|a, b| b.cmp(a));
        least_sharing(&threads, cores + beyond)
    }

    fn unknown_equality(&self) -> Option<PlacementRemark> {
        if !self.equal_seats {
            return None;
        }
        let cpus = self.allowed()?;
        let unknown = cpus.iter().filter(|os| self.is_of_unknown_speed(**os)).count();
        (unknown > 0).then_some(PlacementRemark::EqualityUnknown { unknown, cpus: cpus.len() })
    }

    /// Stacked CPUs have a hypervisor's time slice as distance; their tasks never run at once.
    fn stacked(&self, plan: &Plan) -> Option<PlacementRemark> {
        let distance = self.profile.core_distance.as_ref()?;
        let in_use: HashSet<u32> = plan.pus_in_use().into_iter().collect();
        let pairs: Vec<[u32; 2]> = distance
            .status
            .pairs()
            .filter(|(_, _, status)| **status == Some(PairStatus::Stacked))
            .map(|(i, j, _)| [distance.pus[i], distance.pus[j]])
            .filter(|cpus| cpus.iter().all(|cpu| in_use.contains(cpu)))
            .collect();
        Some(PlacementRemark::Stacked { cpus: *pairs.first()?, pairs: pairs.len() })
    }
}

/// The fewest cores with several tasks, given each core's hardware threads, most first.
fn least_sharing(threads: &[usize], tasks: usize) -> usize {
    let all: usize = threads.iter().sum();
    let mut rest = tasks.saturating_sub(threads.len());
    if tasks > all {
        // Extra tasks first fill cores with several threads.
        let several: Vec<usize> = threads.iter().copied().filter(|threads| *threads > 1).collect();
        let others = (tasks - all).saturating_sub(several.iter().sum());
        return (several.len() + others).min(threads.len());
    }
    for (shared, threads) in threads.iter().enumerate() {
        if rest == 0 {
            return shared;
        }
        rest = rest.saturating_sub(threads - 1);
    }
    threads.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::request;
    use crate::search::SearchLimit;
    use crate::{Level, SmtUse};

    const BRIEFLY: SearchTime = SearchTime::Kicks(50);

    fn remarks_on(pattern: &str, change: impl Fn(&mut PlaceRequest)) -> Vec<PlacementRemark> {
        let mut request = request("xeon-e5-2680-2s", pattern);
        change(&mut request);
        let mut request = request.settled().unwrap();
        request.limit = SearchLimit::kicks(50);
        let answer = request.place().unwrap();
        request.remarks(&answer, &request.plan(&answer), BRIEFLY).unwrap()
    }

    #[test]
    fn smt_remark_compares_both_uses_of_cores() {
        let apart = remarks_on("ring:4", |_| {});
        let shared = remarks_on("ring:4", |request| request.smt = SmtUse::Shared);
        let costs = |remark: &PlacementRemark| match remark {
            PlacementRemark::CoreEach { beside_shared } => *beside_shared,
            PlacementRemark::CoresMayBeShared { beside_apart, .. } => *beside_apart,
            _ => None,
        };
        let [own, other] = apart.iter().find_map(costs).unwrap();
        assert!(other < own, "hardware threads of a core are nearest: {apart:?}");
        assert_eq!(shared.iter().find_map(costs), Some([other, own]));
        let named = remarks_on("ring:4", |request| request.smt = SmtUse::OnePer(Level::Core));
        assert!(named.contains(&PlacementRemark::CoreEach { beside_shared: None }), "{named:?}");
    }

    #[test]
    fn remarks_report_core_shortage_and_empty_packages() {
        let many = remarks_on("ring:20", |_| {});
        let is_short = |remark: &PlacementRemark| {
            matches!(remark, PlacementRemark::TooFewCores { least: 4, tasks: 20, cores: 16, .. })
        };
        assert!(many.iter().any(is_short), "{many:?}");
        let few = remarks_on("ring:4", |_| {});
        let is_empty = |remark: &PlacementRemark| {
            matches!(
                remark,
                PlacementRemark::Empty { packages, nodes, have_memory: true }
                    if packages.len() == 1 && nodes.is_empty()
            )
        };
        assert!(few.iter().any(is_empty), "{few:?}");
    }

    #[test]
    fn least_sharing_counts_unavoidably_shared_cores() {
        assert_eq!(least_sharing(&[2, 2, 2, 2], 6), 2);
        assert_eq!(least_sharing(&[2, 2, 2, 2], 8), 4);
        assert_eq!(least_sharing(&[1, 1], 3), 1, "one of the two cores has one task");
        assert_eq!(least_sharing(&[1, 1], 4), 2);
        assert_eq!(least_sharing(&[2, 1, 1], 6), 1, "the first core takes four");
        assert_eq!(least_sharing(&[2, 1, 1], 7), 2);
        assert_eq!(least_sharing(&[2, 1, 1], 900), 3);
    }

    fn link(bytes: f64) -> (String, f64) {
        ("package 0".to_owned(), bytes)
    }

    #[test]
    fn link_remark_needs_more_than_ten_percent() {
        let request = request("xeon-e5-2680-2s", "ring:4");
        let remark = |in_order: f64, planned: f64| {
            PlacementRemark::busier_link(&request, &link(in_order), link(planned), false).unwrap()
        };
        assert_eq!(remark(100.0, 110.0), None);
        assert_eq!(
            remark(100.0, 111.0),
            Some(PlacementRemark::BusierLink {
                link: "package 0".to_owned(),
                bytes: 111.0,
                in_order_bytes: 100.0,
                remedy: LinkObjective::Congestion
            })
        );
    }
}
