//! The services of a whole computer, seated together: found, recorded, planned, given their CPUs,
//! and set free again.
//!
//! A person lists the services in `services.toml` ([`mod@file`]). [`recorder`] watches them for a
//! while and writes the load of each over time ([`record`]). From that record, [`plan`] finds a set
//! of CPUs for each service, beside the sets that other tools would give, and with a bound on how
//! much better any sets could be.
//!
//! [`apply`] gives the sets to the living services in the way of each one's owner, for a time, and
//! takes them back. [`drift`] looks what has moved since.
//!
//! | module | holds |
//! |---|---|
//! | [`mod@file`] | `services.toml`: the services and their limits |
//! | [`living`] | the processes of each service now |
//! | [`find`] | the services that run here, for a first file |
//! | [`record`], [`recorder`] | load over time, talk, memory, interrupts, on file; its making |
//! | [`plan`] | sets of CPUs for all services together; pure |
//! | [`apply`] | sets given to living services, with a journal and a guardian, and taken back |
//! | [`export`] | a plan as systemd takes it |
//! | [`import`] | services and sets from the files of kubelet, systemd and libvirt |
//! | [`mod@drift`] | the differences between a plan that stands and the services now |
//! | [`race`] | the present sets against the plan's, on the living services |
//! | [`error`] | why services could not be read, found or recorded |
//!
//! Bursts decide more than means, so that a plan is judged on every sample of the record.
#![deny(missing_docs)]

pub mod apply;
pub mod drift;
pub mod error;
pub mod export;
pub mod file;
pub mod find;
pub mod import;
pub mod living;
pub mod plan;
pub mod race;
pub mod record;
pub mod recorder;

pub use error::{ServicesError, ServicesFileError};
pub use file::{Service, ServiceTarget, ServicesFile};
pub use plan::{PlanError, PlanRequest, ServicesPlan};
pub use record::ServicesRecord;
pub use recorder::RecordRequest;
