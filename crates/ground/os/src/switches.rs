//! Scheduler settings of the kernel, changed temporarily.

use crate::kernel::{CACHE_AWARE, FEATURES, NUMA_BALANCING, feature, is_on};
use crate::root::{FileError, Root};
use std::fmt;

/// A kernel mechanism that moves threads or memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Switch {
    /// NUMA balancing: moves pages and threads towards each other.
    NumaBalancing,
    /// Cache-aware scheduling (SCHED_CACHE, Linux 7.2): keeps a process's threads near one cache.
    CacheAware,
}

impl Switch {
    /// All switches.
    pub const ALL: [Switch; 2] = [Switch::NumaBalancing, Switch::CacheAware];

    /// Its name on the command line and in files.
    pub fn word(self) -> &'static str {
        match self {
            Switch::NumaBalancing => "numa-balancing",
            Switch::CacheAware => "sched-cache",
        }
    }

    /// The switch with this name.
    pub fn of_word(word: &str) -> Option<Self> {
        Switch::ALL.into_iter().find(|switch| switch.word() == word)
    }

    /// Its present state; `None` if unsupported or unreadable.
    pub fn find(self, root: &Root) -> Option<SwitchState> {
        let numbers = ["0", "1"].map(str::to_owned);
        match self {
            Switch::NumaBalancing => SwitchState::of_file(root, NUMA_BALANCING, numbers),
            Switch::CacheAware => SwitchState::of_file(root, CACHE_AWARE, numbers).or_else(|| {
                let was_on = feature(&root.read(FEATURES).ok()?, "SCHED_CACHE")?;
                let texts = ["NO_SCHED_CACHE", "SCHED_CACHE"].map(str::to_owned);
                let original = texts[usize::from(was_on)].clone();
                Some(SwitchState { file: FEATURES, texts, original, was_on })
            }),
        }
    }
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Switch::NumaBalancing => "NUMA balancing",
            Switch::CacheAware => "cache-aware scheduling",
        })
    }
}

/// A switch's original state.
#[derive(Debug, PartialEq)]
pub struct SwitchState {
    /// Its file.
    pub file: &'static str,
    /// For off and for on.
    texts: [String; 2],
    /// Text that restores it.
    pub original: String,
    /// Whether it was on.
    pub was_on: bool,
}

impl SwitchState {
    fn of_file(root: &Root, file: &'static str, texts: [String; 2]) -> Option<Self> {
        let original = root.read(file).ok()?;
        let was_on = is_on(&original)?;
        Some(SwitchState { file, texts, original, was_on })
    }

    /// Turns the switch on or off. Only [`SwitchState::put_back`] restores it.
    ///
    /// # Errors
    /// [`FileError`]: EACCES and EPERM without root's rights.
    pub fn turn(&self, root: &Root, on: bool) -> Result<(), FileError> {
        let text = if on == self.was_on { &self.original } else { &self.texts[usize::from(on)] };
        root.write(self.file, text)
    }

    /// Restores the original state.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn put_back(&self, root: &Root) -> Result<(), FileError> {
        root.write(self.file, &self.original)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::with_files;

    #[test]
    fn switch_is_restored_to_its_old_value() {
        // 2 is another mode, also on.
        let (_folder, root) = with_files(&[(NUMA_BALANCING, "2\n")]);
        let position = Switch::NumaBalancing.find(&root).unwrap();
        assert!(position.was_on);
        for (on, text) in [(false, "0"), (true, "2")] {
            position.turn(&root, on).unwrap();
            assert_eq!(root.read(NUMA_BALANCING).unwrap(), text);
        }
        position.turn(&root, false).unwrap();
        position.put_back(&root).unwrap();
        assert_eq!(root.read(NUMA_BALANCING).unwrap(), "2");
        assert_eq!(Switch::CacheAware.find(&root), None);
    }

    #[test]
    fn scheduler_feature_is_switched_by_name() {
        let (_folder, root) = with_files(&[(FEATURES, "GENTLE NO_SCHED_CACHE WAKEUP\n")]);
        let position = Switch::CacheAware.find(&root).unwrap();
        assert!(!position.was_on);
        position.turn(&root, true).unwrap();
        assert_eq!(root.read(FEATURES).unwrap(), "SCHED_CACHE");
        position.put_back(&root).unwrap();
        assert_eq!(root.read(FEATURES).unwrap(), "NO_SCHED_CACHE");
    }

    #[test]
    fn each_switch_has_a_unique_word() {
        assert_eq!(Switch::ALL.map(|switch| Switch::of_word(switch.word())), Switch::ALL.map(Some));
        assert_eq!(Switch::of_word("sched_ext"), None);
    }
}
