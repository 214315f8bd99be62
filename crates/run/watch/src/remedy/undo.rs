//! The command that undoes a remedy.

use seatmap_data::words::joined;
use seatmap_os::sched::ThreadStatus;
use seatmap_os::{CpuSet, Root, Tid, task};

/// The most threads with single restore commands, because longer lines are not pasted.
const MOST_THREADS: usize = 8;

/// The command that restores the present state; `None` if unknown, or if the remedy does so itself.
pub fn undo_of(root: &Root, command: &str) -> Option<String> {
    let mut undone: Vec<String> =
        command.split("; ").map(|part| of_one(root, part)).collect::<Option<_>>()?;
    // A group accepts no larger quota than its parent's.
    undone.reverse();
    Some(undone.join("; "))
}

fn of_one(root: &Root, command: &str) -> Option<String> {
    if let Some((_, file)) = command.split_once(" > ") {
        return of_file(root, file);
    }
    let words: Vec<&str> = command.split(' ').collect();
    match words[..] {
        ["taskset", "-cp", _, tid] => rebind(root, tid.parse().ok()?),
        ["taskset", "-acp", _, pid] => rebind_all(root, pid.parse().ok()?),
        ["kill", "-CONT", pid] => Some(format!("kill -STOP {pid}")),
        ["migratepages", pid, from, to] => Some(format!("migratepages {pid} {to} {from}")),
        ["chrt", "--other", "-p", "0", tid] => policy(tid.parse().ok()?),
        _ => None,
    }
}

/// If the path needs no quotes.
fn of_file(root: &Root, file: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-@:".contains(&byte);
    if !file.bytes().all(is_plain) {
        return None;
    }
    let text = root.read(file).ok()?;
    let line = text.trim();
    let line = if line.contains(' ') { format!("'{line}'") } else { line.to_owned() };
    (!line.is_empty() && !line.contains('\n')).then(|| format!("echo {line} > {file}"))
}

fn mask(root: &Root, tid: Tid) -> Option<CpuSet> {
    let text = root.read(&format!("/proc/{tid}/status")).ok()?;
    ThreadStatus::parse(text.as_bytes()).mask()
}

fn rebind(root: &Root, tid: Tid) -> Option<String> {
    Some(format!("taskset -cp {} {tid}", mask(root, tid)?))
}

fn rebind_all(root: &Root, pid: Tid) -> Option<String> {
    let tasks = task::of_process(root, pid).ok()?;
    let threads: Vec<(Tid, CpuSet)> =
        tasks.iter().filter_map(|task| Some((task.tid, mask(root, task.tid)?))).collect();
    let (_, first) = threads.first()?;
    if threads.iter().all(|(_, mask)| mask == first) {
        return Some(format!("taskset -acp {first} {pid}"));
    }
    let each = threads.iter().map(|(tid, mask)| format!("taskset -cp {mask} {tid}"));
    (threads.len() <= MOST_THREADS).then(|| joined(each, "; "))
}

fn policy(tid: Tid) -> Option<String> {
    let (name, priority) = task::real_time_policy(tid)?;
    Some(format!("chrt --{name} -p {priority} {tid}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undo_restores_files_in_reverse_order() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        for (file, line) in [("outer", "50000 100000\n"), ("inner", "20000\n"), ("no", "")] {
            std::fs::write(folder.path().join(file), line).unwrap();
        }
        let undo = undo_of(&root, "echo max > /outer; echo 90000 > /inner");
        assert_eq!(undo.as_deref(), Some("echo 20000 > /inner; echo '50000 100000' > /outer"));
        for unknown in ["echo 1 > /no", "echo 1 > /absent", "echo 1 > '/a b'", "reboot"] {
            assert_eq!(undo_of(&root, unknown), None, "{unknown}");
        }
        assert_eq!(undo_of(&root, "echo 1 > /inner; reboot"), None, "all of it or nothing");
    }

    #[test]
    fn undo_restores_masks_and_stopped_state() {
        let root = Root::new("/");
        let mask = CpuSet::of_thread(0).unwrap();
        let tid = task::own_tid();
        let undo = undo_of(&root, &format!("taskset -cp 0 {tid}")).unwrap();
        assert_eq!(undo, format!("taskset -cp {mask} {tid}"));
        // Not this process, because threads of other tests have other masks.
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = child.id();
        let undo = undo_of(&root, &format!("taskset -acp 0 {pid}"));
        child.kill().and_then(|()| child.wait()).unwrap();
        assert_eq!(undo, Some(format!("taskset -acp {mask} {pid}")));
        assert_eq!(undo_of(&root, "kill -CONT 7").as_deref(), Some("kill -STOP 7"));
        assert_eq!(undo_of(&root, "migratepages 7 1 0").as_deref(), Some("migratepages 7 0 1"));
        assert_eq!(undo_of(&root, &format!("chrt --other -p 0 {tid}")), None, "it is ordinary");
    }
}
