//! A component at a time of the simulation, for the message of a broken invariant.

use std::fmt;

/// Displays as `directory at tick 7`.
pub struct ComponentTime<C> {
    component: C,
    unit: &'static str,
    time: u64,
}

/// A component of a coherent machine, at a time in ticks.
pub fn at_tick<C>(component: C, time: u64) -> ComponentTime<C> {
    ComponentTime { component, unit: "tick", time }
}

/// A component of a machine with its cores' clock, at a time in core cycles.
pub fn at_cycle<C>(component: C, time: u64) -> ComponentTime<C> {
    ComponentTime { component, unit: "core cycle", time }
}

impl<C: fmt::Display> fmt::Display for ComponentTime<C> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} at {} {}", self.component, self.unit, self.time)
    }
}
