//! The CPUs of this host that a placement may use now. They can differ from the saved measurement:
//! CPUs go offline and return, and some are forbidden.

use crate::catalog::Machine;
use seatmap_data::document::Blame;
use seatmap_data::machine::Profile;
use seatmap_data::statistics::words::agreeing;
use seatmap_os::cpus::{CpuError, Cpus};
use seatmap_os::holder::Holder;
use seatmap_os::{CpuList, CpuSet};
use std::fmt;

/// The usable measured CPUs, and remarks on the others.
#[derive(Debug, Default)]
pub struct Usable {
    /// Usable CPUs, if they are fewer than the measured ones.
    pub cpus: Option<Vec<u32>>,
    /// Remarks on the others.
    pub remarks: Vec<Remark>,
}

/// CPUs that a placement on this host does not use.
#[derive(Debug, PartialEq)]
pub enum Remark {
    /// Measured CPUs that are offline now.
    Offline(CpuList),
    /// Measured CPUs that this process may not use, those that it may, and the cell with the
    /// forbidden ones, if any.
    Forbidden(CpuList, CpuList, Holder),
    /// Measured CPUs isolated when the kernel was started.
    SetApart(CpuList),
    /// Online CPUs missing from the measurement.
    Unmeasured(CpuList),
}

/// No measured CPU is usable now.
#[derive(Debug, thiserror::Error)]
#[error(
    "this process may use none of this host's measured CPUs, {measured}, only {allowed}{}; \
     'seatmap measure' measures these",
    if .holder.is_unknown() { String::new() } else { format!(", because {}", .holder.or("")) }
)]
pub struct NothingUsable {
    measured: CpuList,
    allowed: CpuList,
    holder: Holder,
}

impl Remark {
    fn cpus(&self) -> &CpuList {
        match self {
            Remark::Offline(cpus)
            | Remark::Forbidden(cpus, ..)
            | Remark::SetApart(cpus)
            | Remark::Unmeasured(cpus) => cpus,
        }
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpus = self.cpus();
        let [are, them] =
            [("is", "are"), ("it", "them")].map(|(one, other)| agreeing(cpus.0.len(), one, other));
        write!(f, "{} {are} ", cpus.named())?;
        match self {
            Remark::Offline(_) => f.write_str("offline and left out"),
            Remark::Forbidden(_, allowed, holder) => write!(
                f,
                "left out: this process may use only {allowed}{} {}",
                if holder.is_unknown() { "," } else { ":" },
                holder.or("because of its cpuset or a taskset")
            ),
            Remark::SetApart(_) => write!(
                f,
                "left out: kernel parameters isolate {them} (isolcpus, nohz_full); --cpus includes \
                 {them}"
            ),
            Remark::Unmeasured(_) => {
                write!(f, "not in the measurement of this host; 'seatmap measure' measures {them}")
            }
        }
    }
}

/// Why no CPUs for a placement were found.
#[derive(Debug, thiserror::Error)]
pub enum UsableError {
    /// The kernel does not list the CPUs.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// A named CPU is not usable here.
    #[error(transparent)]
    Cpu(#[from] CpuError),
    /// No CPU was named, and no measured one is usable.
    #[error(transparent)]
    Nothing(#[from] NothingUsable),
}

impl Blame for UsableError {
    fn is_input(&self) -> bool {
        !matches!(self, UsableError::Read(_))
    }
}

/// The CPUs of a machine for tasks: the named ones, or on this host those usable now. Fixed tasks
/// need theirs.
///
/// # Errors
/// [`UsableError`].
pub fn for_tasks(
    machine: &Machine,
    profile: &Profile,
    named: Option<Vec<u32>>,
    fixed: &[u32],
) -> Result<Usable, UsableError> {
    if !machine.is_host() {
        return Ok(Usable { cpus: named, remarks: Vec::new() });
    }
    let here = Cpus::read()?;
    if let Some(named) = named {
        here.check(&named)?;
        return Ok(Usable { cpus: Some(named), remarks: Vec::new() });
    }
    here.check(fixed)?;
    Ok(of_host(profile, &here)?)
}

/// The default CPUs of this host's profile for a placement.
///
/// # Errors
/// [`NothingUsable`].
pub fn of_host(profile: &Profile, here: &Cpus) -> Result<Usable, NothingUsable> {
    let known: CpuSet = profile.topology.os_indices().collect();
    let unmeasured = set(&here.reachable()).without(&known);
    let mut remarks = Vec::new();
    if !unmeasured.is_empty() {
        remarks.push(Remark::Unmeasured(unmeasured.list()));
    }
    let Some(distance) = &profile.core_distance else { return Ok(Usable { cpus: None, remarks }) };
    let measured = set(&distance.pus);
    let usable = measured.within(&set(&here.allowed));
    let left = measured.without(&usable);
    if left.is_empty() {
        return Ok(Usable { cpus: None, remarks });
    }
    // Isolated CPUs can still be named; otherwise there is nothing to place on.
    if usable.is_empty() && !left.meets(&set(&here.set_apart)) {
        let allowed = CpuList(here.allowed.clone());
        let holder = Holder::of(&measured);
        return Err(NothingUsable { measured: measured.list(), allowed, holder });
    }
    remarks.splice(0..0, left_out(&left, here));
    // If only isolated CPUs were measured, the user named them for the measurement.
    let cpus = if usable.is_empty() { left.within(&set(&here.set_apart)) } else { usable };
    if cpus.meets(&set(&here.set_apart)) {
        remarks.retain(|remark| !matches!(remark, Remark::SetApart(_)));
    }
    Ok(Usable { cpus: Some(cpus.list().0), remarks })
}

/// The CPUs of this host to measure, and a remark on the omitted ones.
#[derive(Debug, PartialEq)]
pub struct Measurable {
    /// CPUs, in the given order if named.
    pub cpus: Vec<u32>,
    /// Isolated CPUs, measured only if named.
    pub remark: Option<Remark>,
}

/// The CPUs to measure: the named ones, or those of this process's mask.
///
/// # Errors
/// [`CpuError`]: a named CPU is not usable.
pub fn to_measure(named: Option<&CpuList>, here: &Cpus) -> Result<Measurable, CpuError> {
    let Some(named) = named else {
        let set_apart = CpuList(here.set_apart.clone());
        let remark = (!set_apart.0.is_empty()).then_some(Remark::SetApart(set_apart));
        return Ok(Measurable { cpus: here.allowed.clone(), remark });
    };
    here.check(&named.0)?;
    Ok(Measurable { cpus: named.0.clone(), remark: None })
}

fn set(cpus: &[u32]) -> CpuSet {
    cpus.iter().copied().collect::<CpuSet>()
}

fn left_out(left: &CpuSet, here: &Cpus) -> Vec<Remark> {
    let of = |is_so: fn(Result<(), CpuError>) -> bool| -> CpuSet {
        left.iter().filter(|cpu| is_so(here.check(&[*cpu]))).collect()
    };
    let set_apart = of(|checked| checked.is_ok());
    let forbidden = of(|checked| matches!(checked, Err(CpuError::Forbidden { .. })));
    let offline = left.without(&set_apart).without(&forbidden);
    let allowed = CpuList(here.allowed.clone());
    let all = [
        Remark::Offline(offline.list()),
        Remark::Forbidden(forbidden.list(), allowed, Holder::of(&forbidden)),
        Remark::SetApart(set_apart.list()),
    ];
    all.into_iter().filter(|remark| !remark.cpus().0.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::{CoreDistance, Matrix, Origin, OriginKind, Topology};

    fn cpus(text: &str) -> Vec<u32> {
        CpuSet::of_list(text).unwrap().list().0
    }

    fn profile(known: &str, measured: &str) -> Profile {
        let origin =
            Origin { kind: OriginKind::Measured, source: String::new(), date: None, tool: None };
        let mut profile = Profile::new("here", origin, Topology::unknown(cpus(known)));
        let measured = cpus(measured);
        let distances = Matrix::from_fn(measured.len(), |_, _| 1.0);
        profile.core_distance = Some(CoreDistance::imported(measured, distances));
        profile
    }

    fn here(online: &str, allowed: &str, set_apart: &str) -> Cpus {
        let online = cpus(online);
        let allowed = cpus(allowed);
        let set_apart = cpus(set_apart);
        Cpus { present: cpus("0-7"), online, allowed, set_apart }
    }

    fn told(profile: &Profile, here: &Cpus) -> (Option<Vec<u32>>, Vec<String>) {
        let usable = of_host(profile, here).unwrap();
        (usable.cpus, usable.remarks.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn all_measured_cpus_are_used_if_nothing_changed() {
        assert_eq!(told(&profile("0-3", "0-3"), &here("0-3", "0-3", "")), (None, vec![]));
        assert_eq!(
            told(&profile("0-3", "0-1"), &here("0-3", "0-3", "")),
            (None, vec![]),
            "two were named then"
        );
    }

    #[test]
    fn omitted_and_new_cpus_are_reported() {
        let (cpus, remarks) = told(&profile("0-5", "0-5"), &here("0-1,3-6", "0,3,6", "4"));
        assert_eq!(cpus, Some(vec![0, 3]));
        insta::assert_snapshot!(remarks.join("\n"), @r"
        CPU 2 is offline and left out
        CPUs 1,5 are left out: this process may use only 0,3,6, because of its cpuset or a taskset
        CPU 4 is left out: kernel parameters isolate it (isolcpus, nohz_full); --cpus includes it
        CPU 6 is not in the measurement of this host; 'seatmap measure' measures it
        ");
    }

    #[test]
    fn reserved_cpus_are_measured_only_if_requested() {
        let here = here("0-3", "0-1", "2-3");
        let unnamed = to_measure(None, &here).unwrap();
        assert_eq!(
            (unnamed.cpus, unnamed.remark),
            (vec![0, 1], Some(Remark::SetApart(CpuList(vec![2, 3]))))
        );
        let named = to_measure(Some(&CpuList(vec![3, 1])), &here).unwrap();
        assert_eq!(named, Measurable { cpus: vec![3, 1], remark: None });
        assert!(to_measure(Some(&CpuList(vec![7])), &here).is_err());
    }

    #[test]
    fn reserved_cpus_are_used_if_only_they_were_measured() {
        assert_eq!(
            told(&profile("0-3", "2-3"), &here("0-3", "0-1", "2-3")),
            (Some(vec![2, 3]), vec![])
        );
        let error =
            of_host(&profile("0-3", "2-3"), &here("0-3", "0-1", "")).unwrap_err().to_string();
        assert!(
            error.starts_with("this process may use none of this host's measured CPUs, 2,3, only"),
            "{error}"
        );
    }
}
