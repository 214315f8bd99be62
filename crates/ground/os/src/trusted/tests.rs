//! Attacks on a trusted folder, and on the path to it.

use super::*;
use std::fs as plain;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, chown, symlink};

fn scene() -> (tempfile::TempDir, PathBuf) {
    let base = tempfile::tempdir().unwrap();
    let own = base.path().join("own");
    plain::create_dir(&own).unwrap();
    chmod(&own, 0o755);
    (base, own)
}

fn chmod(path: &Path, mode: u32) {
    plain::set_permissions(path, plain::Permissions::from_mode(mode)).unwrap();
}

fn text(mut file: plain::File) -> String {
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    text
}

/// If not, reports a skipped test.
fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        seatmap_needs::skipped!("only root gives folders to another user");
    }
    is_root
}

const NOBODY: u32 = 65_534;

#[test]
fn folder_is_created_private() {
    let (_base, own) = scene();
    let path = own.join("a/b");
    assert!(TrustedFolder::open(&path).unwrap_err().is_absent());
    let folder = TrustedFolder::create(&path).unwrap();
    assert_eq!(folder.path(), path);
    assert_eq!(plain::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(TrustedFolder::open(&path).is_ok());
}

#[test]
fn files_are_kept_emptied_appended_replaced_and_removed() {
    let (_base, own) = scene();
    let folder = TrustedFolder::open(&own).unwrap();
    assert!(folder.file("a", Open::Read).unwrap_err().is_absent());
    assert!(folder.file("a", Open::Append).unwrap_err().is_absent());
    folder.file("a", Open::New).unwrap().write_all(b"one").unwrap();
    assert!(folder.file("a", Open::New).is_err());
    folder.file("a", Open::Append).unwrap().write_all(b" two").unwrap();
    assert_eq!(text(folder.file("a", Open::Keep).unwrap()), "one two");
    assert_eq!(text(folder.file("a", Open::Empty).unwrap()), "");
    folder.replace("a", b"three").unwrap();
    assert_eq!(text(folder.file("a", Open::Read).unwrap()), "three");
    assert_eq!(folder.names().unwrap(), ["a"]);
    folder.remove("a").and_then(|()| folder.remove("a")).unwrap();
    assert_eq!(folder.names().unwrap(), [""; 0]);
}

#[test]
fn file_name_cannot_leave_the_folder() {
    let (_base, own) = scene();
    let folder = TrustedFolder::open(&own).unwrap();
    for name in ["../a", "/etc/hostname", "..", ".", "", "a/b", "a/"] {
        assert!(matches!(folder.file(name, Open::Read), Err(TrustError::NotAName(_))), "{name}");
    }
}

#[test]
fn linked_folder_is_refused() {
    let (base, own) = scene();
    let link = base.path().join("link");
    symlink(&own, &link).unwrap();
    for found in [TrustedFolder::open(&link), TrustedFolder::create(&link)] {
        assert!(matches!(found, Err(TrustError::NotAFolder(path)) if path == link));
    }
    let file = own.join("file");
    plain::write(&file, "").unwrap();
    assert!(matches!(TrustedFolder::create(&file), Err(TrustError::NotAFolder(_))));
}

#[test]
fn link_above_is_followed_only_if_trusted() {
    let (base, own) = scene();
    let safe = base.path().join("safe");
    let open = base.path().join("open");
    plain::create_dir(&open).unwrap();
    for link in [&safe, &open.join("link")] {
        symlink(&own, link).unwrap();
    }
    assert!(TrustedFolder::create(&safe.join("a")).is_ok());
    assert!(own.join("a").is_dir(), "where the link leads");
    chmod(&open, 0o1777);
    assert!(TrustedFolder::open(&open.join("link/a")).is_err(), "anybody can make links there");
    symlink("circle", base.path().join("circle")).unwrap();
    let told = TrustedFolder::open(&base.path().join("circle/a")).unwrap_err().to_string();
    assert!(told.contains("symbolic links"), "{told}");
}

#[test]
fn folder_writable_by_others_is_refused_anywhere_on_path() {
    let (_base, own) = scene();
    let deep = own.join("deep");
    plain::create_dir(&deep).unwrap();
    for mode in [0o775, 0o757] {
        chmod(&own, mode);
        let told = TrustedFolder::open(&deep).unwrap_err().to_string();
        let path = own.display();
        let mode = format!("{mode:04o}");
        let wanted = format!(
            "can write '{path}' (mode {mode}); run 'chmod go-w {path}' or name another folder"
        );
        assert_eq!(told, format!("other users {wanted}"));
        assert!(matches!(TrustedFolder::open(&own), Err(TrustError::Writable { .. })));
    }
    chmod(&own, 0o1777);
    assert!(
        matches!(TrustedFolder::open(&own), Err(TrustError::Writable { .. })),
        "sticky is for folders above"
    );
    assert_eq!(
        TrustedFolder::open(&deep).is_ok(),
        rustix::process::geteuid().is_root(),
        "and for root's alone"
    );
}

#[test]
fn folder_of_another_user_is_refused_anywhere_on_path() {
    if !is_root() {
        return;
    }
    let (_base, own) = scene();
    plain::create_dir(own.join("deep")).unwrap();
    chown(&own, Some(NOBODY), Some(NOBODY)).unwrap();
    for path in [own.clone(), own.join("deep"), own.join("new")] {
        let told = TrustedFolder::create(&path).unwrap_err().to_string();
        let wanted =
            "belongs to user 65534, who can change its contents; name a folder of your own";
        assert_eq!(told, format!("'{}' {wanted}", own.display()));
    }
    assert!(!own.join("new").exists());
}

#[test]
fn shared_folder_is_reached_only_by_trusted_path() {
    let (base, own) = scene();
    let shared = own.join("shared");
    let link = base.path().join("link");
    plain::create_dir(&shared).unwrap();
    chmod(&shared, 0o777);
    symlink(&shared, &link).unwrap();
    assert!(reach(&shared).is_ok());
    assert!(matches!(reach(&link), Err(TrustError::NotAFolder(_))));
    chmod(&own, 0o777);
    assert!(matches!(reach(&shared), Err(TrustError::Writable { .. })));
}

#[test]
fn links_and_special_files_are_not_opened() {
    let (base, own) = scene();
    let folder = TrustedFolder::open(&own).unwrap();
    let target = base.path().join("target");
    plain::write(&target, "precious").unwrap();
    symlink(&target, own.join("link")).unwrap();
    symlink(base.path().join("missing"), own.join("dangling")).unwrap();
    plain::hard_link(&target, own.join("hard")).unwrap();
    rustix::fs::mknodat(&folder, "pipe", fs::FileType::Fifo, fs::Mode::RWXU, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(own.join("socket")).unwrap();
    for name in ["link", "dangling", "hard", "pipe", "socket"] {
        for how in [Open::Read, Open::Keep, Open::Empty, Open::Append] {
            let found = [folder.file(name, how), open(&own.join(name), how)];
            for error in found.map(Result::unwrap_err) {
                assert!(
                    matches!(&error, TrustError::NotAFile(path) if *path == own.join(name)),
                    "{name} {how:?} {error}"
                );
            }
        }
        assert!(folder.file(name, Open::New).is_err());
    }
    folder.replace("link", b"new").unwrap();
    assert_eq!(
        text(folder.file("link", Open::Read).unwrap()),
        "new",
        "the link went, not its target"
    );
    assert_eq!(plain::read_to_string(&target).unwrap(), "precious");
    assert!(!base.path().join("missing").exists());
}

#[test]
fn files_writable_or_owned_by_others_are_not_opened() {
    let (_base, own) = scene();
    let folder = TrustedFolder::open(&own).unwrap();
    let file = own.join("a");
    plain::write(&file, "kept").unwrap();
    chmod(&file, 0o666);
    assert!(matches!(folder.file("a", Open::Empty), Err(TrustError::Writable { mode: 0o666, .. })));
    chmod(&file, 0o644);
    assert!(folder.file("a", Open::Read).is_ok());
    if is_root() {
        chown(&file, Some(NOBODY), Some(NOBODY)).unwrap();
        assert!(matches!(
            folder.file("a", Open::Empty),
            Err(TrustError::Foreign { owner: NOBODY, .. })
        ));
    }
    assert_eq!(plain::read_to_string(&file).unwrap(), "kept");
}

#[test]
fn secret_must_be_private_and_not_a_link() {
    let (base, own) = scene();
    let file = own.join("secret");
    plain::write(&file, "sesame").unwrap();
    chmod(&file, 0o600);
    assert_eq!(read_secret(&file).unwrap(), b"sesame");
    for mode in [0o640, 0o604] {
        chmod(&file, mode);
        assert!(
            matches!(read_secret(&file), Err(TrustError::Readable { mode: found, .. }) if found == mode)
        );
    }
    chmod(&file, 0o600);
    let link = base.path().join("link");
    symlink(&file, &link).unwrap();
    assert!(matches!(read_secret(&link), Err(TrustError::NotAFile(_))));
    plain::write(&file, vec![b'x'; 1 << 17]).unwrap();
    assert!(matches!(read_secret(&file), Err(TrustError::TooLong(_))));
    if is_root() {
        chown(&file, Some(NOBODY), Some(NOBODY)).unwrap();
        assert!(matches!(read_secret(&file), Err(TrustError::Foreign { owner: NOBODY, .. })));
    }
}

#[test]
fn private_folder_is_created_inside_any_folder() {
    let (_base, own) = scene();
    chmod(&own, 0o777);
    let folder = own.join("traces");
    private_folder(&folder).and_then(|()| private_folder(&folder)).unwrap();
    assert_eq!(plain::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    chmod(&folder, 0o770);
    assert!(matches!(private_folder(&folder), Err(TrustError::Writable { .. })));
    symlink(&own, own.join("link")).unwrap();
    assert!(matches!(private_folder(&own.join("link")), Err(TrustError::NotAFolder(_))));
    if is_root() {
        chown(&folder, Some(NOBODY), None).unwrap();
        assert!(matches!(private_folder(&folder), Err(TrustError::Foreign { .. })));
    }
}

/// Then the file is trusted.
#[test]
fn command_in_error_removes_the_excess_rights() {
    let (_base, own) = scene();
    let folder = own.join("Zoë's two words");
    plain::create_dir(&folder).unwrap();
    let execute = |error: TrustError| {
        let sentence = error.to_string();
        let (_, rest) = sentence.split_once("run '").unwrap();
        let command = rest
            .split_once("' or ")
            .map_or_else(|| rest.strip_suffix('\'').unwrap(), |(command, _)| command);
        assert!(
            std::process::Command::new("sh").args(["-c", command]).status().unwrap().success(),
            "{command}"
        );
    };
    chmod(&folder, 0o777);
    execute(TrustedFolder::open(&folder).unwrap_err());
    let trusted = TrustedFolder::open(&folder).unwrap();
    let file = folder.join("secret");
    plain::write(&file, "sesame").unwrap();
    chmod(&file, 0o666);
    execute(trusted.file("secret", Open::Read).unwrap_err());
    trusted.file("secret", Open::Read).unwrap();
    execute(read_secret(&file).unwrap_err());
    assert_eq!(read_secret(&file).unwrap(), b"sesame");
}

/// In two containers, processes may share a number.
#[test]
fn replacing_leaves_files_of_other_writers() {
    let (_base, own) = scene();
    let folder = TrustedFolder::open(&own).unwrap();
    let next = REPLACED.load(Ordering::Relaxed);
    let theirs: Vec<PathBuf> = (next..next + 20)
        .map(|count| own.join(format!(".{}.{count}.new", std::process::id())))
        .collect();
    theirs.iter().for_each(|path| plain::write(path, "theirs").unwrap());
    folder.replace("a", b"ours").unwrap();
    assert_eq!(text(folder.file("a", Open::Read).unwrap()), "ours");
    assert!(theirs.iter().all(|path| plain::read(path).unwrap() == b"theirs"));
}
