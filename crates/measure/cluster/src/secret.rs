//! The secret that the ranks of one start share, and the proofs that a peer knows it.
//!
//! A caller at a port of a rank has to answer a number that was never used before with its HMAC-SHA256 (RFC 2104)
//! under the secret, and gets the same proof back. The secret itself never travels.

use hmac_sha256::HMAC;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// The fewest characters of a secret, which is not a password that people guess at.
const FEWEST: usize = 16;

/// A secret that all ranks know.
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
    /// It is too short.
    #[error("a secret has at least {FEWEST} characters, and {0} has {1}")]
    Short(String, usize),
    /// Its file cannot be read.
    #[error("the secret of {0}")]
    File(String, #[source] io::Error),
    /// Others may read its file.
    #[error("others than its owner may read {0}: chmod 600 {0}")]
    Open(String),
}

impl Secret {
    /// A secret from a text that somebody gave; `from` names it in errors.
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

    /// The secret in a file that only its owner may read.
    ///
    /// # Errors
    /// [`SecretError`].
    pub fn of_file(path: &Path) -> Result<Self, SecretError> {
        use std::os::unix::fs::MetadataExt;
        let name = path.display().to_string();
        let failed = |error| SecretError::File(name.clone(), error);
        if std::fs::metadata(path).map_err(failed)?.mode() & 0o077 != 0 {
            return Err(SecretError::Open(name));
        }
        Secret::given(&std::fs::read_to_string(path).map_err(failed)?, &name)
    }

    /// A new one.
    ///
    /// # Errors
    /// The kernel has no random numbers.
    pub fn new() -> io::Result<Self> {
        Ok(Secret(nonce()?.into_bytes()))
    }

    /// The text that goes into a file which only its owner may read.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    /// The proof of somebody in this role that it knows the secret, for these texts.
    #[must_use]
    pub fn proof(&self, role: &str, texts: &[&str]) -> String {
        let mut mac = HMAC::new(&self.0);
        for text in [role].iter().chain(texts) {
            // The length before each text: no two lists of texts give the same bytes.
            mac.update((text.len() as u64).to_be_bytes());
            mac.update(text);
        }
        hex(&mac.finalize())
    }

    /// Whether a proof is right. It takes as long for a wrong one, however much of it is right.
    #[must_use]
    pub fn accepts(&self, proof: &str, role: &str, texts: &[&str]) -> bool {
        let right = self.proof(role, texts);
        let differs = right.bytes().zip(proof.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
        right.len() == proof.len() && std::hint::black_box(differs) == 0
    }
}

/// A number that was never used before: 256 random bits.
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
        // Writing to a `String` does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_holds_for_its_secret_role_and_texts_alone() {
        let secret = Secret::given("sixteen letters!", "a test").unwrap();
        let proof = secret.proof("client", &["one", "two"]);
        assert!(secret.accepts(&proof, "client", &["one", "two"]));
        assert!(!secret.accepts(&proof, "server", &["one", "two"]));
        assert!(!secret.accepts(&proof, "client", &["onet", "wo"]), "texts do not run into each other");
        assert!(!secret.accepts(&proof[..60], "client", &["one", "two"]));
        assert!(!Secret::new().unwrap().accepts(&proof, "client", &["one", "two"]));
    }

    #[test]
    fn a_secret_that_is_short_or_open_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        assert!(Secret::given("short", "SEATMAP_SECRET").unwrap_err().to_string().contains("SEATMAP_SECRET has 5"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        std::fs::write(&path, "a secret of enough letters\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(Secret::of_file(&path), Err(SecretError::Open(_))));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(Secret::of_file(&path).unwrap().text(), "a secret of enough letters");
        assert_eq!(format!("{:?}", Secret::of_file(&path).unwrap()), "Secret(..)");
    }
}
