//! Seats the services of a whole computer together: finds, records and plans them, applies the
//! plan, and undoes it.
//!
//! | module | holds |
//! |---|---|
//! | [`mod@file`] | `services.toml`: the services and their limits |
//! | [`bounds`] | the CPUs that words allow to services |
//! | [`living`] | the present processes of each service |
//! | [`find`] | the running services, for a first file |
//! | [`record`], [`recorder`] | the record of load, talk, memory and interrupts; making it |
//! | [`plan`] | sets of CPUs for all services together; pure |
//! | [`apply`] | applying and undoing plans, with a journal and a guardian |
//! | [`export`] | a plan for systemd |
//! | [`import`] | services and sets from the files of kubelet, systemd and libvirt |
//! | [`mod@drift`] | differences between an applied plan and the services |
//! | [`race`] | a comparison of the present sets with the plan's, on the running services |
//!
//! Bursts matter more than means, so a plan is judged on every sample of the record.
#![deny(missing_docs)]

pub mod apply;
pub mod bounds;
pub mod drift;
pub mod export;
pub mod file;
pub mod find;
pub mod import;
pub mod living;
pub mod plan;
pub mod race;
pub mod record;
pub mod recorder;

pub use file::{Service, ServiceTarget, ServicesFile};
pub use plan::{PlanRequest, PlannedService, ServicesPlan};
pub use record::ServicesRecord;
pub use recorder::RecordRequest;
