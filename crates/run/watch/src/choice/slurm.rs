//! The Slurm step in which this program runs.

use super::{ChoiceError, Chooser, Chosen};
use seatmap_os::hierarchy::Hierarchies;
use seatmap_os::{Tid, task};
use std::collections::BTreeSet;

impl Chooser<'_> {
    /// If Slurm makes no control group, the processes with its variables.
    pub fn of_own_step(&mut self) -> Chosen {
        let membership = self.files.root.read("/proc/self/cgroup").unwrap_or_default();
        // "7:cpuset:/slurm/uid_1000/job_5/step_0/task_1", cgroups(7).
        let group = membership.lines().find_map(|line| step_of(line.splitn(3, ':').nth(2)?));
        if let Some(group) = group {
            let folders = Hierarchies::read(&self.files.root).folders(&self.files.root, group);
            if !folders.is_empty() {
                return self.members(folders, format!("the Slurm step '{group}'"));
            }
        }
        self.by_environment()
    }

    fn by_environment(&mut self) -> Chosen {
        let text = self.files.proc.read(format_args!("self/environ")).unwrap_or_default();
        let own = |name| own_variable(text, name);
        // The older spelling is STEPID.
        let (job, step) =
            (own("SLURM_JOB_ID"), own("SLURM_STEP_ID").or_else(|| own("SLURM_STEPID")));
        let job = job.ok_or_else(|| {
            ChoiceError::Nothing(
                "not in a Slurm step: neither the control group nor the environment \
                 (SLURM_JOB_ID, SLURM_STEP_ID) names one; start seatmap with srun, or use \
                 --cgroup or --pid"
                    .to_owned(),
            )
        })?;
        let all = self.programs()?.into_iter().map(|program| program.pid);
        let found: BTreeSet<Tid> =
            all.filter(|pid| self.is_of_step(*pid, &job, step.as_deref())).collect();
        if found.is_empty() {
            return Err(ChoiceError::Empty(format!("the Slurm step of job {job}")));
        }
        self.without_launchers(found)
    }

    fn is_of_step(&self, pid: Tid, job: &str, step: Option<&str>) -> bool {
        let variables = task::environment(&self.files.root, pid);
        let has = |name: &str, expected: &str| {
            variables.iter().find(|(key, _)| key == name).is_some_and(|(_, it)| it == expected)
        };
        has("SLURM_JOB_ID", job)
            && step.is_none_or(|step| has("SLURM_STEP_ID", step) || has("SLURM_STEPID", step))
    }
}

/// `/slurm/uid_1000/job_5/step_0` of `.../step_0/task_1`; in a script of the whole job, the job's
/// part.
fn step_of(path: &str) -> Option<&str> {
    let job = end_of_part(path, "/job_").filter(|_| path.contains("slurm"))?;
    Some(&path[..end_of_part(path, "/step_").unwrap_or(job)])
}

fn end_of_part(path: &str, beginning: &str) -> Option<usize> {
    let at = path.find(beginning)? + 1;
    Some(path[at..].find('/').map_or(path.len(), |length| at + length))
}

fn own_variable(environment: &[u8], name: &str) -> Option<String> {
    let mut variables = environment.split(|byte| *byte == 0);
    let value =
        variables.find_map(|text| text.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    Some(String::from_utf8_lossy(value).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_step_is_found_in_both_cgroup_versions() {
        assert_eq!(
            step_of("/slurm/uid_1000/job_5/step_0/task_1"),
            Some("/slurm/uid_1000/job_5/step_0")
        );
        let v2 = "/system.slice/slurmstepd.scope/job_5/step_batch/user/task_0";
        assert_eq!(step_of(v2), Some("/system.slice/slurmstepd.scope/job_5/step_batch"));
        assert_eq!(step_of("/slurm/uid_1000/job_5"), Some("/slurm/uid_1000/job_5"));
        assert_eq!(
            (step_of("/user.slice"), step_of("/x/job_5/step_0"), step_of("")),
            (None, None, None)
        );
    }
}
