//! Small files of `/proc` and `/sys`.

use std::path::Path;

/// The trimmed text of a file; `None` if missing, unreadable or empty.
pub fn read(path: impl AsRef<Path>) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    let text = text(&bytes);
    (!text.is_empty()).then_some(text)
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().trim_end_matches('\0').to_owned()
}

/// The value after `key :`, as in `/proc/cpuinfo`.
pub fn value_of(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim().to_owned())
    })
}
