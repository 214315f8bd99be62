//! Parts of a libvirt domain: vCPU k on the seat of task k.

use super::comment;
use crate::Plan;
use seatmap_machine::Pu;
use seatmap_os::CpuList;

/// The elements `vcpu`, `cputune`, `numatune` and `cpu` of a domain, for `virsh edit` (libvirt's
/// domain format).
///
/// The threads that emulate devices go to the PUs in use. The topology that the guest sees is the
/// plan's own where its vCPUs form whole equal parts, in order. Where they do not, each vCPU is a
/// core of one socket: a guest schedules by the cores that it is told of.
#[must_use]
pub fn write(plan: &Plan) -> String {
    let tasks = plan.placement.len();
    let whole = CpuList(plan.pus_in_use());
    let header = comment::header(plan);
    // XML ends a comment at two hyphens. One pass leaves two of three together.
    let header = header.trim_start_matches("# ").trim_end().replace("--", "- -");
    let mut text = format!("<!-- {} -->\n", header.replace("--", "- -"));
    text += &format!("<vcpu placement='static' cpuset='{whole}'>{tasks}</vcpu>\n<cputune>\n");
    for task in 0..tasks {
        let seat = CpuList(plan.seat(task).to_vec());
        text += &format!("  <vcpupin vcpu='{task}' cpuset='{seat}'/>\n");
    }
    text += &format!("  <emulatorpin cpuset='{whole}'/>\n</cputune>\n");
    if let Some(nodes) = plan.memory_in_use() {
        text += &format!(
            "<numatune>\n  <memory mode='strict' nodeset='{}'/>\n</numatune>\n",
            CpuList(nodes)
        );
    }
    let [sockets, dies, cores, threads] = topology(plan);
    text += "<cpu mode='host-passthrough'>\n";
    text += &format!(
        "  <topology sockets='{sockets}' dies='{dies}' cores='{cores}' threads='{threads}'/>\n"
    );
    text + "</cpu>\n"
}

/// Sockets, dies of a socket, cores of a die, threads of a core. Their product is the number of
/// vCPUs.
fn topology(plan: &Plan) -> [usize; 4] {
    let tasks = plan.placement.len();
    let flat = [1, 1, tasks, 1];
    // A vCPU that may run on several PUs, or shares one, is not a hardware thread of a core.
    let is_bound = plan.seats.iter().all(|seat| seat.len() == 1) && !plan.is_oversubscribed();
    let Some(pus) = plan
        .placement
        .iter()
        .map(|os| plan.pus.iter().find(|pu| pu.os == *os))
        .collect::<Option<Vec<&Pu>>>()
        .filter(|_| is_bound)
    else {
        return flat;
    };
    let Some(threads) = parts(&pus, |pu| pu.core).map(|cores| tasks / cores) else {
        return flat;
    };
    // A level that the plan does not know has one part, which changes nothing for the guest.
    let sockets = parts(&pus, |pu| pu.package).unwrap_or(1);
    let dies =
        parts(&pus, |pu| pu.die).filter(|dies| dies % sockets == 0).unwrap_or(sockets) / sockets;
    let cores = tasks / threads;
    // libvirt refuses a product that is not the number of vCPUs.
    match cores % (sockets * dies) {
        0 => [sockets, dies, cores / sockets / dies, threads],
        _ => [1, 1, cores, threads],
    }
}

/// The number of parts of a level, where the vCPUs of each stand together and all parts have as
/// many.
fn parts(pus: &[&Pu], level: impl Fn(&Pu) -> Option<u32>) -> Option<usize> {
    let numbers: Vec<u32> = pus.iter().map(|pu| level(pu)).collect::<Option<_>>()?;
    // libvirt numbers vCPUs part by part, so that each part must stand together.
    let runs: Vec<&[u32]> = numbers.chunk_by(|one, other| one == other).collect();
    let different: std::collections::BTreeSet<u32> = runs.iter().map(|run| run[0]).collect();
    let equal = runs.iter().all(|run| run.len() == runs[0].len());
    (equal && different.len() == runs.len()).then_some(runs.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{hostile, near};
    use proptest::prelude::*;

    /// Two packages of two cores of two threads: PU k is thread k / 4 of core k % 4.
    fn known(placement: Vec<u32>) -> Plan {
        let pu =
            |os: u32| Pu { os, core: Some(os % 4), package: Some(os % 4 / 2), ..Pu::default() };
        Plan { pus: (0..8).map(pu).collect(), ..Plan::new("desk", placement) }
    }

    #[test]
    fn vcpus_are_tasks() {
        insta::assert_snapshot!(write(&near()), @"
        <!-- Seatmap plan: 2 tasks on desk. -->
        <vcpu placement='static' cpuset='0,1,3'>2</vcpu>
        <cputune>
          <vcpupin vcpu='0' cpuset='3'/>
          <vcpupin vcpu='1' cpuset='0,1'/>
          <emulatorpin cpuset='0,1,3'/>
        </cputune>
        <numatune>
          <memory mode='strict' nodeset='0,1'/>
        </numatune>
        <cpu mode='host-passthrough'>
          <topology sockets='1' dies='1' cores='2' threads='1'/>
        </cpu>
        ");
        let text = write(&hostile());
        assert!(text.lines().count() == 10 && !text.contains("<numatune>"), "{text}");
    }

    #[test]
    fn comments_end_where_they_should() {
        for hyphens in ["--", "---", "----", "-----"] {
            let text = write(&Plan::new(format!("x {hyphens}> <evil/>"), vec![0]));
            assert_eq!(text.matches("--").count(), 2, "{text}");
        }
    }

    #[test]
    fn guests_are_told_of_cores_that_are_cores() {
        assert_eq!(topology(&known(vec![0, 4, 1, 5, 2, 6, 3, 7])), [2, 1, 2, 2]);
        assert_eq!(topology(&known(vec![0, 4, 1, 5])), [1, 1, 2, 2]);
        assert_eq!(topology(&known(vec![0, 1, 2, 3])), [2, 1, 2, 1]);
        assert_eq!(
            topology(&known(vec![0, 1, 4, 5])),
            [1, 1, 4, 1],
            "siblings that do not stand together"
        );
        assert_eq!(topology(&known(vec![0, 4, 1])), [1, 1, 3, 1], "half a core");
        assert_eq!(
            topology(&known(vec![0, 2, 1, 3])),
            [1, 1, 4, 1],
            "packages that do not stand together"
        );
        assert_eq!(topology(&Plan::new("desk", vec![0, 4])), [1, 1, 2, 1], "nothing is known");
    }

    proptest! {
        #[test]
        fn every_vcpu_has_its_place(placement in prop::collection::vec(0_u32..8, 1..9)) {
            prop_assert_eq!(topology(&known(placement.clone())).iter().product::<usize>(), placement.len());
        }
    }
}
