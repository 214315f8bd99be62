//! Sets kernel switches for some candidates of a race, and always restores them.
//!
//! Each run sets and restores its switch. If this process is killed, a
//! [`guardian`] does.

use crate::tune::tuned::{CandidateSeats, Entrant, KernelSwitch};
use seatmap_data::document::Failure;
use seatmap_os::guardian::{self, Guardian, GuardianCommand};
use seatmap_os::rights;
use seatmap_os::root::{FileError, Root};
use seatmap_os::switches::{Switch, SwitchState};
use std::io;

fn absent(switch: Switch) -> Failure {
    let word = switch.word();
    Failure::work(format!(
        "this kernel has no setting for {switch}, or hides it from this user; leave --vary {word} \
         out"
    ))
}

fn refused(switch: Switch) -> impl FnOnce(FileError) -> Failure {
    let by = rights::as_root();
    let word = switch.word();
    Failure::work_at(format!("cannot change {switch}; run it {by}, or leave --vary {word} out"))
}

/// Kernel switches of a race, until this is dropped.
#[derive(Debug)]
pub struct Varied {
    root: Root,
    positions: Vec<(Switch, SwitchState)>,
    /// Taken when this is dropped.
    guardian: Option<Guardian>,
}

impl Varied {
    /// Finds the switches, and starts the guardian that restores them: this command must call
    /// [`serve`].
    ///
    /// # Errors
    /// [`Failure`]: no switch was set.
    pub fn begin(switches: &[Switch], command: &GuardianCommand) -> Result<Self, Failure> {
        let root = Root::new("/");
        let mut positions = Vec::with_capacity(switches.len());
        for switch in switches {
            let position = switch.find(&root).ok_or_else(|| absent(*switch))?;
            position.put_back(&root).map_err(refused(*switch))?;
            positions.push((*switch, position));
        }
        // The guardian must know the contents before the first switch is set.
        let lines: String =
            positions.iter().map(|(switch, position)| line(*switch, position)).collect();
        let guardian = posted(command, &lines).map_err(Failure::work_at(
            "cannot start the guardian, which restores kernel settings",
        ))?;
        Ok(Varied { root, positions, guardian: Some(guardian) })
    }

    /// A candidate for each switch: the opposite of its original setting.
    pub fn entrants(&self) -> impl Iterator<Item = Entrant> {
        self.positions.iter().map(|(switch, position)| {
            let on = !position.was_on;
            let setting = KernelSwitch { switch: switch.word().to_owned(), on };
            let name = format!("{switch} {}", if on { "on" } else { "off" });
            Entrant::new(name, CandidateSeats::Kernel(setting))
        })
    }

    /// Calls `work` while a switch has this setting.
    ///
    /// # Errors
    /// [`Failure`]: the switch is unknown, or the kernel refuses.
    pub fn with<T>(&self, setting: &KernelSwitch, work: impl FnOnce() -> T) -> Result<T, Failure> {
        let mut positions = self.positions.iter();
        let found = positions.find(|(switch, _)| switch.word() == setting.switch);
        let Some((switch, position)) = found else {
            // The error needs a switch, even for an unknown word.
            let switch = Switch::of_word(&setting.switch).unwrap_or(Switch::NumaBalancing);
            return Err(absent(switch));
        };
        let turned = position.turn(&self.root, setting.on);
        turned.map_err(refused(*switch))?;
        let done = work();
        let restored = position.put_back(&self.root);
        restored.map_err(refused(*switch))?;
        Ok(done)
    }
}

impl Drop for Varied {
    /// After a panic, the guardian restores the switches.
    fn drop(&mut self) {
        if let Some(guardian) = self.guardian.take() {
            guardian.end();
        }
    }
}

fn posted(command: &GuardianCommand, lines: &str) -> io::Result<Guardian> {
    let mut guardian = Guardian::post(&mut command.command()?)?;
    guardian.tell(lines)?;
    Ok(guardian)
}

fn line(switch: Switch, position: &SwitchState) -> String {
    format!("{} {}\n", switch.word(), position.original)
}

/// Runs a guardian that restores switches after its creator's end.
///
/// # Errors
/// The creator does not read that it is ready.
pub fn serve(root: &Root) -> io::Result<()> {
    let mut lines = Vec::new();
    guardian::attend(|line| {
        lines.push(line.to_owned());
        None
    })?;
    put_back(&lines, root);
    Ok(())
}

/// Restores the switches that differ from these lines.
fn put_back(lines: &[String], root: &Root) {
    for (word, found) in lines.iter().filter_map(|line| line.split_once(' ')) {
        let position = Switch::of_word(word).and_then(|switch| switch.find(root));
        if let Some(position) = position.filter(|position| position.original != found) {
            // There is no recipient for an error.
            let _ = root.write(position.file, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/proc/sys/kernel/numa_balancing";

    #[test]
    fn guardian_restores_kernel_switch() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        std::fs::create_dir_all(root.path(FILE).parent().unwrap()).unwrap();
        std::fs::write(root.path(FILE), "2\n").unwrap();
        let position = Switch::NumaBalancing.find(&root).unwrap();
        position.turn(&root, false).unwrap();
        assert_eq!(root.read(FILE).unwrap(), "0");
        let known = line(Switch::NumaBalancing, &position);
        let lines = ["nonsense", "no-switch 1", known.trim_end()].map(str::to_owned);
        put_back(&lines, &root);
        assert_eq!(root.read(FILE).unwrap(), "2");
    }

    #[test]
    fn absent_kernel_switch_is_named() {
        let error = absent(Switch::CacheAware).to_string();
        assert!(
            error.contains("cache-aware scheduling")
                && error.ends_with("leave --vary sched-cache out"),
            "{error}"
        );
    }
}
