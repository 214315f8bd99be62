//! The instance of a command that a launcher starts several times: its rank on the node, its worker
//! slot, or its task of a job array.
//!
//! [`LaunchInstance::find`] reads its number from the environment; exported scripts read the same
//! variables.

/// The user's own variable, before those of all launchers: the number of a task, or [`ALL`].
pub const OWN: &str = "SEATMAP_TASK";

/// The value of [`OWN`] for an instance that takes the seats of all tasks.
pub const ALL: &str = "all";

/// The variables of one launcher.
#[derive(Clone, Copy, Debug)]
pub struct Variables {
    /// Rank on this node.
    pub rank: &'static str,
    /// Ranks on this node, if the launcher sets it.
    pub size: Option<&'static str>,
    /// A second variable that must be set, because other programs use the first one's name too.
    needs: Option<&'static str>,
}

const fn variables(rank: &'static str, size: &'static str) -> Variables {
    Variables { rank, size: Some(size), needs: None }
}

/// Launchers of ranks, the most specific first: Open MPI and its derivatives, MPICH and Intel MPI
/// (`mpiexec.hydra`), MVAPICH2, Cray's PMI and PALS, IBM's JSM, Flux. Only their ranks have these
/// variables.
pub const LAUNCHERS: [Variables; 7] = [
    variables("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    variables("MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    variables("MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"),
    variables("PMI_LOCAL_RANK", "PMI_LOCAL_SIZE"),
    variables("PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"),
    variables("JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_LOCAL_SIZE"),
    Variables { rank: "FLUX_TASK_LOCAL_ID", size: None, needs: None },
];

/// torchrun. Other programs use the short names too, so both must be set.
const TORCHRUN: Variables = Variables {
    rank: "LOCAL_RANK",
    size: Some("LOCAL_WORLD_SIZE"),
    needs: Some("LOCAL_WORLD_SIZE"),
};

/// Slurm's rank on this node, and the tasks of a step on each node: `2(x3),1`.
const SLURM_RANK: &str = "SLURM_LOCALID";
const SLURM_SIZES: [&str; 2] = ["SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"];

/// The worker slot of GNU parallel, from 1. GNU parallel does not publish the number of slots.
const PARALLEL: &str = "PARALLEL_JOBSLOT";

/// The instance of a command.
#[derive(Debug, PartialEq)]
pub enum LaunchInstance {
    /// The only one, or an undetected one.
    Alone,
    /// The instance of this task, by the user's choice.
    Task(usize),
    /// One of several.
    OneOf(LocalRank),
}

/// One of several instances on a node.
#[derive(Debug, PartialEq)]
pub struct LocalRank {
    /// Its number, from 0.
    pub rank: usize,
    /// Instances, if known.
    pub size: Option<usize>,
    /// Kind of instance: `rank`, `worker`, `task of the job array`.
    pub kind: &'static str,
    /// Variable with its value, for a message: `OMPI_COMM_WORLD_LOCAL_RANK=1`.
    pub source: String,
}

/// A launcher's variable with an unexpected value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{variable}={value} is not {expected}; unset it, or set {OWN} to the number of a task, or to \
     '{ALL}'"
)]
pub struct LocalRankError {
    /// Variable.
    pub variable: String,
    /// Value.
    pub value: String,
    /// A description of valid values.
    pub expected: String,
}

type Look<'a> = &'a dyn Fn(&str) -> Option<String>;

impl LaunchInstance {
    /// The instance that these variables describe. `here_cpus` is the number of CPUs that this
    /// process may use: tasks of a Slurm array with CPUs of their own share none.
    ///
    /// ```
    /// use seatmap_data::plan::local_rank::LaunchInstance;
    /// let set = |name: &str| match name {
    ///     "OMPI_COMM_WORLD_LOCAL_RANK" => Some("1".to_owned()),
    ///     "OMPI_COMM_WORLD_LOCAL_SIZE" => Some("2".to_owned()),
    ///     _ => None,
    /// };
    /// let found = LaunchInstance::find(&set, 8)?;
    /// let LaunchInstance::OneOf(rank) = found else { panic!("one of two") };
    /// assert_eq!((rank.rank, rank.size), (1, Some(2)));
    /// # Ok::<(), seatmap_data::plan::local_rank::LocalRankError>(())
    /// ```
    ///
    /// # Errors
    /// [`LocalRankError`].
    pub fn find(look: Look<'_>, here_cpus: usize) -> Result<Self, LocalRankError> {
        match look(OWN).as_deref() {
            Some(ALL) => return Ok(LaunchInstance::Alone),
            Some("") | None => {}
            Some(_) => return Ok(LaunchInstance::Task(number(look, OWN)?.unwrap_or(0))),
        }
        let ranks = [of_launchers(look)?, of_slurm(look)?, of_variables(look, &TORCHRUN)?];
        // The only rank on the node has all seats, as without a launcher.
        let rank = ranks.into_iter().flatten().next().filter(|rank| rank.size != Some(1));
        let found = match (of_array(look, here_cpus)?, rank) {
            (Some(array), Some(rank)) => Some(array.of_each(rank)),
            (array, rank) => rank.or(array),
        };
        let found = match found {
            None => of_parallel(look)?,
            found => found,
        };
        Ok(found.map_or(LaunchInstance::Alone, LaunchInstance::OneOf))
    }
}

impl LocalRank {
    fn of_each(self, inner: LocalRank) -> LocalRank {
        // If their number is unknown, ranks of different tasks cannot be distinguished.
        let Some(ranks) = inner.size else { return inner };
        LocalRank {
            rank: self.rank * ranks + inner.rank,
            size: self.size.map(|size| size * ranks),
            kind: inner.kind,
            source: format!("{}, {}", self.source, inner.source),
        }
    }

    fn checked(self, variable: &str) -> Result<Self, LocalRankError> {
        match self.size.filter(|size| self.rank >= *size) {
            None => Ok(self),
            Some(size) => Err(LocalRankError {
                variable: variable.to_owned(),
                value: self.rank.to_string(),
                expected: format!("below the number of {}s on this node, {size}", self.kind),
            }),
        }
    }
}

fn of_launchers(look: Look<'_>) -> Result<Option<LocalRank>, LocalRankError> {
    LAUNCHERS.iter().find_map(|variables| of_variables(look, variables).transpose()).transpose()
}

fn of_variables(
    look: Look<'_>,
    variables: &Variables,
) -> Result<Option<LocalRank>, LocalRankError> {
    if variables.needs.is_some_and(|name| look(name).is_none()) {
        return Ok(None);
    }
    let Some(rank) = number(look, variables.rank)? else { return Ok(None) };
    let size = variables.size.map(|name| number(look, name)).transpose()?.flatten();
    let source = format!("{}={rank}", variables.rank);
    LocalRank { rank, size, kind: "rank", source }.checked(variables.rank).map(Some)
}

/// A batch script and its children have `SLURM_LOCALID=0` too (sbatch(1)); only tasks of a step
/// (srun(1)) have a `SLURM_STEP_ID`.
fn of_slurm(look: Look<'_>) -> Result<Option<LocalRank>, LocalRankError> {
    let is_batch = look("SLURM_JOB_ID").is_some() && look("SLURM_STEP_ID").is_none();
    let rank = if is_batch { None } else { number(look, SLURM_RANK)? };
    let Some(rank) = rank else { return Ok(None) };
    let node = number(look, "SLURM_NODEID")?.unwrap_or(0);
    let sizes = SLURM_SIZES.iter().find_map(|name| look(name));
    let size = sizes.and_then(|text| tasks_of_node(&text, node));
    let source = format!("{SLURM_RANK}={rank}");
    LocalRank { rank, size, kind: "rank", source }.checked(SLURM_RANK).map(Some)
}

fn tasks_of_node(text: &str, node: usize) -> Option<usize> {
    let mut first = 0;
    for part in text.split(',') {
        let (tasks, nodes) =
            part.trim().trim_end_matches(')').split_once("(x").unwrap_or((part.trim(), "1"));
        let last = nodes.parse::<usize>().ok()?.checked_add(first)?;
        if node < last {
            // Limited to `u32` as other numbers here, so products do not overflow.
            return tasks.parse::<u32>().ok().and_then(|tasks| usize::try_from(tasks).ok());
        }
        first = last;
    }
    None
}

/// The tasks of a job array are separate jobs, which may share a node. If Slurm gave this one the
/// whole node or fixed CPUs, no other task can use its seats.
fn of_array(look: Look<'_>, here_cpus: usize) -> Result<Option<LocalRank>, LocalRankError> {
    let variable = "SLURM_ARRAY_TASK_ID";
    let Some(task) = number(look, variable)? else { return Ok(None) };
    let size = number(look, "SLURM_ARRAY_TASK_COUNT")?.filter(|size| *size > 0);
    let is_apart = number(look, "SLURM_CPUS_ON_NODE")?.is_some_and(|cpus| cpus >= here_cpus);
    if size == Some(1) || is_apart {
        return Ok(None);
    }
    let first = number(look, "SLURM_ARRAY_TASK_MIN")?.unwrap_or(0);
    let step = number(look, "SLURM_ARRAY_TASK_STEP")?.filter(|step| *step > 0).unwrap_or(1);
    let rank = task.saturating_sub(first) / step;
    // In a list with gaps (--array=1,5,9) the position of a number is unknown.
    let size = size.filter(|size| rank < *size);
    let source = format!("{variable}={task}");
    Ok(Some(LocalRank { rank, size, kind: "task of the job array", source }))
}

fn of_parallel(look: Look<'_>) -> Result<Option<LocalRank>, LocalRankError> {
    let Some(slot) = number(look, PARALLEL)?.filter(|slot| *slot > 0) else { return Ok(None) };
    let source = format!("{PARALLEL}={slot}");
    Ok(Some(LocalRank { rank: slot - 1, size: None, kind: "worker", source }))
}

fn number(look: Look<'_>, name: &str) -> Result<Option<usize>, LocalRankError> {
    let Some(value) = look(name).filter(|value| !value.is_empty()) else { return Ok(None) };
    match value.trim().parse::<u32>() {
        Ok(number) => Ok(usize::try_from(number).ok()),
        Err(_) => Err(LocalRankError {
            variable: name.to_owned(),
            value,
            expected: "a number".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(set: &str) -> Result<LaunchInstance, LocalRankError> {
        let look = |name: &str| {
            let variables = set.split(' ').filter_map(|word| word.split_once('='));
            variables.filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned()).next()
        };
        LaunchInstance::find(&look, 8)
    }

    fn rank(set: &str) -> Option<(usize, Option<usize>)> {
        match found(set).unwrap() {
            LaunchInstance::OneOf(rank) => Some((rank.rank, rank.size)),
            LaunchInstance::Alone => None,
            LaunchInstance::Task(task) => panic!("task {task}"),
        }
    }

    #[test]
    fn rank_of_every_launcher_is_read() {
        for launcher in LAUNCHERS.iter().chain([&TORCHRUN]) {
            let Some(size) = launcher.size else { continue };
            assert_eq!(rank(&format!("{}=1 {size}=4", launcher.rank)), Some((1, Some(4))));
            assert_eq!(
                rank(&format!("{}=0 {size}=1", launcher.rank)),
                None,
                "the only rank has all"
            );
        }
        assert_eq!(rank("OMPI_COMM_WORLD_LOCAL_RANK=1"), Some((1, None)));
        assert_eq!(rank("FLUX_TASK_LOCAL_ID=3"), Some((3, None)));
        assert_eq!(rank("LOCAL_RANK=3"), None, "others use this name");
        assert_eq!(rank("PARALLEL_JOBSLOT=2"), Some((1, None)));
        assert_eq!(
            rank("OMPI_COMM_WORLD_RANK=3"),
            None,
            "a rank of the job says nothing on its second node"
        );
    }

    #[test]
    fn slurm_task_count_is_that_of_the_node() {
        let step =
            "SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_LOCALID=1 SLURM_STEP_TASKS_PER_NODE=4(x2),2";
        assert_eq!(rank(&format!("{step} SLURM_NODEID=1")), Some((1, Some(4))));
        assert_eq!(rank(&format!("{step} SLURM_NODEID=2")), Some((1, Some(2))));
        assert_eq!(rank(&format!("{step} SLURM_NODEID=3")), Some((1, None)));
        assert_eq!(
            rank("SLURM_JOB_ID=7 SLURM_LOCALID=0 SLURM_TASKS_PER_NODE=4"),
            None,
            "a batch script"
        );
        let inside = "OMPI_COMM_WORLD_LOCAL_RANK=2 OMPI_COMM_WORLD_LOCAL_SIZE=3";
        assert_eq!(
            rank(&format!("{step} {inside}")),
            Some((2, Some(3))),
            "mpirun has the last word"
        );
    }

    #[test]
    fn array_tasks_share_a_node_unless_slurm_separates_them() {
        let array = "SLURM_ARRAY_TASK_ID=12 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_COUNT=3";
        assert_eq!(rank(array), Some((1, Some(3))));
        assert_eq!(rank(&format!("{array} SLURM_CPUS_ON_NODE=2")), Some((1, Some(3))));
        assert_eq!(rank(&format!("{array} SLURM_CPUS_ON_NODE=8")), None, "it has the whole node");
        let ranks = "OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2";
        assert_eq!(rank(&format!("{array} {ranks}")), Some((3, Some(6))));
        assert_eq!(
            rank(&format!(
                "{array} SLURM_LOCALID=1 SLURM_TASKS_PER_NODE={most}",
                most = usize::MAX
            )),
            Some((1, None)),
            "a number that no node has"
        );
        assert_eq!(
            rank("SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=3"),
            Some((9, None)),
            "a list with gaps"
        );
    }

    #[test]
    fn seatmap_task_overrides_the_launcher() {
        let ranks = "OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2";
        assert_eq!(found(&format!("SEATMAP_TASK=all {ranks}")), Ok(LaunchInstance::Alone));
        assert_eq!(found(&format!("SEATMAP_TASK=7 {ranks}")), Ok(LaunchInstance::Task(7)));
        assert_eq!(rank(&format!("SEATMAP_TASK= {ranks}")), Some((1, Some(2))));
    }

    #[test]
    fn invalid_rank_variables_are_named() {
        let wrong = |set: &str| found(set).unwrap_err().to_string();
        insta::assert_snapshot!(wrong("MPI_LOCALRANKID=x"), @"MPI_LOCALRANKID=x is not a number; unset it, or set SEATMAP_TASK to the number of a task, or to 'all'");
        insta::assert_snapshot!(wrong("MPI_LOCALRANKID=2 MPI_LOCALNRANKS=2"), @"MPI_LOCALRANKID=2 is not below the number of ranks on this node, 2; unset it, or set SEATMAP_TASK to the number of a task, or to 'all'");
        assert!(wrong("SEATMAP_TASK=-1").starts_with("SEATMAP_TASK=-1 is not a number"));
    }
}
