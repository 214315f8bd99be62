//! Why this process may not use a running CPU: an existing cell, or else a cpuset or taskset.
//!
//! Cells belong to a higher crate, so each program registers their list at its start
//! ([`learn_cells_from`]).

use crate::CpuSet;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Lists the existing cells: CPUs by name.
pub type ListCells = fn() -> BTreeMap<String, CpuSet>;

static CELLS: OnceLock<ListCells> = OnceLock::new();

/// Registers the list of cells. Later calls have no effect.
pub fn learn_cells_from(list: ListCells) {
    CELLS.get_or_init(|| list);
}

/// The cells with CPUs that this process lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    cells: Vec<(String, CpuSet)>,
}

impl Holder {
    /// The cells with these CPUs, which this process may not use.
    pub fn of(missing: &CpuSet) -> Self {
        CELLS.get().map(|list| Holder::among(&list(), missing)).unwrap_or_default()
    }

    /// The cells that drove a thread off these CPUs. Excludes cells in which it runs now.
    pub fn that_drove_out(missing: &CpuSet, now: &CpuSet) -> Self {
        let mut holder = Holder::of(&missing.with(now));
        holder.cells.retain(|(_, cpus)| !cpus.meets(now));
        holder
    }

    /// The given cells with these CPUs.
    pub fn among(cells: &BTreeMap<String, CpuSet>, missing: &CpuSet) -> Self {
        let cells = cells.iter().filter(|(_, cpus)| cpus.meets(missing));
        Holder { cells: cells.map(|(name, cpus)| (name.clone(), cpus.within(missing))).collect() }
    }

    /// Whether no cell has them.
    pub fn is_unknown(&self) -> bool {
        self.cells.is_empty()
    }

    /// Describes cells and CPUs: `the cell quiet has CPU 1`.
    pub fn cells(&self) -> String {
        self.each("has")
    }

    /// Like [`Holder::cells`], for cells that may have ended since.
    pub fn cells_then(&self) -> String {
        self.each("had")
    }

    fn each(&self, verb: &str) -> String {
        let each = self.cells.iter().map(|(name, cpus)| {
            let cpus = cpus.named();
            format!("the cell {name} {verb} {cpus}")
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// The reason, with commands to show and end the cells; `otherwise` if no cell has the CPUs.
    pub fn or(&self, otherwise: &str) -> String {
        let [(first, _), rest @ ..] = self.cells.as_slice() else { return otherwise.to_owned() };
        let it = if rest.is_empty() { "it" } else { "them" };
        format!(
            "{} ('seatmap cell list' shows {it}, 'seatmap cell destroy {first}' ends {})",
            self.cells(),
            if rest.is_empty() { "it" } else { "the first" }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu_set::tests::set;

    #[test]
    fn cells_holding_the_cpus_are_named() {
        let cells =
            BTreeMap::from([("bench-7".to_owned(), set("2-3")), ("calm".to_owned(), set("5"))]);
        let holder = |cpus: &str| Holder::among(&cells, &set(cpus));
        let one = "the cell bench-7 has CPU 3 ('seatmap cell list' shows it, 'seatmap cell destroy \
                   bench-7' ends it)";
        assert_eq!(holder("1,3").or("a taskset"), one);
        assert_eq!(holder("2-5").cells(), "the cell bench-7 has CPUs 2,3, the cell calm has CPU 5");
        assert!(holder("0-1").is_unknown());
        assert_eq!(holder("0-1").or("a taskset"), "a taskset");
    }
}
