//! A traced thread gains no rights, and cannot have a second tracer.

use crate::executable;
use seatmap_os::Tid;
use serde::Serialize;
use std::path::Path;

const TRACERS: [&str; 6] = ["gdb", "gdbserver", "lldb-server", "ltrace", "rr", "strace"];

/// Hampered programs' files, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hampered {
    /// Programs that ran without their set-user-ID or set-group-ID rights.
    pub unprivileged: Vec<String>,
    /// Programs that trace others, which the kernel refuses here.
    pub tracers: Vec<String>,
}

impl Hampered {
    pub(crate) fn note(&mut self, tid: Tid, path: &Path) {
        if path.file_name().is_some_and(|name| TRACERS.iter().any(|tracer| name == *tracer)) {
            add(&mut self.tracers, path);
        }
        if lost_rights(tid) {
            add(&mut self.unprivileged, path);
        }
    }

    pub(crate) fn sentences(&self) -> impl Iterator<Item = String> {
        let unprivileged = self.unprivileged.iter().map(|program| {
            format!(
                "{program} ran without the rights of its file (set-user-ID or set-group-ID), which \
                 the kernel denies to traced programs"
            )
        });
        let tracers = self.tracers.iter().map(|program| {
            format!(
                "{program} may have failed to trace its program: Seatmap traces the threads, and a \
                 thread has only one tracer; run it without Seatmap, or use --match alone"
            )
        });
        unprivileged.chain(tracers)
    }
}

fn add(to: &mut Vec<String>, path: &Path) {
    let path = path.display().to_string();
    if !to.contains(&path) {
        to.push(path);
    }
}

/// Root's programs keep theirs.
fn lost_rights(tid: Tid) -> bool {
    // SAFETY: neither call can fail or touches anything.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    // Through the link, because the file may have been replaced since.
    user != 0
        && std::fs::metadata(format!("/proc/{tid}/exe"))
            .is_ok_and(|found| executable::lends_rights(&found, user, group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hampered_programs_are_reported_once() {
        let mut hampered = Hampered::default();
        for path in ["/usr/bin/strace", "/usr/bin/strace", "/opt/gdb"] {
            add(&mut hampered.tracers, Path::new(path));
        }
        add(&mut hampered.unprivileged, Path::new("/usr/bin/su"));
        insta::assert_snapshot!(hampered.sentences().collect::<Vec<_>>().join("\n"), @r"
        /usr/bin/su ran without the rights of its file (set-user-ID or set-group-ID), which the kernel denies to traced programs
        /usr/bin/strace may have failed to trace its program: Seatmap traces the threads, and a thread has only one tracer; run it without Seatmap, or use --match alone
        /opt/gdb may have failed to trace its program: Seatmap traces the threads, and a thread has only one tracer; run it without Seatmap, or use --match alone
        ");
    }

    #[test]
    fn ordinary_program_is_not_hampered() {
        let mut hampered = Hampered::default();
        hampered.note(std::process::id() as Tid, &std::env::current_exe().unwrap());
        assert_eq!(hampered, Hampered::default());
    }
}
