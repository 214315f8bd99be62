//! A written account can be read back and decays meanwhile; invalid files are rejected.

use super::*;
use proptest::prelude::*;
use seatmap_cell::GuardianCommand;
use seatmap_cell::run_folder::RunFolder;
use seatmap_data::document::schema::{never_written, refused};
use seatmap_os::Root;
use serde_json::{Value, json};

fn host(folder: &tempfile::TempDir, boot: &str) -> CellHost {
    let run = RunFolder::new(folder.path()).unwrap();
    CellHost {
        root: Root::new("/"),
        run,
        boot_id: boot.to_owned(),
        keeper: GuardianCommand(Vec::new()),
    }
}

#[test]
fn saved_usage_is_restored_and_decays() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(&folder, "now");
    assert_eq!(read(&host, 5).unwrap(), UserUsage::since(5), "there is no file yet");
    let mut usage = UserUsage::since(1000);
    usage.pass(61_000, &[(7, 2), (8, 1)].into());
    write(&host, &usage).unwrap();
    let mut again = read(&host, 61_000).unwrap();
    let halved = 61_000 + HALF_LIFE_MS as u64;
    [&mut usage, &mut again].into_iter().for_each(|usage| usage.pass(halved, &BTreeMap::new()));
    assert!((again.of(7) - usage.of(7)).abs() < 1e-3 && again.of(7) > again.of(8));
}

#[test]
fn foreign_or_stale_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    write(&host(&folder, "then"), &UserUsage::at(10, [(7, 1e6)].into())).unwrap();
    let now = host(&folder, "now");
    let told = |host: &CellHost| read(host, 1000).unwrap_err().to_string();
    assert!(told(&now).ends_with(
        "controller.usage: is from another boot; the users' recent CPU time restarts at zero"
    ));
    let put = |text: &str| std::fs::write(folder.path().join(FILE), text).unwrap();
    for (text, why) in [
        ("", "EOF while parsing a value"),
        ("{\"format\":\"seatmap-us", "EOF while parsing a string"),
        ("\0\u{fffd}", "expected value"),
        ("[]", "invalid length 0, expected struct UsageFile"),
        (
            r#"{"format":"seatmap-usage/2","boot_id":"now","at_ms":1,"cpu_us":{}}"#,
            "must be \"seatmap-usage/1\"",
        ),
        (
            r#"{"format":"seatmap-usage/1","boot_id":"now","at_ms":1001,"cpu_us":{}}"#,
            "has lasted 1000 ms",
        ),
        (
            r#"{"format":"seatmap-usage/1","boot_id":"now","at_ms":1,"cpu_us":{"7":-1}}"#,
            "invalid value: integer `-1`",
        ),
        (
            r#"{"format":"seatmap-usage/1","boot_id":"now","at_ms":1,"cpu_us":{"x":1}}"#,
            "expected key to be a number in quotes",
        ),
        (
            r#"{"format":"seatmap-usage/1","boot_id":"now","at_ms":1,"cpu_us":{"7":1e300}}"#,
            "invalid type: floating point `1e+300`",
        ),
        (
            r#"{"format":"seatmap-usage/1","boot_id":"now","at_ms":1,"cpu_us":{"7":18446744073709551615}}"#,
            "user 7",
        ),
    ] {
        put(text);
        assert!(told(&now).contains(why), "{text}: {}", told(&now));
    }
    std::fs::remove_file(folder.path().join(FILE)).unwrap();
    std::fs::create_dir(folder.path().join(FILE)).unwrap();
    assert!(told(&now).contains("cannot read"));
}

proptest! {
    #[test]
    fn round_trip_keeps_usage(
        at_ms in 0u64..1 << 50,
        more_ms in 0u64..1 << 30,
        of in prop::collection::btree_map(any::<u32>(), 0.0..MOST_CPU_MS, 0..20),
    ) {
        let usage = UserUsage::at(at_ms, of);
        let account = UsageFile::of(&usage, "now");
        let text = serde_json::to_vec(&account).unwrap();
        let back: UsageFile = serde_json::from_slice(&text).unwrap();
        let again = back.usage(at_ms + more_ms).unwrap();
        prop_assert_eq!(&back, &account);
        prop_assert_eq!(again.at_ms(), at_ms);
        for (uid, cpu_ms) in usage.of_all() {
            prop_assert!((again.of(*uid) - cpu_ms).abs() <= 1e-3, "{} and {cpu_ms}", again.of(*uid));
        }
        prop_assert_eq!(UsageFile::of(&again, "now"), account);
    }

    #[test]
    fn reader_survives_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(account) = serde_json::from_slice::<UsageFile>(&bytes) {
            let _ = account.usage(u64::MAX);
        }
    }
}

/// The JSON Schema of accounts.
fn schema() -> Value {
    serde_json::from_str(include_str!(
        "../../../../docs/papers/formats/seatmap-usage-1.schema.json"
    ))
    .unwrap()
}

#[test]
fn accounts_have_exactly_the_schema_keys() {
    let usage = UserUsage::at(61_000, [(0, 0.25), (4_294_967_295, 1e11)].into());
    let document = serde_json::to_value(UsageFile::of(&usage, "a-boot")).unwrap();
    assert_eq!(refused(&schema(), &document), [""; 0]);
    assert_eq!(never_written(&schema(), std::slice::from_ref(&document)), [""; 0]);
    for (key, wrong) in [
        ("more", json!(1)),
        ("cpu_us", json!({"x": 1})),
        ("cpu_us", json!({"7": -1})),
        ("at_ms", json!(0.5)),
    ] {
        let mut wrong_one = document.clone();
        wrong_one[key] = wrong;
        assert!(!refused(&schema(), &wrong_one).is_empty(), "{wrong_one}");
    }
}
