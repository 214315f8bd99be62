//! The secret of the ranks of one start, and proofs of knowing it.
//!
//! A caller must answer a fresh number with its HMAC-SHA256 (RFC 2104) under the secret and
//! receives such a proof. The secret itself is never sent.

use crate::wire::is_same;
use hmac_sha256::HMAC;
use seatmap_os::trusted::{self, TrustError};
use std::fmt::Write;
use std::io;
use std::path::Path;

/// A secret must not be guessable like a password.
const FEWEST: usize = 16;

/// A secret shared by all ranks.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl std::fmt::Debug for Secret {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Secret(..)")
    }
}

/// Why there is no secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The secret is too short.
    #[error("{0} has {1} characters; a secret needs at least {FEWEST}")]
    Short(String, usize),
    /// The secret file cannot be read, or others can read or change it.
    #[error("cannot use the secret file")]
    File(#[source] TrustError),
    /// The secret is not text.
    #[error("the secret in {0} is not text")]
    NotText(String),
}

impl Secret {
    /// A given secret; `from` names its source in errors.
    ///
    /// # Errors
    /// [`SecretError::Short`].
    pub fn given(text: &str, from: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        if text.len() < FEWEST {
            return Err(SecretError::Short(from.to_owned(), text.len()));
        }
        Ok(Secret(text.as_bytes().to_vec()))
    }

    /// Reads a file that only its owner may read; checked and read on one open descriptor.
    ///
    /// # Errors
    /// [`SecretError`].
    pub fn of_file(path: &Path) -> Result<Self, SecretError> {
        let name = path.display().to_string();
        let bytes = trusted::read_secret(path).map_err(SecretError::File)?;
        let text = String::from_utf8(bytes).map_err(|_| SecretError::NotText(name.clone()))?;
        Secret::given(&text, &name)
    }

    /// Generates a secret.
    ///
    /// # Errors
    /// The kernel has no random numbers.
    pub fn new() -> io::Result<Self> {
        Ok(Secret(nonce()?.into_bytes()))
    }

    /// The text for a private file.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    /// Proves knowledge of the secret.
    pub fn proof(&self, role: &str, texts: &[&str]) -> String {
        hex(&self.mac(role, texts))
    }

    pub(crate) fn mac(&self, role: &str, texts: &[&str]) -> [u8; 32] {
        let mut mac = HMAC::new(&self.0);
        for text in [role].iter().chain(texts) {
            // The length comes first, so different lists have different bytes.
            mac.update((text.len() as u64).to_be_bytes());
            mac.update(text);
        }
        mac.finalize()
    }

    /// Checks a proof in constant time.
    pub fn accepts(&self, proof: &str, role: &str, texts: &[&str]) -> bool {
        is_same(self.proof(role, texts).as_bytes(), proof.as_bytes())
    }
}

/// 256 random bits.
///
/// # Errors
/// The kernel has no random numbers.
pub(crate) fn nonce() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(hex(&bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proof_holds_only_for_its_secret_role_and_texts() {
        let secret = Secret::given("sixteen letters!", "a test").unwrap();
        let proof = secret.proof("client", &["one", "two"]);
        assert!(secret.accepts(&proof, "client", &["one", "two"]));
        assert!(!secret.accepts(&proof, "server", &["one", "two"]));
        assert!(
            !secret.accepts(&proof, "client", &["onet", "wo"]),
            "texts do not run into each other"
        );
        assert!(!secret.accepts(&proof[..60], "client", &["one", "two"]));
        assert!(!Secret::new().unwrap().accepts(&proof, "client", &["one", "two"]));
    }

    #[test]
    fn short_or_readable_secret_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        assert!(
            Secret::given("short", "SEATMAP_SECRET")
                .unwrap_err()
                .to_string()
                .contains("SEATMAP_SECRET has 5")
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        std::fs::write(&path, "a secret of enough letters\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let refused = Secret::of_file(&path).unwrap_err();
        assert!(
            matches!(refused, SecretError::File(TrustError::Readable { mode: 0o644, .. })),
            "{refused:?}"
        );
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(Secret::of_file(&path).unwrap().text(), "a secret of enough letters");
        assert_eq!(format!("{:?}", Secret::of_file(&path).unwrap()), "Secret(..)");
    }
}
