//! The queue decides which request gets which CPUs, and when. It is a state machine without a
//! clock, a host or a socket.
//!
//! The policy orders the waiting requests. A request that fits starts. One that does not fit
//! *reserves* the free CPUs that it needs (those of its list, or all if it needs a number), so that
//! smaller requests cannot starve it; later requests can use the others. One CPU always stays for
//! the rest of the system.
//!
//! **Turns.** Tickets that take turns are gangs: all threads of a cell run, or none (Ousterhout
//! 1982, "Scheduling techniques for concurrent systems"). A ticket whose time slice has ended is
//! suspended if that lets a waiting ticket start. It then waits like a new ticket for the same
//! CPUs, because its threads are pinned.

use crate::policy::{AGEING_MS, Policy};
use crate::ticket::Ticket;
use crate::usage::UserUsage;
use crate::wants::Wants;
use seatmap_data::invariant;
use seatmap_os::CpuSet;
use std::collections::{BTreeMap, BTreeSet};

/// An action to carry out now, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Take this ticket's CPUs, because its turn is over.
    Suspend(u64),
    /// Give this ticket these CPUs, for the first time or again.
    Start(u64, CpuSet),
}

/// Chooses this many CPUs from a set.
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

/// For reports of bugs.
const QUEUE: &str = "queue of the controller";

/// The waiting tickets, those that hold CPUs, and the account of users.
#[derive(Clone, Debug)]
pub struct TicketQueue {
    policy: Policy,
    slice_ms: u64,
    waiting: Vec<Waiting>,
    holding: Vec<Holding>,
    usage: UserUsage,
}

impl TicketQueue {
    /// Creates an empty queue. Turns last for `slice_ms`; `usage` is the users' earlier usage.
    pub fn new(policy: Policy, slice_ms: u64, usage: UserUsage) -> Self {
        TicketQueue { policy, slice_ms, waiting: Vec::new(), holding: Vec::new(), usage }
    }

    /// Adds a waiting ticket.
    pub fn submit(&mut self, now_ms: u64, ticket: Ticket) {
        self.waiting.push(Waiting { ticket, since_ms: now_ms });
        self.check();
    }

    /// Adds a ticket that has held these CPUs since the account was last settled, as no other
    /// ticket could.
    pub fn adopt(&mut self, now_ms: u64, ticket: Ticket, cpus: CpuSet) {
        self.holding.push(Holding { ticket, cpus, since_ms: now_ms });
        self.check();
    }

    /// Removes a waiting or running ticket.
    pub fn leave(&mut self, now_ms: u64, id: u64) {
        self.settle(now_ms);
        self.waiting.retain(|waiting| waiting.ticket.id != id);
        self.holding.retain(|holding| holding.ticket.id != id);
    }

    /// Charges users for their CPU time until now.
    pub fn settle(&mut self, now_ms: u64) {
        let cpus = self.cpus_of();
        self.usage.pass(now_ms, &cpus);
    }

    /// Tickets ahead of this one, and all waiting ones; `None` if it does not wait.
    pub fn place(&self, id: u64) -> Option<(usize, usize)> {
        let mut waiting: Vec<&Waiting> = self.waiting.iter().collect();
        waiting.sort_by(|a, b| {
            self.rank(a).partial_cmp(&self.rank(b)).unwrap_or(std::cmp::Ordering::Equal)
        });
        Some((waiting.iter().position(|waiting| waiting.ticket.id == id)?, waiting.len()))
    }

    /// A user's waiting tickets.
    pub fn waiting_of(&self, uid: u32) -> usize {
        self.waiting.iter().filter(|waiting| waiting.ticket.uid == uid).count()
    }

    /// The CPUs of all running tickets.
    pub fn held(&self) -> CpuSet {
        self.holding.iter().fold(CpuSet::default(), |held, holding| held.with(&holding.cpus))
    }

    /// The users' recent usage at the last decision.
    pub fn usage(&self) -> &UserUsage {
        &self.usage
    }

    /// Decides which tickets start and which are suspended now. `pool` is all online CPUs outside
    /// other programs' cells.
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
        // Added only now, so that a suspended ticket cannot start again in the same step.
        still.extend(suspended);
        self.waiting = still;
        self.check();
        actions
    }

    fn first(&self, open: &mut Vec<Waiting>) -> Option<Waiting> {
        let (at, _) = open.iter().enumerate().min_by(|a, b| {
            self.rank(a.1).partial_cmp(&self.rank(b.1)).unwrap_or(std::cmp::Ordering::Equal)
        })?;
        Some(open.remove(at))
    }

    /// The sort key; the smallest comes first. Waiting time counts under every policy, or a user's
    /// second request could starve behind the first: steps of priority and CPU-ms of usage are
    /// worth fixed waiting times.
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
            // A ticket whose CPUs are all reserved frees none for this request.
            .filter(|holding| self.is_over(holding, now_ms) && !holding.cpus.is_subset(reserved))
            .collect();
        // Tickets with wanted CPUs come first; the others only free a CPU for the rest of the
        // system.
        over.sort_by_key(|holding| {
            let helps_little = wants.of(&holding.cpus).is_empty();
            std::cmp::Reverse((helps_little, holding.since_ms, holding.ticket.id))
        });
        loop {
            if let Some(cpus) = meet(wants, &free, reserved, choose) {
                return Some((leaving, cpus));
            }
            // The last one has had its turn longest among the preferred.
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

    fn cpus_of(&self) -> BTreeMap<u32, usize> {
        let mut cpus = BTreeMap::new();
        self.holding
            .iter()
            .for_each(|holding| *cpus.entry(holding.ticket.uid).or_insert(0) += holding.cpus.len());
        cpus
    }

    /// Each ticket either waits or holds CPUs, and no CPU is held twice.
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

/// Free CPUs without reservation, with one remaining.
fn meet(wants: &Wants, free: &CpuSet, reserved: &CpuSet, choose: &Choose<'_>) -> Option<CpuSet> {
    let open = free.without(reserved);
    if !wants.can_be_met_by(free) || wants.of(&open).len() < wants.len() {
        return None;
    }
    match wants {
        Wants::Cpus(cpus) => Some(cpus.clone()),
        Wants::Count(count) => choose(&open, *count).filter(|cpus| {
            // Not every chooser avoids reserved CPUs.
            cpus.len() == *count && cpus.is_subset(&open)
        }),
    }
}

#[cfg(test)]
mod tests;
