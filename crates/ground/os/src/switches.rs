//! Switches of the kernel's scheduler, and turning them for a while.

use crate::kernel::{CACHE_AWARE, FEATURES, NUMA_BALANCING, feature, is_on};
use crate::root::{FileError, Root};
use std::fmt;

/// A part of the kernel that moves threads or memory, and can be switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// NUMA balancing: pages and threads move towards each other.
    NumaBalancing,
    /// Cache-aware scheduling (SCHED_CACHE, Linux 7.2): the threads of a process stay near one
    /// cache.
    CacheAware,
}

impl Switch {
    /// Every switch.
    pub const ALL: [Switch; 2] = [Switch::NumaBalancing, Switch::CacheAware];

    /// The word on the command line and in files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Switch::NumaBalancing => "numa-balancing",
            Switch::CacheAware => "sched-cache",
        }
    }

    /// The switch of this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Switch::ALL.into_iter().find(|switch| switch.word() == word)
    }

    /// The switch of this computer as it stands; `None` where its kernel has none, or does not show
    /// it to this user.
    #[must_use]
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

/// A switch as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchState {
    /// The file that holds it.
    pub file: &'static str,
    /// The text for off, and the text for on.
    texts: [String; 2],
    /// The text that puts it back.
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

    /// Turns the switch on or off. It is found again afterwards only by [`SwitchState::put_back`].
    ///
    /// # Errors
    /// [`FileError`]: EACCES and EPERM for users without root's rights.
    pub fn turn(&self, root: &Root, on: bool) -> Result<(), FileError> {
        let text = if on == self.was_on { &self.original } else { &self.texts[usize::from(on)] };
        root.write(self.file, text)
    }

    /// Puts the switch back as it was found.
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

    fn computer(file: &str, text: &str) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        std::fs::create_dir_all(root.path(file).parent().unwrap()).unwrap();
        std::fs::write(root.path(file), text).unwrap();
        (folder, root)
    }

    #[test]
    fn a_switch_comes_back_as_it_was_found() {
        // 2 is on, and another kind of it than 1.
        let (_folder, root) = computer(NUMA_BALANCING, "2\n");
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
    fn a_feature_of_the_scheduler_is_turned_by_its_name() {
        let (_folder, root) = computer(FEATURES, "GENTLE NO_SCHED_CACHE WAKEUP\n");
        let position = Switch::CacheAware.find(&root).unwrap();
        assert!(!position.was_on);
        position.turn(&root, true).unwrap();
        assert_eq!(root.read(FEATURES).unwrap(), "SCHED_CACHE");
        position.put_back(&root).unwrap();
        assert_eq!(root.read(FEATURES).unwrap(), "NO_SCHED_CACHE");
    }

    #[test]
    fn each_switch_has_a_word_of_its_own() {
        assert_eq!(Switch::ALL.map(|switch| Switch::of_word(switch.word())), Switch::ALL.map(Some));
        assert_eq!(Switch::of_word("sched_ext"), None);
    }
}
