//! Machines in virtual time.
//!
//! A deterministic discrete-event simulator: tasks are coroutines, devices are state machines, time is a whole number of the
//! model's core cycles. The same inputs and seed give the same result on any computer.
#![deny(missing_docs)]
