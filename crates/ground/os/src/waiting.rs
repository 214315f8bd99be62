//! Reasons for a thread's wait in the kernel.

use crate::Tid;
use crate::sched::Stat;
use crate::small::value_of;
use std::fs;

/// Kernel functions in which a thread in state `D` waits for another thread: a vfork(2) child or a
/// lock. Prefixes, because compilers append to names.
const FOR_THREADS: [&str; 9] = [
    "kernel_clone",
    "_do_fork",
    "wait_for_vfork_done",
    "rwsem_",
    "__mutex_lock",
    "mutex_lock",
    "__down",
    "do_exit",
    "exit_mm",
];

/// Functions of a wait in state `S` for any io_uring or io_submit(2) requests.
const FOR_REQUESTS: [&str; 2] = ["io_cqring_wait", "read_events"];

/// Whether a thread waits for a device: its state is `D` (proc_pid_stat(5)), and its kernel
/// function (proc_pid_wchan(5)), unless hidden, does not wait for a thread.
pub fn for_device(tid: Tid) -> bool {
    state(tid) == Some(b'D') && !is_in_one_of(&FOR_THREADS, &function(tid))
}

/// Whether a thread waits for its requests about files, sockets or timers. `None` if the kernel
/// hides a sleeping thread's function.
pub fn for_requests(tid: Tid) -> Option<bool> {
    if state(tid) != Some(b'S') {
        return Some(false);
    }
    let function = function(tid);
    // 0: the thread has just woken.
    (!function.is_empty()).then(|| is_in_one_of(&FOR_REQUESTS, &function))
}

fn state(tid: Tid) -> Option<u8> {
    let line = fs::read(format!("/proc/{tid}/task/{tid}/stat")).ok()?;
    Stat::parse(&line).map(|stat| stat.state)
}

fn function(tid: Tid) -> String {
    let function = fs::read(format!("/proc/{tid}/task/{tid}/wchan")).unwrap_or_default();
    String::from_utf8_lossy(&function).into_owned()
}

fn is_in_one_of(names: &[&str], function: &str) -> bool {
    names.iter().any(|name| function.starts_with(name))
}

/// Bytes read from and written to devices by a process (proc_pid_io(5)); `None` if unreadable, as
/// for other users. Cached writes count immediately.
pub fn device_bytes(pid: Tid) -> Option<u64> {
    bytes_in(&io(pid)?, ["read_bytes", "write_bytes"])
}

/// Bytes that a process passed to and from the kernel by read(2), write(2) and their kind, also
/// through pipes and sockets, but not by recv(2) and send(2); `None` as for [`device_bytes`].
pub fn passed_bytes(pid: Tid) -> Option<u64> {
    bytes_in(&io(pid)?, ["rchar", "wchar"])
}

fn io(pid: Tid) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/io")).ok()
}

fn bytes_in(text: &str, names: [&str; 2]) -> Option<u64> {
    let [read, written] = names.map(|name| value_of(text, name)?.parse::<u64>().ok());
    read?.checked_add(written?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `sh` uses vfork(2), and is in state `D` until the child's exec.
    #[test]
    fn shell_starting_programs_does_not_wait_for_devices() {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "for i in $(seq 100); do /bin/true; done"]);
        let mut shell = shell.spawn().unwrap();
        let tid = Tid::try_from(shell.id()).unwrap();
        let mut looks = 0;
        let mut waits = 0;
        while shell.try_wait().unwrap().is_none() {
            looks += 1;
            waits += u32::from(for_device(tid));
        }
        // The wait may end between reading two files.
        assert!(waits * 4 <= looks, "{waits} of {looks}");
    }

    #[test]
    fn wait_functions_match_by_prefix() {
        assert!(is_in_one_of(&FOR_REQUESTS, "io_cqring_wait.isra.0"));
        assert!(is_in_one_of(&FOR_THREADS, "rwsem_down_write_slowpath"));
        assert!(!is_in_one_of(&FOR_THREADS, "folio_wait_bit") && !is_in_one_of(&FOR_THREADS, "0"));
        assert!(!for_device(Tid::MAX) && for_requests(Tid::MAX) == Some(false));
    }

    #[test]
    fn sleeping_program_waits_for_no_request() {
        let mut sleeper = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let tid = Tid::try_from(sleeper.id()).unwrap();
        while state(tid) != Some(b'S') {
            std::thread::yield_now();
        }
        let waits = for_requests(tid) != Some(false) || for_device(tid);
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert!(!waits);
    }

    #[test]
    fn device_bytes_are_reads_plus_writes() {
        let text = "rchar: 9\nwchar: 8\nread_bytes: 40\nwrite_bytes: 2\ncancelled_write_bytes: 1\n";
        assert_eq!(bytes_in(text, ["read_bytes", "write_bytes"]), Some(42));
        assert_eq!(bytes_in(text, ["rchar", "wchar"]), Some(17));
        assert_eq!(bytes_in("read_bytes: 40\n", ["read_bytes", "write_bytes"]), None);
        assert_eq!(device_bytes(Tid::MAX), None);
    }
}
