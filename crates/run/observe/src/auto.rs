//! The choice of `auto`: wakeups and bytes, and shared pages as well where the program is told to
//! spin.

use crate::{Means, ObserveError, Session, Subject};
use seatmap_os::userfault;
use std::path::Path;

/// Variables that make the threads of a runtime spin instead of wait, with the word that does it:
/// OpenMP 5.2, 21.7; the manual of GCC's libgomp; LLVM's OpenMP runtime reference.
const SPINS: [(&str, &[&str]); 4] = [
    ("OMP_WAIT_POLICY", &["active"]),
    ("GOMP_SPINCOUNT", &["infinite", "infinity"]),
    ("KMP_BLOCKTIME", &["infinite", "infinity"]),
    ("KMP_LIBRARY", &["turnaround"]),
];

impl Session {
    /// Begins to observe by the best methods that are allowed, and tells why. The library is
    /// `libseatmap_trace`, or the reason why there is none.
    ///
    /// # Errors
    /// [`ObserveError`], as for [`Session::begin`].
    pub fn begin_auto(
        library: Result<&Path, String>,
        means: Means,
        subject: &Subject,
    ) -> Result<Self, ObserveError> {
        // Only a command gets this process's environment, and can load the library.
        let spins =
            matches!(subject, Subject::Command(_)).then(|| told_to_spin(own_variable)).flatten();
        let Some(setting) = spins else { return Session::begin(None, means, subject) };
        let library = library
            .and_then(|file| userfault::check().map(|()| file).map_err(|error| error.to_string()));
        match library {
            Ok(file) => {
                let reason = format!("pages, as {setting} makes threads spin");
                Session::begin_pages(file, means, subject, Some(&reason))
            }
            Err(reason) => {
                let mut session = Session::begin(None, means, subject)?;
                session.choose(format!("no pages, though {setting} makes threads spin: {reason}"));
                Ok(session)
            }
        }
    }
}

fn own_variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The setting by which an environment makes threads spin instead of wait, as `NAME=word`.
fn told_to_spin(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    SPINS.iter().find_map(|(name, words)| {
        // Case and blanks around a value do not count (OpenMP 5.2, chapter 21).
        let value = variable(name)?.trim().to_lowercase();
        words.contains(&value.as_str()).then(|| format!("{name}={value}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_that_spins_is_known() {
        let with = |name: &'static str, value: &'static str| {
            told_to_spin(move |asked| (asked == name).then(|| value.to_owned()))
        };
        assert_eq!(with("OMP_WAIT_POLICY", " ACTIVE"), Some("OMP_WAIT_POLICY=active".to_owned()));
        assert_eq!(with("GOMP_SPINCOUNT", "infinity"), Some("GOMP_SPINCOUNT=infinity".to_owned()));
        assert_eq!(with("OMP_WAIT_POLICY", "passive"), None);
        assert_eq!(with("GOMP_SPINCOUNT", "1000"), None);
        assert_eq!(told_to_spin(|_| None), None);
    }
}
