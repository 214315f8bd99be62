//! Finds this process's rank and the number of ranks in the variables that launchers set.

use seatmap_data::statistics::words::counted;

/// The rank of this process among those started together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rank {
    /// The number of the rank, from 0.
    pub rank: usize,
    /// Ranks.
    pub size: usize,
    /// Launcher, such as `Slurm`.
    pub launcher: &'static str,
    /// Launcher's unique name for this start.
    pub job: Option<String>,
}

/// Why the rank is unknown.
#[derive(Debug, thiserror::Error)]
pub enum LauncherError {
    /// No launcher has set its variables.
    #[error(
        "this process has no rank: start it with srun, mpirun or torchrun, or set RANK and \
         WORLD_SIZE"
    )]
    None,
    /// The rank is set, but not the number of ranks.
    #[error("{rank} is set, but {size} is not: set it to the number of ranks")]
    Size {
        /// Variable of the rank.
        rank: &'static str,
        /// Variable of the number of ranks.
        size: &'static str,
    },
    /// A variable is not a number, or the rank is too large.
    #[error("{variable}={value} is not {expected}")]
    Value {
        /// Variable.
        variable: &'static str,
        /// Value of the variable.
        value: String,
        /// A description of valid values.
        expected: String,
    },
}

/// A launcher's variables. If `needs` is set, the others count only together with it.
struct Known {
    name: &'static str,
    rank: &'static str,
    size: &'static str,
    job: &'static [&'static str],
    needs: Option<&'static str>,
}

/// The most specific first: `mpirun` in a Slurm job adds its variables to the script's
/// (openmpi.org, "Environment variables that Open MPI sets"; MPICH's hydra; srun(1); torchrun). A
/// Slurm batch script has the variables of rank 0 without a step; a program started by `srun` has a
/// step.
const KNOWN: [Known; 5] = [
    Known {
        name: "Open MPI",
        rank: "OMPI_COMM_WORLD_RANK",
        size: "OMPI_COMM_WORLD_SIZE",
        job: &["PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"],
        needs: None,
    },
    Known {
        name: "MPICH",
        rank: "PMI_RANK",
        size: "PMI_SIZE",
        job: &["PMI_JOBID", "HYDI_CONTROL_FD"],
        needs: None,
    },
    Known {
        name: "Slurm",
        rank: "SLURM_PROCID",
        size: "SLURM_NTASKS",
        job: &["SLURM_JOB_ID", "SLURM_STEP_ID"],
        needs: Some("SLURM_STEP_ID"),
    },
    Known {
        name: "PMIx",
        rank: "PMIX_RANK",
        size: "WORLD_SIZE",
        job: &["PMIX_NAMESPACE"],
        needs: None,
    },
    Known {
        name: "environment",
        rank: "RANK",
        size: "WORLD_SIZE",
        job: &["TORCHELASTIC_RUN_ID"],
        needs: None,
    },
];

impl Rank {
    /// Why a rank of this number and job size cannot join this one.
    pub(crate) fn refusal_of(&self, rank: usize, size: usize) -> Option<String> {
        let own = counted(self.size, "rank");
        let is_strange = size != self.size || rank >= self.size;
        is_strange.then(|| format!("it is rank {rank} of {size}, but this job has {own}"))
    }

    /// The rank from the first launcher whose variables are set. `variable` looks one up.
    ///
    /// ```
    /// let set = |name: &str| match name {
    ///     "RANK" => Some("3".into()),
    ///     "WORLD_SIZE" => Some("8".into()),
    ///     _ => None,
    /// };
    /// let rank = seatmap_cluster::Rank::find(set).unwrap();
    /// assert_eq!((rank.rank, rank.size), (3, 8));
    /// ```
    ///
    /// # Errors
    /// [`LauncherError`].
    pub fn find(variable: impl Fn(&str) -> Option<String>) -> Result<Self, LauncherError> {
        let (known, rank) = KNOWN
            .iter()
            .filter(|known| known.needs.is_none_or(|name| variable(name).is_some()))
            .find_map(|known| Some((known, variable(known.rank)?)))
            .ok_or(LauncherError::None)?;
        let rank = parsed(known.rank, rank)?;
        let size = variable(known.size)
            .ok_or(LauncherError::Size { rank: known.rank, size: known.size })?;
        let size = parsed(known.size, size)?;
        if rank >= size {
            let expected = format!("a rank below {}={size}", known.size);
            return Err(LauncherError::Value {
                variable: known.rank,
                value: rank.to_string(),
                expected,
            });
        }
        let parts: Vec<String> = known.job.iter().filter_map(|name| variable(name)).collect();
        let job = (!parts.is_empty()).then(|| parts.join("."));
        Ok(Rank { rank, size, launcher: known.name, job })
    }
}

fn parsed(variable: &'static str, value: String) -> Result<usize, LauncherError> {
    let number = value.trim().parse::<u32>().ok().and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| LauncherError::Value { variable, value, expected: "a number".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(set: &[(&str, &str)]) -> Result<Rank, LauncherError> {
        Rank::find(|name| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn mpirun_overrides_the_slurm_job() {
        let slurm = [
            ("SLURM_PROCID", "0"),
            ("SLURM_NTASKS", "1"),
            ("SLURM_JOB_ID", "7"),
            ("SLURM_STEP_ID", "2"),
        ];
        let rank = found(&slurm).unwrap();
        assert_eq!((rank.launcher, rank.job.as_deref()), ("Slurm", Some("7.2")));
        let mpirun =
            [&slurm[..], &[("OMPI_COMM_WORLD_RANK", "5"), ("OMPI_COMM_WORLD_SIZE", "8")]].concat();
        assert_eq!((found(&mpirun).unwrap().rank, found(&mpirun).unwrap().size), (5, 8));
    }

    #[test]
    fn wrong_rank_variables_are_named() {
        let told = |set: &[(&str, &str)]| found(set).unwrap_err().to_string();
        let batch = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4"), ("SLURM_JOB_ID", "7")];
        for none in [&[][..], &batch] {
            assert!(told(none).starts_with("this process has no rank: "));
        }
        assert_eq!(
            told(&[("PMI_RANK", "0")]),
            "PMI_RANK is set, but PMI_SIZE is not: set it to the number of ranks"
        );
        assert_eq!(told(&[("RANK", "x"), ("WORLD_SIZE", "2")]), "RANK=x is not a number");
        assert_eq!(
            told(&[("RANK", "2"), ("WORLD_SIZE", "2")]),
            "RANK=2 is not a rank below WORLD_SIZE=2"
        );
        assert_eq!(told(&[("RANK", "-1"), ("WORLD_SIZE", "2")]), "RANK=-1 is not a number");
    }
}
