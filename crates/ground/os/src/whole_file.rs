//! Result files, replaced atomically or written continuously, and never redirected by another user.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Component, Path, PathBuf};

/// Linux's limit (path_resolution(7)).
const MOST_LINKS: usize = 40;

/// Replaces a file atomically, by renaming a temporary file next to it, even if the writer dies.
///
/// The mode stays, and the owner if possible, so the same users can read it. A new file gets the
/// umask's mode. A symbolic link is replaced; [`behind_links`] resolves it.
///
/// # Errors
/// The system's; the old file is then unchanged.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let old = fs::symlink_metadata(path).ok().filter(Metadata::is_file);
    if let Some(old) = &old {
        check_in_shared_folder(path, old)?;
    }
    let mode = if old.is_some() { 0o600 } else { 0o666 };
    let mut file = tempfile::Builder::new()
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder_of(path))
        .map_err(|error| without_path(&error))?;
    file.write_all(content)?;
    if let Some(old) = old {
        // Only root can give files away; others keep the new file.
        let _ = fchown(file.as_file(), Some(old.uid()), Some(old.gid()));
        // After fchown(2), which clears privileged mode bits.
        file.as_file().set_permissions(Permissions::from_mode(old.permissions().mode() & 0o777))?;
    }
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Checks a folder by creating and removing a file.
///
/// # Errors
/// The system's.
pub fn check_takes_files(folder: &Path) -> io::Result<()> {
    tempfile::NamedTempFile::new_in(folder).map(drop).map_err(|error| without_path(&error))
}

/// Drops the temporary file's name.
fn without_path(error: &io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            let words = "this user cannot create files in its folder; choose another folder";
            io::Error::new(error.kind(), words)
        }
        kind => {
            let cause = error.get_ref().and_then(|inner| inner.source());
            let cause = cause.and_then(|cause| cause.downcast_ref::<io::Error>());
            let number = cause.and_then(io::Error::raw_os_error);
            number.map_or_else(|| kind.into(), io::Error::from_raw_os_error)
        }
    }
}

/// Resolves links to the file behind a name, existing or not. `None` if they lead through `/proc`,
/// as `/dev/stdout` does: an open file cannot be replaced.
///
/// Follows only links made by root or this user, as the kernel does in folders like `/tmp`
/// (`fs.protected_symlinks`, proc(5)): another user's could redirect the result to any writable
/// file.
///
/// # Errors
/// A link cannot be read or is another user's, or there are too many.
pub fn behind_links(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut names: Vec<OsString> = Vec::new();
    let mut reached = PathBuf::from("/");
    let mut links = 0;
    push_names(&mut names, &std::path::absolute(path)?);
    while let Some(name) = names.pop() {
        if name == ".." {
            reached.pop();
            continue;
        }
        let next = reached.join(&name);
        if next.starts_with("/proc") {
            return Ok(None);
        }
        let Some(link) = fs::symlink_metadata(&next).ok().filter(Metadata::is_symlink) else {
            reached = next;
            continue;
        };
        check_link(&next, &link)?;
        links += 1;
        if links > MOST_LINKS {
            return Err(io::Error::other("too many levels of symbolic links"));
        }
        let target = fs::read_link(&next)?;
        if target.is_absolute() {
            reached = PathBuf::from("/");
        }
        push_names(&mut names, &target);
    }
    Ok(Some(if links == 0 { path.to_owned() } else { reached }))
}

/// The first name ends on top.
pub(crate) fn push_names(names: &mut Vec<OsString>, path: &Path) {
    names.extend(path.components().rev().filter_map(|component| match component {
        Component::Normal(_) | Component::ParentDir => Some(component.as_os_str().to_owned()),
        _ => None,
    }));
}

/// A link with a second name may come from any user.
fn check_link(path: &Path, link: &Metadata) -> io::Result<()> {
    if is_trusted(link.uid()) && link.nlink() == 1 {
        return Ok(());
    }
    let words = format!(
        "'{}' is a symbolic link of user {}, who can redirect it; name its target instead",
        path.display(),
        link.uid()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, words))
}

fn is_trusted(uid: u32) -> bool {
    uid == 0 || uid == rustix::process::geteuid().as_raw()
}

/// Refuses another user's file or pipe in a shared folder like `/tmp`, because its creator chose
/// who can read the result. The folder's owner may have files there.
fn check_in_shared_folder(path: &Path, found: &Metadata) -> io::Result<()> {
    let folder = fs::metadata(folder_of(path))?;
    let is_shared = folder.mode() & 0o002 != 0 || folder.mode() & 0o1020 == 0o1020;
    if !is_shared || is_trusted(found.uid()) || found.uid() == folder.uid() {
        return Ok(());
    }
    let words = format!(
        "'{}' belongs to user {}, in a folder that other users can write; choose another name or \
         folder",
        path.display(),
        found.uid()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, words))
}

/// Checks an existing file, pipe or device before writing or replacing it.
///
/// # Errors
/// Another user put it into a shared folder.
pub fn check_writable(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) => check_in_shared_folder(path, &found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Opens a file, pipe or device for continuous writing, and creates or empties a file. Links are
/// followed as in [`behind_links`]; the check uses the descriptor.
///
/// # Errors
/// The system's, or another user could have chosen the target.
pub fn create(path: &Path) -> io::Result<File> {
    let file = opened(path, File::options().write(true))?;
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(file)
}

/// Opens a file to read and append, like [`create`] without emptying it.
///
/// # Errors
/// As [`create`].
pub fn append(path: &Path) -> io::Result<File> {
    opened(path, File::options().read(true).append(true))
}

fn opened(path: &Path, how: &mut OpenOptions) -> io::Result<File> {
    how.create(true).custom_flags(libc::O_NOCTTY);
    let Some(place) = behind_links(path)? else { return how.open(path) };
    // Before opening too: that blocks for a pipe without a reader.
    check_writable(&place)?;
    let file = how.custom_flags(libc::O_NOFOLLOW | libc::O_NOCTTY).open(&place)?;
    let found = file.metadata()?;
    check_in_shared_folder(&place, &found)?;
    if found.is_file() {
        // In this user's own folder, second names are harmless.
        if found.nlink() > 1 && fs::metadata(folder_of(&place))?.mode() & 0o022 != 0 {
            let words = "has a second hard link, which any user could have created here; remove it";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, words));
        }
    }
    Ok(file)
}

/// The folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn replaced_file_keeps_its_mode_without_leftovers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, "old").unwrap();
        for kept in [0o664, 0o600, 0o755] {
            fs::set_permissions(&path, Permissions::from_mode(kept)).unwrap();
            replace(&path, b"new").unwrap();
            assert_eq!((mode(&path), fs::read(&path).unwrap()), (kept, b"new".to_vec()));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn unfollowed_link_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [link, target] = ["link", "target"].map(|name| folder.path().join(name));
        fs::write(&target, "old").unwrap();
        symlink("target", &link).unwrap();
        replace(&link, b"new").unwrap();
        assert!(!fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"old");
    }

    #[test]
    fn links_are_followed_to_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        symlink("sub/two", at("one")).unwrap();
        symlink("../three", at("sub/two")).unwrap();
        let found = behind_links(&at("one")).unwrap().unwrap();
        replace(&found, b"new").unwrap();
        assert_eq!(
            fs::read(at("three")).unwrap(),
            b"new",
            "a link whose end does not exist yet makes it"
        );
        symlink("round", at("round")).unwrap();
        assert!(behind_links(&at("round")).unwrap_err().to_string().contains("too many"));
        assert_eq!(behind_links(&at("three")).unwrap(), Some(at("three")));
    }

    /// `None` if this user cannot make another user's files.
    fn shared(mode: u32) -> Option<tempfile::TempDir> {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "theirs").unwrap();
        fs::write(at("precious"), "own").unwrap();
        symlink("precious", at("link")).unwrap();
        symlink(".", at("folder")).unwrap();
        for name in ["file", "link", "folder"] {
            if std::os::unix::fs::lchown(at(name), Some(65_534), None).is_err() {
                seatmap_needs::skipped!("only root gives files to another user");
                return None;
            }
        }
        Some(folder)
    }

    #[test]
    fn links_of_others_in_shared_folders_are_refused() {
        for mode in [0o1777, 0o777, 0o1775] {
            let Some(folder) = shared(mode) else { return };
            let at = |name: &str| folder.path().join(name);
            for name in ["link", "folder/new", "folder/precious"] {
                for refused in [behind_links(&at(name)).err(), create(&at(name)).err()] {
                    assert!(
                        refused.unwrap().to_string().contains("a symbolic link of user 65534"),
                        "{name}"
                    );
                }
            }
            for refused in [
                check_writable(&at("file")),
                create(&at("file")).map(drop),
                replace(&at("file"), b"x"),
            ] {
                assert!(refused.unwrap_err().to_string().contains("belongs to user 65534"));
            }
            assert_eq!(
                [fs::read(at("file")).unwrap(), fs::read(at("precious")).unwrap()],
                [&b"theirs"[..], b"own"]
            );
            create(&at("new")).and_then(|mut file| file.write_all(b"new")).unwrap();
            replace(&at("precious"), b"newer").unwrap();
        }
        // Only the owner creates files there, so root may write them.
        let Some(folder) = shared(0o755) else { return };
        create(&folder.path().join("file")).unwrap();
    }

    #[test]
    fn hard_linked_file_in_shared_folder_is_not_truncated() {
        let folder = tempfile::tempdir().unwrap();
        let [file, second] = ["file", "second"].map(|name| folder.path().join(name));
        fs::write(&file, "own").unwrap();
        fs::hard_link(&file, &second).unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o1777)).unwrap();
        assert!(create(&second).unwrap_err().to_string().contains("a second hard link"));
        assert_eq!(fs::read(&file).unwrap(), b"own");
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        create(&second).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"");
    }

    #[test]
    fn devices_are_written_and_own_links_followed() {
        create(Path::new("/dev/null")).and_then(|mut file| file.write_all(b"gone")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        symlink("target", folder.path().join("link")).unwrap();
        create(&folder.path().join("link")).and_then(|mut file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read(folder.path().join("target")).unwrap(), b"new");
    }

    #[test]
    fn open_descriptor_has_no_name_to_replace() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("stdout");
        symlink("/proc/self/fd/1", &link).unwrap();
        assert_eq!(behind_links(&link).unwrap(), None);
    }
}
