//! The tests restart themselves as another user, which requires root; otherwise they are skipped.

use crate::{ChoiceError, ProcessChoice, Seating, WatchOptions};
use seatmap_os::{Root, Tid};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output};
use std::time::Duration;

const NOBODY: u32 = 65534;

/// The process for the inner part of a test, which does nothing without it.
const WATCHED: &str = "SEATMAP_TEST_WATCHED";

const DONE: &str = "seen as nobody";

struct Living(Child);

impl Drop for Living {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

fn sleeper() -> Living {
    Living(Command::new("sleep").arg("600").spawn().unwrap())
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

fn failure(output: std::io::Result<Output>) -> Option<String> {
    match output {
        Err(error) => Some(format!("skipped: nobody may not run this test: {error}")),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr);
            (!text.contains(DONE)).then_some(text)
        }
    }
}

fn take(pid: Tid) -> Result<Seating, ChoiceError> {
    let options = WatchOptions { window: Duration::ZERO, ..WatchOptions::default() };
    Seating::take(&ProcessChoice::Processes { pids: vec![pid], with_children: false }, &options)
}

fn watched() -> Option<Tid> {
    std::env::var(WATCHED).ok()?.parse().ok()
}

#[test]
fn other_users_processes_are_partly_visible() {
    if !is_root() {
        return seatmap_needs::skipped!("it takes root to look as another user");
    }
    let child = sleeper();
    let mut inner = Command::new(std::env::current_exe().unwrap());
    inner
        .args(["--exact", "tests::unprivileged::inner_sees_other_users_partly", "--nocapture"])
        .env(WATCHED, child.0.id().to_string());
    match failure(inner.uid(NOBODY).gid(NOBODY).output()) {
        Some(text) if text.starts_with("skipped") => eprintln!("{text}"),
        other => assert_eq!(other, None),
    }
}

#[test]
fn inner_sees_other_users_partly() {
    let Some(pid) = watched() else { return };
    let seating = take(pid).unwrap();
    let thread = &seating.threads[0];
    let process = &seating.processes[0];
    assert!(
        !thread.mask.is_empty() && thread.wait_s.is_some() && process.user == Some(0),
        "{seating:?}"
    );
    assert!(
        process.program.is_none() && process.memory.is_none() && process.variables.is_empty(),
        "{seating:?}"
    );
    for what in ["environment", "memory", "program"] {
        let is_told =
            seating.unseen.iter().any(|unseen| unseen.what == what && unseen.pids == [pid]);
        assert!(is_told, "{what}: {:?}", seating.unseen);
    }
    println!("{DONE}");
}

#[test]
fn hidepid_mount_is_reported() {
    if !is_root() {
        return seatmap_needs::skipped!("it takes root to mount /proc");
    }
    let release = Root::new("/").read("/proc/sys/kernel/osrelease").unwrap();
    if release
        .split('.')
        .next()
        .and_then(|major| major.parse::<u32>().ok())
        .is_none_or(|major| major < 6)
    {
        return seatmap_needs::skipped!(
            "before Linux 5.8 such a mount would hide processes everywhere"
        );
    }
    let child = sleeper();
    // In a private mount namespace, so that other processes are not affected.
    let script = "mount -t proc -o hidepid=2 proc /proc || exit 77; \
        exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$0\" --exact tests::unprivileged::inner_sees_only_own_process --nocapture";
    let mut inner = Command::new("unshare");
    inner
        .args(["--mount", "--propagation", "private", "sh", "-c", script])
        .arg(std::env::current_exe().unwrap());
    match inner.env(WATCHED, child.0.id().to_string()).output() {
        Ok(output) if output.status.code() == Some(77) => {
            seatmap_needs::skipped!("/proc cannot be mounted here")
        }
        Ok(output) if output.status.code() == Some(126) => {
            seatmap_needs::skipped!("nobody may not run this test")
        }
        Err(error) => seatmap_needs::skipped!("there is no unshare: {error}"),
        output => assert_eq!(failure(output), None),
    }
}

#[test]
fn inner_sees_only_own_process() {
    let Some(pid) = watched() else { return };
    let hidden = take(pid).unwrap_err().to_string();
    assert!(hidden.starts_with(&format!("process {pid} cannot be seen")), "{hidden}");
    let own = take(Tid::try_from(std::process::id()).unwrap()).unwrap();
    assert!(
        own.unseen.iter().any(|unseen| unseen.what == "threads" && unseen.why.contains("hidepid=")),
        "{own:?}"
    );
    println!("{DONE}");
}
