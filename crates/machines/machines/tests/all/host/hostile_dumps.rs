//! Hostile dumps: reading any dump ends in bounded memory with a topology or an error.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::host::judge::written::Files;
use bzip2::Compression;
use bzip2::read::BzEncoder;
use proptest::prelude::*;
use seatmap_machines::host::topology::{GatherError, read_folder, read_gathered};
use std::io::Read;
use tar::{Builder, EntryType, Header};

fn packed(tar: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    BzEncoder::new(tar, Compression::fast()).read_to_end(&mut bytes).unwrap();
    bytes
}

fn archive(entries: &[(EntryType, &str, &str)]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (kind, path, text) in entries {
        let mut header = Header::new_gnu();
        header.set_entry_type(*kind);
        // Bypasses the builder's checks, which refuse the paths under test.
        header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
        header.set_mode(0o644);
        match kind {
            EntryType::Symlink | EntryType::Link => {
                header.as_mut_bytes()[157..157 + text.len()].copy_from_slice(text.as_bytes());
                header.set_size(0);
            }
            _ => header.set_size(text.len() as u64),
        }
        header.set_cksum();
        let data = if matches!(kind, EntryType::Regular) { *text } else { "" };
        builder.append(&header, data.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

const FILE: EntryType = EntryType::Regular;
const ONLINE: &str = "pc/sys/devices/system/cpu/online";

fn refusal(bytes: &[u8]) -> String {
    read_gathered(bytes).unwrap_err().to_string()
}

#[test]
fn tar_and_packed_archives_are_read() {
    let tar = archive(&[
        (FILE, ONLINE, "0-3\n"),
        (FILE, "./pc//sys/devices/system/node/node0/cpumap", "f\n"),
    ]);
    let gathered = read_gathered(&tar).unwrap();
    let pus = &gathered.topology.pus;
    assert_eq!((pus.len(), pus[3].numa), (4, Some(0)));
    assert_eq!(read_gathered(&packed(&tar)).unwrap(), gathered);
}

#[test]
fn invalid_dump_is_refused() {
    assert!(refusal(b"").starts_with("the file is empty"));
    assert!(refusal(b"PK\x03\x04 zip").starts_with("this is not a tar archive"));
    assert!(refusal(&archive(&[(FILE, "readme", "hello")])).contains("has no folder 'sys'"));
    assert!(refusal(&archive(&[(FILE, "sys/x", "")])).contains("lists no online CPU"));
    for path in ["../sys/x", "pc/../../sys", "/../etc"] {
        assert!(refusal(&archive(&[(FILE, path, "")])).contains("leads out of"), "{path}");
    }
    let deep = "a/".repeat(49);
    assert!(refusal(&archive(&[(FILE, &deep, "")])).contains("no folder 'sys'"));
}

#[test]
fn truncated_archives_are_errors() {
    let tar = archive(&[(FILE, ONLINE, "0-3\n"), (FILE, "pc/proc/cpuinfo", &"x".repeat(3000))]);
    let packed = packed(&tar);
    let broken = |bytes: &[u8]| matches!(read_gathered(bytes), Err(GatherError::Broken(_)));
    assert!(
        (4..packed.len()).all(|length| broken(&packed[..length])),
        "a cut archive is known to be one"
    );
    (0..tar.len()).step_by(61).for_each(|length| drop(read_gathered(&tar[..length])));
}

#[test]
fn links_stay_in_the_archive() {
    let link = EntryType::Symlink;
    let entries = [
        (link, ONLINE, "../../../../lists/online"),
        (FILE, "pc/lists/online", "0-1"),
        (link, "pc/proc/self", "/proc/99"),
        (FILE, "pc/proc/99/cpuset", "/job"),
        (EntryType::Link, "pc/dev/cpuset/job/cpus", "pc/lists/online"),
        (link, "pc/sys/devices/system/cpu/cpu0/topology", "/etc"),
        (FILE, "pc/sys/devices/system/cpu/cpu1/online", "1"),
        (link, "pc/sys/devices/system/node", "node"),
    ];
    assert_eq!(read_gathered(&archive(&entries)).unwrap().topology.pus.len(), 2);
    let outside = [(link, ONLINE, "/sys/devices/system/cpu/online"), (FILE, "pc/sys/x", "")];
    assert!(refusal(&archive(&outside)).contains("lists no online CPU"));
}

#[test]
fn decompression_bomb_is_refused() {
    let mut header = Header::new_gnu();
    header.set_path(ONLINE).unwrap();
    header.set_size(2 << 30);
    header.set_cksum();
    // Several packed parts, one after the other, unpack to one file.
    let mut bomb = packed(header.as_bytes());
    let zeros = packed(&vec![0; 16 << 20]);
    (0..128).for_each(|_| bomb.extend_from_slice(&zeros));
    assert!(bomb.len() < 1 << 20, "{}", bomb.len());
    assert!(matches!(read_gathered(&bomb), Err(GatherError::TooLarge)));
}

fn any_text() -> impl Strategy<Value = String> {
    let hex = "[0-9a-f]{0,9}(,[0-9a-f]{8}){0,3}";
    let list = "[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,3}){0,4}";
    let lines = "([0-9]*:[a-z]{0,6}:[/.a-z]{0,9}\n){0,3}";
    prop_oneof![
        hex,
        list,
        lines,
        "[ -~\n]{0,30}",
        Just("Architecture: ppc".to_owned()),
        Just("cpu".to_owned())
    ]
}

fn any_path() -> impl Strategy<Value = String> {
    let of_cpu = "sys/devices/system/cpu/cpu[0-3]/(topology/(core|cluster|die|package)_cpus|topology/core_id|\
                  topology/physical_package_id|cache/index[0-2]/(level|type|shared_cpu_map)|cpu_capacity|online)";
    let of_all = "sys/devices/system/(cpu/online|node/online)|\
                  sys/devices/system/node/node[0-2]/(cpumap|distance|access0/initiators/node0)|\
                  sys/devices/cpu_(core|atom)/cpus|proc/(cpuinfo|mounts|hwloc-nofile-info|self/(cpuset|cgroup))|\
                  dev/cpuset/(a/)?(cpus|mems)|\
                  proc/device-tree/cpus/[a-c]/(device_type|phandle|reg|l2-cache|d-cache-size)";
    prop_oneof![of_cpu, of_all]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reader_survives_any_archive_bytes(
        bytes in prop::collection::vec(any::<u8>(), 0..2000), at in 0usize..2000, value in any::<u8>(),
    ) {
        let _ = read_gathered(&bytes);
        let tar = archive(&[(FILE, ONLINE, "0-3\n"), (EntryType::Symlink, "pc/proc/self", "1")]);
        let mut damaged = packed(&tar);
        let length = damaged.len();
        damaged[at % length] = value;
        let _ = read_gathered(&damaged);
        let mut damaged = tar;
        damaged[at] = value;
        let _ = read_gathered(&damaged);
    }

    #[test]
    fn reader_survives_any_file_text(
        texts in prop::collection::btree_map(any_path(), any_text(), 0..60), some in any::<bool>(),
    ) {
        let mut files = if some { Files::of_pus(&[0, 1, 2, 3]) } else { Files::default() };
        texts.iter().for_each(|(path, text)| files.put(path, text.clone()));
        let folder = seatmap_needs::many_files();
        files.write(folder.path()).unwrap();
        if let Ok(gathered) = read_folder(folder.path()) {
            let topology = gathered.topology;
            prop_assert!(!topology.pus.is_empty());
            prop_assert!(topology.pus.is_sorted_by_key(|pu| pu.os));
        }
    }
}
