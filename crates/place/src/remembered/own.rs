//! Files that nobody but root and this user can have written or redirected.
//!
//! This is the reading half of what `seatmap_host::trusted` does for programs that write: libraries read the remembered
//! profile too, and depend on nothing that knows the host.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Those who may write besides the owner.
const OTHERS: u32 = 0o022;

/// In such a folder only the owner of a file renames or removes it.
const STICKY: u32 = 0o1000;

/// What stands in a file.
///
/// # Errors
/// What the kernel says; or the file is a link, or the file or a folder on the way to it is another user's, or others may
/// write it.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let path = std::path::absolute(path)?;
    let folder = path.parent().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
    let user = fs::metadata("/proc/self")?.uid();
    if !fs::symlink_metadata(folder)?.is_dir() {
        return Err(refused(folder, "is a symbolic link; name a real folder"));
    }
    check_own(folder, user)?;
    let (typed, real) = (folder.ancestors().skip(1), fs::canonicalize(folder)?);
    for above in typed.chain(real.ancestors().skip(1)) {
        check_above(above, user)?;
    }
    check_file(&path, &fs::symlink_metadata(&path)?, user)?;
    let mut file = File::open(&path)?;
    // What was looked at may have been replaced meanwhile.
    check_file(&path, &file.metadata()?, user)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn check_own(folder: &Path, user: u32) -> io::Result<()> {
    let found = fs::symlink_metadata(folder)?;
    match found.uid() == user {
        true => check_mode(folder, &found),
        false => Err(foreign(folder, found.uid())),
    }
}

fn check_above(path: &Path, user: u32) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    check_owner(path, &found, user)?;
    let is_kept = found.mode() & STICKY != 0 && found.uid() == 0;
    if found.is_symlink() || is_kept { Ok(()) } else { check_mode(path, &found) }
}

fn check_file(path: &Path, found: &Metadata, user: u32) -> io::Result<()> {
    if !found.is_file() || found.nlink() > 1 {
        return Err(refused(path, "is a link or a special file and could lead elsewhere; remove it"));
    }
    check_owner(path, found, user)?;
    check_mode(path, found)
}

fn check_owner(path: &Path, found: &Metadata, user: u32) -> io::Result<()> {
    match found.uid() {
        0 => Ok(()),
        owner if owner == user => Ok(()),
        owner => Err(foreign(path, owner)),
    }
}

fn foreign(path: &Path, owner: u32) -> io::Error {
    refused(path, &format!("belongs to user {owner}, who can change it; name a folder of your own"))
}

fn check_mode(path: &Path, found: &Metadata) -> io::Result<()> {
    match found.mode() & OTHERS {
        0 => Ok(()),
        _ => Err(refused(path, &format!("can be written by other users; run 'chmod go-w {}'", path.display()))),
    }
}

fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("'{}' {why}", PathBuf::from(path).display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    fn chmod(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn refusal(path: &Path) -> String {
        read(path).unwrap_err().to_string()
    }

    #[test]
    fn only_a_file_that_is_safe_all_the_way_up_is_read() {
        let base = tempfile::tempdir().unwrap();
        let (own, file) = (base.path().join("own"), base.path().join("own/file"));
        fs::create_dir(&own).unwrap();
        fs::write(&file, "text").unwrap();
        chmod(&own, 0o755);
        chmod(&file, 0o644);
        assert_eq!(read(&file).unwrap(), b"text");
        assert!(read(&own.join("absent")).is_err_and(|error| error.kind() == io::ErrorKind::NotFound));
        for (path, mode, usual) in [(&own, 0o775, 0o755), (&own, 0o1777, 0o755), (&file, 0o646, 0o644)] {
            chmod(path, mode);
            assert!(refusal(&file).contains("can be written by other users; run 'chmod go-w"), "{mode:o}");
            chmod(path, usual);
        }
        assert_eq!(read(&file).unwrap(), b"text");
    }

    #[test]
    fn links_are_not_followed() {
        let base = tempfile::tempdir().unwrap();
        let (own, file) = (base.path().join("own"), base.path().join("own/file"));
        fs::create_dir(&own).unwrap();
        fs::write(&file, "text").unwrap();
        symlink(&own, base.path().join("folder")).unwrap();
        assert!(refusal(&base.path().join("folder/file")).contains("is a symbolic link; name a real folder"));
        symlink(&file, own.join("link")).unwrap();
        assert!(refusal(&own.join("link")).contains("is a link or a special file"));
        fs::hard_link(&file, own.join("second")).unwrap();
        assert!(refusal(&file).contains("is a link or a special file"));
        assert!(refusal(&own).contains("is a link or a special file"));
    }

    #[test]
    fn another_users_file_or_folder_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let (own, file) = (base.path().join("own"), base.path().join("own/file"));
        fs::create_dir(&own).unwrap();
        fs::write(&file, "text").unwrap();
        for path in [&file, &own] {
            if chown(path, Some(65_534), None).is_err() {
                return eprintln!("skipped: only root gives files to another user");
            }
            assert!(refusal(&file).contains("belongs to user 65534"), "{}", refusal(&file));
            chown(path, Some(0), None).unwrap();
        }
        assert_eq!(read(&file).unwrap(), b"text");
    }
}
