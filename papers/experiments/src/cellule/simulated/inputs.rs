//! The assumed costs of the model, each with its source.

use seatmap_data::machine::description::Basis;
use serde::Serialize;

/// An assumed cost of the model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AssumedCost {
    /// Its name, with the unit at its end.
    pub name: &'static str,
    /// Its value in that unit.
    pub value: f64,
    /// The origin of the value.
    pub kind: Basis,
    /// The document, or the reason for assuming it.
    pub source: &'static str,
}

/// The assumed costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostKind {
    /// `spe_program_load` under Linux.
    LinuxLoad,
    /// `spe_ps_area_get` under Linux.
    LinuxMap,
    /// `pthread_create` in the thread that calls it.
    Clone,
    /// `spu_run` until its thread sleeps.
    Activate,
    /// The return from `spu_run` to the program.
    Return,
    /// The end of a thread.
    Exit,
    /// The first access to a mapped problem-state page.
    Fault,
    /// The library's own part of a mailbox call.
    Library,
    /// A switch from one thread to another.
    Switch,
    /// An SPE's stop interrupt, including the wakeup of its thread.
    Interrupt,
    /// A timer interrupt.
    Tick,
    /// Timer interrupts per second.
    TickRate,
    /// The scheduler's latency.
    Latency,
    /// The scheduler's shortest time slice.
    Granularity,
    /// How far behind a woken thread must be to preempt.
    WakeupGranularity,
    /// `spe_program_load` in Cellule.
    LightLoad,
    /// `spe_ps_area_get` in Cellule.
    LightMap,
    /// `pthread_create` in Cellule without the run that it begins.
    LightCreate,
    /// `spe_context_run` in Cellule.
    LightRun,
    /// `pthread_join` in Cellule.
    LightJoin,
    /// `spe_in_mbox_write` in Cellule without the stores.
    LightWrite,
    /// `spe_out_mbox_read` in Cellule without the loads.
    LightRead,
    /// The time slice of the hypervisor's round robin.
    PartitionSlice,
    /// A look at a register of an SPE.
    Look,
    /// From an SPU program's answer to its stop.
    SpuEnd,
    /// The addition to a block of 16 KiB.
    Add,
    /// The product of two blocks of 64 x 64.
    Multiply,
    /// The price of an option.
    Price,
}

/// All inputs, in the order of [`CostKind`].
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs([AssumedCost; COUNT]);

const COUNT: usize = 28;

impl Inputs {
    /// The value of an input.
    pub fn value(&self, cost: CostKind) -> f64 {
        self.0[cost as usize].value
    }

    /// These inputs with one other value, to see its effect.
    pub fn with(mut self, cost: CostKind, value: f64) -> Self {
        self.0[cost as usize].value = value;
        self
    }

    /// These inputs with another value of the named one; `None` for an unknown name.
    pub fn with_named(mut self, name: &str, value: f64) -> Option<Self> {
        let input = self.0.iter_mut().find(|input| input.name == name)?;
        *input = assumption(input.name, value, "chosen for this run");
        Some(self)
    }

    /// The inputs as a list.
    pub fn list(&self) -> Vec<AssumedCost> {
        self.0.to_vec()
    }
}

const fn document(name: &'static str, value: f64, source: &'static str) -> AssumedCost {
    AssumedCost { name, value, kind: Basis::Document, source }
}

const fn calibration(name: &'static str, value: f64, source: &'static str) -> AssumedCost {
    AssumedCost { name, value, kind: Basis::Calibration, source }
}

const fn assumption(name: &'static str, value: f64, source: &'static str) -> AssumedCost {
    AssumedCost { name, value, kind: Basis::Assumption, source }
}

impl Default for Inputs {
    fn default() -> Self {
        Inputs([
            calibration("linux_load_us", 104.2, "table 1, Linux: PgmLoad with one SPE"),
            calibration("linux_map_us", 1.1, "table 1, Linux: MapPS with one SPE"),
            calibration(
                "linux_clone_us",
                150.3,
                "table 1, Linux: ThrCreate of 1433.5 us with one SPE, less spu_run's activation \
                 and two switches: the thread that was made runs first",
            ),
            calibration(
                "linux_activate_us",
                1273.2,
                "table 1, Linux: CtxRun of 1361.9 us with one SPE, less what the calls after it, \
                 the SPE's own work and the way back take; the kernel restores the context by \
                 polling (spufs/switch.c), so that the CPU is taken",
            ),
            calibration(
                "linux_return_us",
                9.22,
                "Abellan et al. 2009, table 1: a system call through spufs, as the model \
                 cell-qs20 has it (mailbox_call_ns)",
            ),
            calibration(
                "linux_exit_us",
                298.0,
                "table 1, Linux: ThrJoin of 323.9 us with one SPE, less interrupt, switches, \
                 the way back and the library's part",
            ),
            calibration(
                "linux_fault_us",
                55.6,
                "table 1, Linux: MBoxWr of 57.1 us with one SPE, less the library's part and the \
                 stores; the kernel unmaps the registers when it binds a context (spufs/sched.c), \
                 and the first access faults (spufs_ps_fault)",
            ),
            calibration(
                "linux_library_us",
                1.2,
                "table 1, Linux: MBoxRd of 1.5 us with one SPE, less the loads",
            ),
            assumption("linux_switch_us", 5.0, "no figure for the PPE was found"),
            assumption("linux_interrupt_us", 5.0, "no figure for the PPE was found"),
            assumption("linux_tick_us", 5.0, "no figure for the PPE was found"),
            assumption(
                "linux_ticks_per_second",
                250.0,
                "CONFIG_HZ of the kernel; recalled, not read",
            ),
            document("linux_latency_us", 20_000.0, "Linux 2.6.30, kernel/sched_fair.c, one CPU"),
            document("linux_granularity_us", 4_000.0, "Linux 2.6.30, kernel/sched_fair.c, one CPU"),
            document(
                "linux_wakeup_granularity_us",
                5_000.0,
                "Linux 2.6.30, kernel/sched_fair.c, one CPU",
            ),
            calibration("cell_load_us", 77.8, "table 1, Cellule: PgmLoad with one SPE"),
            calibration("cell_map_us", 0.8, "table 1, Cellule: MapPS with one SPE"),
            calibration(
                "cell_create_us",
                1.4,
                "table 1, Cellule: ThrCreate of 3.6 us with one SPE, less CtxRun",
            ),
            calibration("cell_run_us", 2.2, "table 1, Cellule: CtxRun with one SPE"),
            calibration(
                "cell_join_us",
                0.43,
                "table 1, Cellule: ThrJoin of 0.6 us with one SPE, less one look",
            ),
            calibration(
                "cell_write_us",
                0.72,
                "table 1, Cellule: MBoxWr of 1.0 us with one SPE, less the stores",
            ),
            calibration(
                "cell_read_us",
                9.3,
                "table 1, Cellule: MBoxRd of 9.6 us with one SPE, less the loads",
            ),
            assumption(
                "cell_partition_slice_us",
                10_000.0,
                "the paper says round robin and gives no slice; Xen's round robin of the time had \
                 10 ms",
            ),
            calibration(
                "look_us",
                0.167,
                "Abellan et al. 2009, as the model cell-qs20 has it (ppe_load_cycles)",
            ),
            assumption(
                "spu_end_us",
                2.0,
                "from the answer to the stop, in the SPU's run-time library; with one SPE it must \
                 exceed the 1.5 us of MBoxRd, or the interrupt would lengthen that call",
            ),
            assumption(
                "spu_add_us",
                1.28,
                "four cycles for 16 bytes: load, add, store, and the loop",
            ),
            document(
                "spu_multiply_us",
                20.52,
                "Alvaro, Kurzak, Dongarra 2009: a kernel of 64 x 64 at 25.55 Gflop/s",
            ),
            assumption("spu_price_us", 0.0156, "50 cycles an option; no figure was found"),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_match_their_kind_and_state_source() {
        let inputs = Inputs::default();
        assert_eq!(inputs.value(CostKind::LinuxLoad), 104.2);
        assert_eq!(inputs.value(CostKind::LightLoad), 77.8);
        assert_eq!(inputs.0[CostKind::Price as usize].name, "spu_price_us");
        assert_eq!(inputs.0[CostKind::PartitionSlice as usize].name, "cell_partition_slice_us");
        assert!(inputs.list().iter().all(|input| !input.source.is_empty() && input.value > 0.0));
        assert_eq!(inputs.clone().with_named("no_such_us", 1.0), None);
        let inputs = inputs.with_named("linux_tick_us", 6.0).unwrap();
        assert_eq!(
            (inputs.value(CostKind::Tick), inputs.list()[10].kind),
            (6.0, Basis::Assumption)
        );
        assert_eq!(inputs.with(CostKind::Tick, 7.0).value(CostKind::Tick), 7.0);
    }
}
