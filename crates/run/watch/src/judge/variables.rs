//! `variables` and `partial`: masks, compared with the variables for them.

use super::facts::{SeatingFacts, Sitter, count, cpus, sum, those, union};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::seating::{ControlGroup, Process, Variable};
use seatmap_os::CpuSet;

/// A launcher binds before the program begins, so they apply to every program.
const OF_LAUNCHERS: [&str; 3] = ["SLURM_CPU_BIND", "SLURM_CPU_BIND_LIST", "MV2_CPU_MAPPING"];

const OFF: [(&str, &[&str]); 2] =
    [("OMP_PROC_BIND", &["false"]), ("KMP_AFFINITY", &["none", "disabled"])];

pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    facts.of_programs(|process, sitters| {
        let active = process.variables.iter().filter(|_| !is_off(process));
        let unmet = active.clone().find_map(|variable| unmet(facts, process, variable, sitters));
        let crowded = active.filter_map(|variable| crowded(variable, sitters)).next();
        unmet.into_iter().chain(crowded)
    })
}

fn is_off(process: &Process) -> bool {
    process.variables.iter().any(|variable| {
        let value = variable.value.to_lowercase();
        OFF.iter().any(|(name, values)| variable.name == *name && values.contains(&value.as_str()))
    })
}

fn is_of_launcher(variable: &Variable) -> bool {
    OF_LAUNCHERS.contains(&variable.name.as_str())
}

fn requested_cpus(variable: &Variable) -> Option<CpuSet> {
    CpuSet::of_list(variable.cpus.as_deref()?).filter(|cpus| !cpus.is_empty())
}

/// Every program inherits OpenMP's, so they matter only to several busy threads.
fn unmet(
    facts: &SeatingFacts,
    process: &Process,
    variable: &Variable,
    sitters: &[&Sitter],
) -> Option<Finding> {
    // `partial` reports CPUs beyond the control group.
    let requested = requested_cpus(variable)?.within(&facts.allowed(process.pid));
    let busy = sitters.iter().filter(|sitter| sitter.is_busy()).count();
    let is_used = is_of_launcher(variable) || sitters.len() > 1;
    // One busy thread may be the serial part of a program.
    let is_harmful = is_of_launcher(variable) || busy > 1;
    let is_followed = sitters.iter().any(|sitter| sitter.mask.is_subset(&requested));
    if requested.is_empty() || !is_used || is_followed {
        return None;
    }
    let what = format!(
        "{}={} asks for {}, but no thread has such a mask: {} may run on {}",
        variable.name,
        variable.value,
        cpus(&requested),
        count(sitters.len(), "thread"),
        cpus(&union(sitters))
    );
    let finding = Finding::remark("variables", what)
        .grave_if(is_harmful)
        .threads(sitters)
        .on(&requested)
        .at_most(process.age_s);
    Some(finding.mended_by(SeatingRemedy::bind_all(&requested, process.pid)))
}

fn crowded(variable: &Variable, sitters: &[&Sitter]) -> Option<Finding> {
    let requested = requested_cpus(variable)?;
    let busy = those(sitters, |one| one.is_busy() && one.mask.is_subset(&requested));
    let percent = sum(&busy, Sitter::demand_percent);
    if is_of_launcher(variable)
        || busy.len() <= requested.len()
        || percent < 110.0 * requested.len() as f64
    {
        return None;
    }
    let what = format!(
        "{}={} has {} for {}, which need {:.1} CPUs",
        variable.name,
        variable.value,
        count(requested.len(), "CPU"),
        count(busy.len(), "busy thread"),
        percent / 100.0
    );
    let finding = Finding::wrong("variables", what)
        .about(&busy)
        .on(&requested)
        .measured(percent, "percent of one CPU");
    Some(finding.advised(format!("start it again with OMP_NUM_THREADS={}", requested.len())))
}

pub fn partial(facts: &SeatingFacts) -> Vec<Finding> {
    facts.of_programs(|process, sitters| {
        let mut variables = process.variables.iter();
        let cut = variables.find_map(|variable| cut(facts, process, variable, sitters.len()));
        cut.into_iter().chain(outside(facts, process, sitters))
    })
}

fn cut(
    facts: &SeatingFacts,
    process: &Process,
    variable: &Variable,
    threads: usize,
) -> Option<Finding> {
    let requested = requested_cpus(variable)?;
    let allowed = facts.allowed(process.pid);
    let outside = requested.without(&allowed);
    // One thread may never have started the OpenMP runtime.
    let is_used = is_of_launcher(variable) || threads > 1;
    if outside.is_empty() || is_off(process) || !is_used {
        return None;
    }
    let group = process.group.as_ref().filter(|group| group.cpus.is_some());
    let why = match group {
        Some(group) => format!("the control group {} allows {}", group.path, cpus(&allowed)),
        None => format!("this computer has only {} online", cpus(&facts.online)),
    };
    let name = &variable.name;
    let value = &variable.value;
    let what = format!(
        "{name}={value} asks for {}, but {why}: {} cannot be used",
        cpus(&requested),
        cpus(&outside)
    );
    let finding =
        Finding::wrong("partial", what).of(process.pid).on(&outside).at_most(process.age_s);
    Some(match group {
        Some(group) if outside.is_subset(&facts.online) => {
            mended_by_width(finding, widening(facts, group, &requested))
        }
        _ => finding.advised(format!("name online CPUs: {}", facts.online)),
    })
}

pub fn widened_for(
    facts: &SeatingFacts,
    finding: Finding,
    group: &ControlGroup,
    seat: &CpuSet,
    sitter: &Sitter,
) -> Finding {
    let mut remedies = widening(facts, group, seat);
    if !remedies.is_empty() {
        remedies.push(SeatingRemedy::bind(seat, &[sitter]));
    }
    mended_by_width(finding, remedies)
}

fn mended_by_width(finding: Finding, remedies: Vec<SeatingRemedy>) -> Finding {
    if remedies.is_empty() {
        finding.advised("ask the owner of the control group to give it these CPUs")
    } else {
        finding.mended_by_all(remedies)
    }
}

/// Outermost first, because the kernel gives a group no CPU that its parent lacks.
fn widening(facts: &SeatingFacts, group: &ControlGroup, requested: &CpuSet) -> Vec<SeatingRemedy> {
    let mut low = Vec::new();
    for level in group.cpusets.iter().rev() {
        let has = CpuSet::of_list(&level.cpus).unwrap_or_default();
        if !requested.is_subset(&has) {
            let cpus = facts.widened(&level.file, &has, requested);
            low.push(match &level.unit {
                Some(unit) => SeatingRemedy::widen_unit(unit, &cpus),
                None => SeatingRemedy::widen_group(&level.file, &cpus),
            });
        }
    }
    low
}

fn outside(facts: &SeatingFacts, process: &Process, sitters: &[&Sitter]) -> Option<Finding> {
    process.group.as_ref()?.cpus.as_ref()?;
    let allowed = facts.allowed(process.pid);
    // Requests nothing.
    let cut =
        those(sitters, |one| !facts.usual.is_subset(&one.mask) && !one.mask.is_subset(&allowed));
    let first = cut.first()?;
    let beyond = union(&cut).without(&allowed);
    let what = format!(
        "the mask of {} has {}, but its control group allows {}",
        first.named(),
        cpus(&first.mask),
        cpus(&allowed)
    );
    let kept = first.mask.within(&allowed);
    let mended = if kept.is_empty() { allowed } else { kept };
    let finding = Finding::wrong("partial", what).about(&cut).on(&beyond);
    Some(finding.mended_by(SeatingRemedy::bind(&mended, &cut)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;
    use crate::seating::CpusetLevel;

    fn openmp(mask: &str, cpus: &str) -> Made {
        let made = Made::new(8).busy(7, 7, mask, 90.0, 0.0).busy(7, 8, mask, 90.0, 0.0);
        made.variable("OMP_PLACES", "{0}:4", Some(cpus), None)
    }

    #[test]
    fn ignored_binding_variable_is_found() {
        assert_eq!(
            openmp("0-7", "0-3").told(judge),
            "Wrong 7 [7, 8] on 0-3: OMP_PLACES={0}:4 asks for CPUs 0-3, but no thread has such a mask: 2 threads may run on CPUs 0-7 -> taskset -acp 0-3 7"
        );
    }

    #[test]
    fn bound_runtime_is_healthy() {
        assert_eq!(openmp("2", "0-3").told(judge), "");
        let off = openmp("0-7", "0-3").variable("OMP_PROC_BIND", "FALSE", None, None);
        assert_eq!(off.told(judge), "");
    }

    #[test]
    fn inherited_openmp_variables_are_no_error() {
        let shell = Made::new(8).with("7/7 on 0-7: 90+0").variable(
            "OMP_PLACES",
            "cores",
            Some("0-3"),
            None,
        );
        assert_eq!(shell.told(judge), "");
        let idle = Made::new(8).with("7/7 on 0-7; 7/8 on 0-7");
        assert_eq!(
            idle.variable("OMP_PLACES", "cores", Some("0-3"), None).told(judge),
            "Remark 7 [7, 8] on 0-3: OMP_PLACES=cores asks for CPUs 0-3, but no thread has such a mask: 2 threads may run on CPUs 0-7 -> taskset -acp 0-3 7"
        );
    }

    #[test]
    fn launcher_variable_binds_single_thread() {
        let made = |mask| {
            Made::new(8).thread(7, 7, mask).variable("SLURM_CPU_BIND", "map_cpu:2", Some("2"), None)
        };
        assert_eq!(
            made("0-7").told(judge),
            "Wrong 7 [7] on 2: SLURM_CPU_BIND=map_cpu:2 asks for CPU 2, but no thread has such a mask: 1 thread may run on CPUs 0-7 -> taskset -acp 2 7"
        );
        assert_eq!(made("2").told(judge), "");
    }

    #[test]
    fn more_busy_threads_than_places_are_found() {
        let made = Made::new(8).with("7/7 on 0: 50+50; 7/8 on 0: 50+50; 7/9 on 1: 99+0");
        let found =
            judge(&made.clone().variable("GOMP_CPU_AFFINITY", "0-1", Some("0-1"), None).facts());
        assert!(
            found[0].what.contains("2 CPUs for 3 busy threads, which need 3.0 CPUs"),
            "{found:?}"
        );
        assert_eq!(made.variable("GOMP_CPU_AFFINITY", "0-3", Some("0-3"), None).told(judge), "");
    }

    #[test]
    fn control_group_narrower_than_variable_is_found() {
        let made = openmp("0,1", "0-3").group(Some("0-1"), None, 0);
        assert_eq!(
            made.told(partial),
            "Wrong 7 [] on 2,3: OMP_PLACES={0}:4 asks for CPUs 0-3, but the control group /box allows CPUs 0,1: CPUs 2,3 cannot be used -> echo 0-3 > /sys/fs/cgroup/box/cpuset.cpus"
        );
        assert_eq!(openmp("0-1", "0-3").group(Some("0-3"), None, 0).told(partial), "");
        assert_eq!(openmp("0-7", "0-7").told(partial), "");
    }

    #[test]
    fn offline_cpus_in_variable_are_reported() {
        assert_eq!(
            openmp("0-7", "0-15").told(partial),
            "Wrong 7 [] on 8-15: OMP_PLACES={0}:4 asks for CPUs 0-15, but this computer has only CPUs 0-7 online: CPUs 8-15 cannot be used -> name online CPUs: 0-7"
        );
    }

    #[test]
    fn mask_beyond_control_group_is_found() {
        let made = |mask| Made::new(8).thread(7, 7, mask).group(Some("0-3"), None, 0);
        assert_eq!(
            made("2-5").told(partial),
            "Wrong 7 [7] on 4,5: the mask of thread 7 'main' has CPUs 2-5, but its control group allows CPUs 0-3 -> taskset -cp 2,3 7"
        );
        assert_eq!(made("2-3").told(partial), "");
        assert_eq!(made("0-7").told(partial), "", "the usual mask asks for nothing");
    }

    #[test]
    fn systemd_units_are_widened_by_name() {
        let level = |file: &str, cpus: &str, unit: Option<&str>| CpusetLevel {
            file: file.to_owned(),
            cpus: cpus.to_owned(),
            unit: unit.map(str::to_owned),
        };
        let service =
            level("/c/system.slice/redis.service/cpuset.cpus", "0", Some("redis.service"));
        let levels = vec![
            service,
            level("/c/system.slice/cpuset.cpus", "0-1", None),
            level("/c/cpuset.cpus", "0-7", None),
        ];
        let group = ControlGroup { cpusets: levels, ..ControlGroup::default() };
        let made = Made::new(8);
        let facts = made.facts();
        let widened = |group: &ControlGroup, cpus: &str| {
            let requested = CpuSet::of_list(cpus).unwrap();
            mended_by_width(Finding::wrong("partial", ""), widening(&facts, group, &requested))
        };
        let requested = "echo 0-3 > /c/system.slice/cpuset.cpus; \
            systemctl set-property --runtime redis.service AllowedCPUs=0,2,3";
        assert_eq!(widened(&group, "2-3").remedy.as_deref(), Some(requested));
        let both = "echo 0-4 > /c/system.slice/cpuset.cpus; \
            systemctl set-property --runtime redis.service AllowedCPUs=0,2-4";
        let second = widened(&group, "4");
        assert_eq!(second.remedy.as_deref(), Some(both), "with the CPUs of the first remedy");
        let locked = widened(&ControlGroup::default(), "2-3");
        assert!(locked.remedy.is_none() && locked.advice.is_some());
    }
}
