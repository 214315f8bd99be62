//! The Slurm step in which this program runs.

use super::{ChoiceError, members, programs, variable, without_launchers};
use crate::files::SystemFiles;
use seatmap_os::Tid;
use seatmap_os::hierarchy::Hierarchies;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// If Slurm makes no control group, the processes with its variables.
pub fn processes(
    files: &mut SystemFiles,
    known: &BTreeSet<Tid>,
) -> Result<BTreeSet<Tid>, ChoiceError> {
    let membership = files.root.read("/proc/self/cgroup").unwrap_or_default();
    // "7:cpuset:/slurm/uid_1000/job_5/step_0/task_1", cgroups(7).
    let group = membership.lines().find_map(|line| step_of(line.splitn(3, ':').nth(2)?));
    if let Some(group) = group {
        let folders = Hierarchies::read(&files.root).folders(&files.root, group);
        if !folders.is_empty() {
            let folders: Vec<PathBuf> = folders.into_iter().map(PathBuf::from).collect();
            return members(files, known, &folders, format!("the Slurm step '{group}'"));
        }
    }
    by_environment(files, known)
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

fn by_environment(
    files: &mut SystemFiles,
    known: &BTreeSet<Tid>,
) -> Result<BTreeSet<Tid>, ChoiceError> {
    let text =
        files.proc.read(format_args!("self/environ")).map(<[u8]>::to_vec).unwrap_or_default();
    let job = own_variable(&text, "SLURM_JOB_ID").ok_or(ChoiceError::NotInStep)?;
    // Slurm has two spellings; the older one is STEPID.
    let step = own_variable(&text, "SLURM_STEP_ID").or_else(|| own_variable(&text, "SLURM_STEPID"));
    let all = programs(files, known)?.into_iter().map(|program| program.pid);
    let found: BTreeSet<Tid> =
        all.filter(|pid| is_of_step(files, *pid, &job, step.as_deref())).collect();
    if found.is_empty() {
        Err(ChoiceError::Empty(format!("the Slurm step of job {job}")))
    } else {
        without_launchers(files, known, found)
    }
}

fn is_of_step(files: &SystemFiles, pid: Tid, job: &str, step: Option<&str>) -> bool {
    if variable(files, pid, "SLURM_JOB_ID").as_deref() != Some(job) {
        return false;
    }
    step.is_none_or(|step| {
        ["SLURM_STEP_ID", "SLURM_STEPID"]
            .iter()
            .any(|name| variable(files, pid, name).as_deref() == Some(step))
    })
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
