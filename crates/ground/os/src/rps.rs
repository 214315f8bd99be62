//! Receive packet steering: the CPUs that process packets of a network card's queue
//! (Documentation/networking/scaling.rst).

use crate::bytes::unsigned;
use crate::root::{FileError, Root};

const FOLDER: &str = "/sys/class/net";

/// A queue's CPU mask. Zero means that the interrupted CPU processes the packets.
const FILE: &str = "rps_cpus";

/// The files of all queues, sorted; empty without steering.
///
/// # Errors
/// [`FileError`]: a folder exists but cannot be read.
pub fn files(root: &Root) -> Result<Vec<String>, FileError> {
    let mut files = Vec::new();
    for card in root.folders(FOLDER)? {
        let queues = format!("{FOLDER}/{card}/queues");
        for queue in root.folders(&queues)? {
            let file = format!("{queues}/{queue}/{FILE}");
            if root.has(&file) {
                files.push(file);
            }
        }
    }
    Ok(files)
}

/// Whether a path could be such a file; it need not exist.
pub fn is_file(path: &str) -> bool {
    let parts: Vec<&str> = path
        .strip_prefix(FOLDER)
        .and_then(|rest| rest.strip_prefix('/'))
        .unwrap_or("")
        .split('/')
        .collect();
    let [card, "queues", queue, FILE] = parts[..] else { return false };
    let number = queue.strip_prefix("rx-").unwrap_or("");
    unsigned(number.as_bytes()).is_some() && !card.is_empty() && card != "." && card != ".."
}

/// Names a file's queue: `eth0 rx-0`.
pub fn queue(file: &str) -> String {
    let mut parts = file.strip_prefix(FOLDER).unwrap_or(file).split('/').skip(1);
    let card = parts.next().unwrap_or_default();
    format!("{card} {}", parts.nth(1).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::{with_files, write};

    #[test]
    fn only_receive_queues_are_found() {
        let (_folder, root) = with_files(&[]);
        assert_eq!(files(&root).unwrap(), [""; 0]);
        let file = "/sys/class/net/eth0/queues/rx-0/rps_cpus";
        for path in [file, "/sys/class/net/eth0/queues/tx-0/xps_cpus"] {
            write(&root, path, "0\n");
        }
        assert_eq!(files(&root).unwrap(), [file]);
        assert!(is_file(file));
        assert_eq!(queue(file), "eth0 rx-0");
        for path in [
            "/sys/class/net/eth0/queues/tx-0/rps_cpus",
            "/sys/class/net/../queues/rx-0/rps_cpus",
            "/sys/class/net/eth0/x/queues/rx-0/rps_cpus",
            "/sys/class/net/eth0/queues/rx-/rps_cpus",
            "/etc/passwd",
            "",
        ] {
            assert!(!is_file(path), "{path}");
        }
    }
}
