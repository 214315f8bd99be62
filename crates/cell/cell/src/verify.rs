//! Checks whether a cell is still as created.

use crate::partition::{v1, v2};
use crate::{CellBackend, CellError, CellHost, CellRecord, GuardedHost, Name, census};
use seatmap_data::words::{agreeing, counted};
use seatmap_os::task::ThreadStat;
use seatmap_os::{FileError, Root, Tid, group, irq, layout, task};

/// Limit on named threads; others are counted.
const MOST_NAMED: usize = 4;

/// A cell's faults, one per line; empty if there are none.
///
/// # Errors
/// The kernel does not list the online CPUs, or another program has started to undo the cell.
pub fn verify(host: &CellHost, record: &CellRecord) -> Result<Vec<String>, CellError> {
    let offline = record.set().without(&layout::online(&host.root)?);
    let mut faults = Vec::new();
    if !offline.is_empty() {
        let are = agreeing(offline.len(), "is", "are");
        faults.push(format!("{} {are} offline", offline.named()));
    }
    faults.extend(closure(host, record));
    faults.extend(overlaps(host, record)?);
    faults.extend(intruders(host, record)?);
    faults.extend(interrupts(host, record)?);
    // A cell destroyed meanwhile looks broken.
    if !faults.is_empty() && !host.stands(&record.name) {
        return Err(CellError::NoSuchCell(record.name.clone()));
    }
    Ok(faults)
}

/// A cell's present state and faults.
///
/// # Errors
/// [`CellError::NoSuchCell`], and those of [`verify`].
pub fn examine(host: &CellHost, name: &Name) -> Result<(CellRecord, Vec<String>), CellError> {
    let record = host.cell(name)?;
    let faults = verify(host, &record)?;
    Ok((record.judged(&faults), faults))
}

/// The present state of all cells still there.
///
/// # Errors
/// [`CellError`]: the cells cannot be listed, or as [`verify`].
pub fn examine_all(host: &CellHost) -> Result<Vec<CellRecord>, CellError> {
    let mut cells = Vec::new();
    for record in host.cells()? {
        match verify(host, &record) {
            Ok(faults) => cells.push(record.judged(&faults)),
            Err(CellError::NoSuchCell(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(cells)
}

fn closure(host: &CellHost, record: &CellRecord) -> Option<String> {
    let group = record.group.as_deref()?;
    match record.backend {
        CellBackend::V2Partition => v2::fault(&host.root, group),
        CellBackend::V1Exclusive => v1::fault(&host.root, group, &record.set()),
        CellBackend::Affinity => None,
    }
}

/// Control groups next to the cell's that contain some of its CPUs.
fn overlaps(host: &CellHost, record: &CellRecord) -> Result<Vec<String>, FileError> {
    let Some((base, own)) = record.group.as_deref().and_then(|group| group.rsplit_once('/')) else {
        return Ok(Vec::new());
    };
    let mut rivals = v1::rivals(&host.root, base, own)?;
    rivals.retain(|(_, cpus)| cpus.meets(&record.set()));
    let faults = rivals
        .iter()
        .map(|(name, cpus)| format!("the control group {base}/{name} has {}, too", cpus.named()));
    Ok(faults.collect())
}

fn intruders(host: &CellHost, record: &CellRecord) -> Result<Vec<String>, FileError> {
    let inside = inside(host, record)?;
    let outside = outside(host, record)?;
    // Affinity alone cannot move every thread.
    let known = if record.backend == CellBackend::Affinity { record.threads_left } else { 0 };
    let outside = if outside.len() > known { outside } else { Vec::new() };
    let inside = sentences(&inside, "is in the cell, but Seatmap did not start it there");
    Ok([inside, sentences(&outside, "may run on the cell's CPUs")].concat())
}

fn began_ticks(host: &CellHost, record: &CellRecord) -> Option<u64> {
    let journals = host.journals().ok()?;
    journals.into_iter().find(|journal| journal.header.cell == record.name)?.header.began_ticks
}

/// Members of the group that Seatmap did not start there.
fn inside(host: &CellHost, record: &CellRecord) -> Result<Vec<ThreadStat>, FileError> {
    let Some(group) = &record.group else { return Ok(Vec::new()) };
    let root = &host.root;
    let members = group::members(root, group)?;
    let began = began_ticks(host, record);
    let mut all = task::all(root)?;
    all.retain(|task| {
        members.contains(&task.tid)
            && !task.has_ended()
            && !census::is_resident(root, task.pid, record)
            && !census::may_be_resident(root, task.pid, began)
            && is_still_there(root, task)
    });
    Ok(all)
}

fn outside(host: &CellHost, record: &CellRecord) -> Result<Vec<ThreadStat>, FileError> {
    // The kernel keeps others off a partition.
    if record.backend == CellBackend::V2Partition {
        return Ok(Vec::new());
    }
    let members =
        record.group.as_ref().map_or(Ok(Vec::new()), |group| group::members(&host.root, group))?;
    let ours = [Some(task::own_pid()), host.run.guardian(&record.name)];
    let spared: Vec<Tid> = ours.into_iter().flatten().collect();
    let mut found = census::stragglers(&host.root, &record.set(), &spared)?.free;
    let began = began_ticks(host, record);
    // Without a group, only masks show the threads started in the cell.
    let is_seated =
        |task: &ThreadStat| task.cpus().is_some_and(|cpus| cpus.is_subset(&record.set()));
    found.retain(|task| {
        let is_known = task.is_kernel
            || task.is_spared(&spared)
            || members.contains(&task.tid)
            || census::is_resident(&host.root, task.pid, record)
            || is_helper(host, task)
            || is_seated(task) && census::may_be_resident(&host.root, task.pid, began);
        !is_known && is_still_there(&host.root, task)
    });
    Ok(found)
}

/// Checked last, because an ended thread looks like an intruder.
fn is_still_there(root: &Root, task: &ThreadStat) -> bool {
    let folder = format!("/proc/{}/task/{}", task.pid, task.tid);
    let now = task::in_folder(root, &folder, task.tid).ok().flatten();
    now.is_some_and(|now| now.identity() == task.identity() && !now.has_ended())
}

/// Guardians may sleep on any CPU, including those of other folders' cells.
fn is_helper(host: &CellHost, task: &ThreadStat) -> bool {
    let mut cells = host.cells().unwrap_or_default().into_iter();
    census::is_helper(&host.root, task)
        || cells.any(|cell| host.run.guardian(&cell.name) == Some(task.pid))
}

fn sentences(tasks: &[ThreadStat], what: &str) -> Vec<String> {
    let named = tasks.iter().take(MOST_NAMED);
    let named = named.map(|task| format!("thread {} ({}) {what}", task.tid, task.name));
    let more = tasks.len().saturating_sub(MOST_NAMED);
    let rest = (more > 0).then(|| format!("and {}", counted(more, "more thread")));
    named.chain(rest).collect()
}

fn interrupts(host: &CellHost, record: &CellRecord) -> Result<Vec<String>, FileError> {
    let mut faults = Vec::new();
    for irq in irq::of_devices(&host.root)? {
        let here = irq::goes_to(&host.root, &irq).within(&record.set());
        if !here.is_empty() && !record.irqs_left.contains(&irq) {
            let name = irq::name(&host.root, &irq);
            faults.push(format!("interrupt {name} goes to {} again", here.named()));
        }
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_thread_is_distinguished_from_a_live_one() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        let write = |state: char, started: u32| {
            let rest = format!("1 1 0 -1 0{} {started} {}", " 0".repeat(12), "0 ".repeat(20));
            let stat = format!("10 (x) {state} 1 {rest}");
            seatmap_needs::plant(folder.path(), &[("proc/10/task/10/stat", &stat)]);
        };
        write('R', 7);
        let task = task::in_folder(&root, "/proc/10/task/10", 10).unwrap().unwrap();
        assert!(is_still_there(&root, &task));
        write('Z', 7);
        assert!(!is_still_there(&root, &task), "its parent has not asked how it ended");
        write('R', 8);
        assert!(!is_still_there(&root, &task), "the number is another thread's by now");
        std::fs::remove_file(root.path("/proc/10/task/10/stat")).unwrap();
        assert!(!is_still_there(&root, &task));
    }
}
