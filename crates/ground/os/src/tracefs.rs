//! The kernel's tracing files (tracefs), mounted at their usual path or for this process alone.

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Unless a container hides it.
const USUAL_PLACE: &str = "/sys/kernel/tracing";

/// A tracefs.
#[derive(Debug)]
pub struct Tracefs {
    folder: PathBuf,
    /// A mount without a path, removed when dropped.
    _mount: Option<OwnedFd>,
}

impl Tracefs {
    /// Opens the usual tracefs, or else mounts one for this process.
    ///
    /// # Errors
    /// The kernel's: EPERM without CAP_SYS_ADMIN if none is mounted, ENODEV without tracing.
    pub fn open() -> io::Result<Self> {
        let usual = PathBuf::from(USUAL_PLACE);
        if usual.join("events").is_dir() {
            return Ok(Tracefs { folder: usual, _mount: None });
        }
        let opened = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&opened)?;
        let mount = fsmount(&opened, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?;
        let folder = PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()));
        Ok(Tracefs { folder, _mount: Some(mount) })
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A tracepoint by group and name: `sched/sched_waking`.
    ///
    /// # Errors
    /// The kernel's: ENOENT for an unknown tracepoint, EACCES if it is not readable.
    pub fn tracepoint(&self, name: &str) -> io::Result<Tracepoint> {
        let folder = self.folder.join("events").join(name);
        let text = std::fs::read_to_string(folder.join("id"))?;
        let number = text
            .trim()
            .parse()
            .map_err(|_| io::Error::other("a tracepoint's ID is not a number"))?;
        Ok(Tracepoint { number, format: std::fs::read_to_string(folder.join("format"))? })
    }
}

/// A tracepoint: its number and the layout of its records.
#[derive(Debug)]
pub struct Tracepoint {
    /// Its number for perf_event_open(2).
    pub number: u64,
    format: String,
}

impl Tracepoint {
    /// A field's offset and size in a record, in bytes.
    pub fn field(&self, name: &str) -> Option<(usize, usize)> {
        let line = self.format.lines().find(|line| {
            let declared =
                line.trim().strip_prefix("field:").and_then(|line| line.split(';').next());
            let last = declared.and_then(|declared| declared.rsplit(' ').next());
            last.is_some_and(|last| last.split('[').next() == Some(name))
        })?;
        Some((number(line, "offset:")?, number(line, "size:")?))
    }
}

fn number(line: &str, key: &str) -> Option<usize> {
    line.split(';').find_map(|part| part.trim().strip_prefix(key)?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracepoint_fields_have_offset_and_size() {
        let format = "name: sched_waking\nID: 321\nformat:\n\
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
            \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
            \tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n";
        let tracepoint = Tracepoint { number: 321, format: format.to_owned() };
        assert_eq!(tracepoint.field("pid"), Some((24, 4)));
        assert_eq!(tracepoint.field("comm"), Some((8, 16)));
        assert_eq!(tracepoint.field("prio"), None);
    }

    #[test]
    fn tracepoints_of_this_kernel_have_numbers() {
        let tracefs = match Tracefs::open() {
            Ok(tracefs) => tracefs,
            Err(error) => return seatmap_needs::skipped!("no tracefs here: {error}"),
        };
        let tracepoint = tracefs.tracepoint("sched/sched_waking").unwrap();
        assert!(
            tracepoint.number > 0 && tracepoint.field("pid").is_some_and(|(_, size)| size == 4)
        );
        assert!(tracefs.tracepoint("sched/no_such_thing").is_err());
    }
}
