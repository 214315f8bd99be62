//! The queue, which decides who gets which CPUs, and when: a state machine without a clock, a host
//! or a socket.
//!
//! Waiting requests are asked in the order of the policy. A request that fits starts. One that does
//! not fit *reserves* the free CPUs it needs (those of its list, or all where it asks for a
//! number), so that smaller requests behind it cannot starve it. Requests behind it can use the
//! other free CPUs. One CPU always stays for the rest of the system.
//!
//! **Turns.** Tickets that take turns are gangs: all threads of a cell run, or none (Ousterhout
//! 1982, "Scheduling techniques for concurrent systems"). One whose time slice has ended is
//! suspended if that lets a waiting ticket start. It waits then as if it had just come, for the
//! same CPUs: its threads are pinned to them.

use crate::policy::{AGEING_MS, Policy};
use crate::ticket::Ticket;
use crate::usage::UserUsage;
use crate::wants::Wants;
use seatmap_data::invariant;
use seatmap_os::CpuSet;
use std::collections::{BTreeMap, BTreeSet};

/// An action to carry out now; actions are in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Take the CPUs away from this one, whose turn is over.
    Suspend(u64),
    /// Give this one these CPUs, for the first time or again.
    Start(u64, CpuSet),
}

/// Picks this number of these CPUs.
pub type Choose<'a> = dyn Fn(&CpuSet, usize) -> Option<CpuSet> + 'a;

#[derive(Clone, Debug)]
struct Waiting {
    ticket: Ticket,
    since_ms: u64,
}

#[derive(Clone, Debug)]
struct Holding {
    ticket: Ticket,
    cpus: CpuSet,
    since_ms: u64,
}

/// The name of this part in a report of a mistake.
const QUEUE: &str = "queue of the controller";

/// The tickets that wait, those that hold CPUs, and the account of users.
#[derive(Clone, Debug)]
pub struct TicketQueue {
    policy: Policy,
    slice_ms: u64,
    waiting: Vec<Waiting>,
    holding: Vec<Holding>,
    usage: UserUsage,
}

impl TicketQueue {
    /// An empty queue. Turns last for `slice_ms`; `usage` is the users' earlier usage.
    #[must_use]
    pub fn new(policy: Policy, slice_ms: u64, usage: UserUsage) -> Self {
        TicketQueue { policy, slice_ms, waiting: Vec::new(), holding: Vec::new(), usage }
    }

    /// Adds a ticket, which waits.
    pub fn submit(&mut self, now_ms: u64, ticket: Ticket) {
        self.waiting.push(Waiting { ticket, since_ms: now_ms });
        self.check();
    }

    /// Adds a ticket that is found to hold these CPUs since the account was last settled: no other
    /// could have them.
    pub fn adopt(&mut self, now_ms: u64, ticket: Ticket, cpus: CpuSet) {
        self.holding.push(Holding { ticket, cpus, since_ms: now_ms });
        self.check();
    }

    /// Removes a ticket, whether it waits or holds CPUs.
    pub fn leave(&mut self, now_ms: u64, id: u64) {
        self.settle(now_ms);
        self.waiting.retain(|waiting| waiting.ticket.id != id);
        self.holding.retain(|holding| holding.ticket.id != id);
    }

    /// Charges users for the CPU time that they have had until now.
    pub fn settle(&mut self, now_ms: u64) {
        let cpus = self.cpus_of();
        self.usage.pass(now_ms, &cpus);
    }

    /// How many are asked before this one, and how many wait; `None` where it does not wait.
    #[must_use]
    pub fn place(&self, id: u64) -> Option<(usize, usize)> {
        let mut waiting: Vec<&Waiting> = self.waiting.iter().collect();
        waiting.sort_by(|a, b| {
            self.rank(a).partial_cmp(&self.rank(b)).unwrap_or(std::cmp::Ordering::Equal)
        });
        Some((waiting.iter().position(|waiting| waiting.ticket.id == id)?, waiting.len()))
    }

    /// The number of a user's tickets that wait.
    #[must_use]
    pub fn waiting_of(&self, uid: u32) -> usize {
        self.waiting.iter().filter(|waiting| waiting.ticket.uid == uid).count()
    }

    /// The CPUs that tickets hold.
    #[must_use]
    pub fn held(&self) -> CpuSet {
        self.holding.iter().fold(CpuSet::default(), |held, holding| held.with(&holding.cpus))
    }

    /// The users' recent usage, at the time of the last decision.
    #[must_use]
    pub fn usage(&self) -> &UserUsage {
        &self.usage
    }

    /// Decides which tickets start now and which are suspended. `pool` is all CPUs that are neither
    /// offline nor held by another program.
    pub fn step(&mut self, now_ms: u64, pool: &CpuSet, choose: &Choose<'_>) -> Vec<Action> {
        self.settle(now_ms);
        let mut actions = Vec::new();
        let mut reserved = CpuSet::default();
        let mut open = std::mem::take(&mut self.waiting);
        let mut still = Vec::new();
        let mut suspended = Vec::new();
        while let Some(next) = self.first(&mut open) {
            match self.seat(&next.ticket.wants, now_ms, pool, &reserved, choose) {
                Some((leaving, cpus)) => {
                    actions.extend(leaving.iter().map(|id| Action::Suspend(*id)));
                    suspended.extend(leaving.into_iter().filter_map(|id| self.suspend(now_ms, id)));
                    actions.push(Action::Start(next.ticket.id, cpus.clone()));
                    self.holding.push(Holding { ticket: next.ticket, cpus, since_ms: now_ms });
                }
                None => {
                    reserved = reserved.with(&next.ticket.wants.of(pool));
                    still.push(next);
                }
            }
        }
        // Only now: a ticket whose turn is over must not start again in the step that suspended it.
        still.extend(suspended);
        self.waiting = still;
        self.check();
        actions
    }

    /// Takes out the ticket that is asked first; it does not wait any longer.
    fn first(&self, open: &mut Vec<Waiting>) -> Option<Waiting> {
        let (at, _) = open.iter().enumerate().min_by(|a, b| {
            self.rank(a.1).partial_cmp(&self.rank(b.1)).unwrap_or(std::cmp::Ordering::Equal)
        })?;
        Some(open.remove(at))
    }

    /// The smallest goes first. Waiting counts under every policy, or a user's second request could
    /// starve behind the first: a step of priority is worth a fixed time of it, and so is a CPU-ms
    /// of usage.
    fn rank(&self, waiting: &Waiting) -> (f64, usize, u64, u64) {
        let ticket = &waiting.ticket;
        let since = waiting.since_ms;
        let uid = ticket.uid;
        let (ahead_ms, holds) = match self.policy {
            Policy::Fifo => (0.0, 0),
            Policy::Priority => (-f64::from(ticket.priority) * AGEING_MS as f64, 0),
            Policy::Fair => (self.usage.of(uid), self.cpus_of().get(&uid).copied().unwrap_or(0)),
        };
        (since as f64 + ahead_ms, holds, since, ticket.id)
    }

    /// The CPUs that meet a wish now, and the tickets that must be suspended for it.
    fn seat(
        &self,
        wants: &Wants,
        now_ms: u64,
        pool: &CpuSet,
        reserved: &CpuSet,
        choose: &Choose<'_>,
    ) -> Option<(Vec<u64>, CpuSet)> {
        let mut free = pool.without(&self.held());
        let mut leaving = Vec::new();
        let mut over: Vec<&Holding> = self
            .holding
            .iter()
            // One whose CPUs are all reserved frees none for this wish.
            .filter(|holding| self.is_over(holding, now_ms) && !holding.cpus.is_subset(reserved))
            .collect();
        // Tickets that have the wanted CPUs come first; the others help only by leaving a CPU that
        // stays.
        over.sort_by_key(|holding| {
            let helps_little = wants.of(&holding.cpus).is_empty();
            std::cmp::Reverse((helps_little, holding.since_ms, holding.ticket.id))
        });
        loop {
            if let Some(cpus) = meet(wants, &free, reserved, choose) {
                return Some((leaving, cpus));
            }
            // The last one helps most, and among those that help it has had its turn longest.
            let holding = over.pop()?;
            free = free.with(&holding.cpus.within(pool));
            leaving.push(holding.ticket.id);
        }
    }

    fn is_over(&self, holding: &Holding, now_ms: u64) -> bool {
        holding.ticket.takes_turns && now_ms.saturating_sub(holding.since_ms) >= self.slice_ms
    }

    fn suspend(&mut self, now_ms: u64, id: u64) -> Option<Waiting> {
        let at = self.holding.iter().position(|holding| holding.ticket.id == id)?;
        let Holding { ticket, cpus, .. } = self.holding.remove(at);
        Some(Waiting { ticket: Ticket { wants: Wants::Cpus(cpus), ..ticket }, since_ms: now_ms })
    }

    /// The number of CPUs that each user holds.
    fn cpus_of(&self) -> BTreeMap<u32, usize> {
        let mut cpus = BTreeMap::new();
        self.holding
            .iter()
            .for_each(|holding| *cpus.entry(holding.ticket.uid).or_insert(0) += holding.cpus.len());
        cpus
    }

    /// Between any two calls, a ticket waits or holds CPUs, and no CPU has two holders.
    fn check(&self) {
        let mut held = CpuSet::default();
        for holding in &self.holding {
            let id = holding.ticket.id;
            invariant!(
                !held.meets(&holding.cpus),
                QUEUE,
                "ticket {id} holds {}, and another one some of them",
                holding.cpus
            );
            held = held.with(&holding.cpus);
        }
        let waiting = self.waiting.iter().map(|waiting| waiting.ticket.id);
        let holding = self.holding.iter().map(|holding| holding.ticket.id);
        let mut seen = BTreeSet::new();
        for id in waiting.chain(holding) {
            invariant!(seen.insert(id), QUEUE, "ticket {id} is there twice");
        }
    }
}

/// CPUs that meet a wish: free ones that are not reserved, and one free one stays.
fn meet(wants: &Wants, free: &CpuSet, reserved: &CpuSet, choose: &Choose<'_>) -> Option<CpuSet> {
    let open = free.without(reserved);
    if !wants.can_be_met_by(free) || wants.of(&open).len() < wants.len() {
        return None;
    }
    match wants {
        Wants::Cpus(cpus) => Some(cpus.clone()),
        Wants::Count(count) => choose(&open, *count).filter(|cpus| {
            // The chooser is not trusted to leave reserved CPUs alone.
            cpus.len() == *count && cpus.is_subset(&open)
        }),
    }
}

#[cfg(test)]
mod tests;
