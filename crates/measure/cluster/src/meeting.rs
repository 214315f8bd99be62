//! Where the ranks find rank 0: a file that all of them see, or an address.
//!
//! The file is the simple way, as most clusters share a file system: rank 0 writes its addresses and a new secret into
//! it, only its owner may read it, and it goes when the ranks have met. With an address the secret has to come from
//! elsewhere: no port is ever open without one.

use crate::launcher::Rank;
use crate::secret::{Secret, SecretError};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where the ranks meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// A file that all nodes see.
    File(PathBuf),
    /// The host and port of rank 0.
    Address(String),
}

/// Why the ranks cannot meet.
#[derive(Debug, thiserror::Error)]
pub enum MeetingError {
    /// No secret is known, and the meeting place is an address.
    #[error(
        "a port that others reach needs a secret: set SEATMAP_SECRET, name a file with --secret-file, or meet by a file"
    )]
    Secret,
    /// The secret is none.
    #[error(transparent)]
    Bad(#[from] SecretError),
    /// The meeting file cannot be written.
    #[error("the meeting file {}", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// The port cannot be opened.
    #[error("rank 0 cannot listen at {0}")]
    Listen(String, #[source] io::Error),
    /// Rank 0 was found, and does not take this rank.
    #[error("rank 0 does not take this rank: {0}")]
    Refused(String),
    /// Rank 0 was not found in time.
    #[error("rank 0 was not found within {seconds} s: {why}")]
    Nobody {
        /// How long it was waited for.
        seconds: f64,
        /// The latest reason.
        why: String,
    },
}

/// The text of a meeting file.
#[derive(Serialize, Deserialize)]
struct Note {
    job: Option<String>,
    addresses: Vec<SocketAddr>,
    secret: String,
}

/// A file that is removed when this goes.
#[derive(Debug)]
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        // One that somebody has already removed needs no word.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Rank 0, waiting for the others.
#[derive(Debug)]
pub(crate) struct Host {
    pub listener: TcpListener,
    pub secret: Secret,
    _file: Option<Removed>,
}

impl Meeting {
    /// The place that was asked for, or the usual one: the address that torchrun's variables name, else a file in this
    /// folder.
    pub fn find(asked: Option<&str>, rank: &Rank, variable: impl Fn(&str) -> Option<String>) -> Self {
        let has_port = |text: &str| text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        match (asked, variable("MASTER_ADDR"), variable("MASTER_PORT")) {
            (Some(text), ..) if has_port(text) && !text.contains('/') => Meeting::Address(text.to_owned()),
            (Some(text), ..) => Meeting::File(text.into()),
            (None, Some(host), Some(port)) => Meeting::Address(format!("{host}:{port}")),
            _ => Meeting::File(
                match &rank.job {
                    // A job's name may hold anything; a file's name not.
                    Some(job) => {
                        format!(".seatmap-meeting-{}", job.replace(|each: char| !each.is_ascii_alphanumeric(), "-"))
                    }
                    None => ".seatmap-meeting".to_owned(),
                }
                .into(),
            ),
        }
    }

    /// Opens the meeting place, as rank 0.
    pub(crate) fn open(&self, rank: &Rank, secret: Option<Secret>) -> Result<Host, MeetingError> {
        match self {
            Meeting::Address(text) => {
                let secret = secret.ok_or(MeetingError::Secret)?;
                let port = text.rsplit_once(':').map_or("0", |(_, port)| port);
                let listener = listen(&format!("[::]:{port}")).or_else(|_| listen(&format!("0.0.0.0:{port}")));
                let listener = listener.map_err(|error| MeetingError::Listen(text.clone(), error))?;
                Ok(Host { listener, secret, _file: None })
            }
            Meeting::File(path) => {
                let failed = |error| MeetingError::File(path.clone(), error);
                let secret = secret.map_or_else(Secret::new, Ok).map_err(failed)?;
                let listener = listen("[::]:0").or_else(|_| listen("0.0.0.0:0"));
                let listener = listener.map_err(|error| MeetingError::Listen("any port".to_owned(), error))?;
                let port = listener.local_addr().map_err(failed)?.port();
                let addresses = seatmap_os::net::addresses().into_iter().map(|ip| SocketAddr::new(ip, port)).collect();
                let note = Note { job: rank.job.clone(), addresses, secret: secret.text() };
                let file = Removed(path.clone());
                write_note(path, &note).map_err(failed)?;
                Ok(Host { listener, secret, _file: Some(file) })
            }
        }
    }

    /// Finds rank 0, and returns what `greet` makes of a connection to it. A wrong place is left, and tried again until
    /// the time is over: a file of an earlier start may still be there.
    pub(crate) fn find_host<T>(
        &self,
        rank: &Rank,
        secret: Option<&Secret>,
        timeout: Duration,
        mut greet: impl FnMut(TcpStream, &Secret) -> Result<T, Greeting>,
    ) -> Result<T, MeetingError> {
        let (begun, mut why) = (Instant::now(), String::new());
        loop {
            match self.places(rank, secret) {
                Err(Place::Never(error)) => return Err(error),
                Err(Place::NotYet(text)) => why = text,
                Ok((places, secret)) => {
                    for place in places {
                        let stream = TcpStream::connect_timeout(&place, Duration::from_secs(2));
                        let greeted = stream.map_err(|error| Greeting::Again(error.to_string()));
                        match greeted.and_then(|stream| greet(stream, &secret)) {
                            Ok(done) => return Ok(done),
                            Err(Greeting::Again(text)) => why = format!("{place}: {text}"),
                            Err(Greeting::Never(text)) => return Err(MeetingError::Refused(text)),
                        }
                    }
                }
            }
            if begun.elapsed() >= timeout {
                return Err(MeetingError::Nobody { seconds: timeout.as_secs_f64(), why });
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn places(&self, rank: &Rank, secret: Option<&Secret>) -> Result<(Vec<SocketAddr>, Secret), Place> {
        match self {
            Meeting::Address(text) => {
                let secret = secret.cloned().ok_or(Place::Never(MeetingError::Secret))?;
                let places = text.to_socket_addrs().map_err(|error| Place::NotYet(format!("{text}: {error}")))?;
                Ok((places.collect(), secret))
            }
            Meeting::File(path) => {
                let not_yet = |why: String| Place::NotYet(format!("{}: {why}", path.display()));
                let text = std::fs::read_to_string(path).map_err(|error| not_yet(error.to_string()))?;
                let note: Note = serde_json::from_str(&text).map_err(|error| not_yet(error.to_string()))?;
                if note.job != rank.job {
                    return Err(not_yet("it is of another start".to_owned()));
                }
                let secret =
                    Secret::given(&note.secret, "the meeting file").map_err(|error| not_yet(error.to_string()))?;
                Ok((note.addresses, secret))
            }
        }
    }
}

/// Why a connection to rank 0 was of no use.
pub(crate) enum Greeting {
    /// Another try may do.
    Again(String),
    /// It will not.
    Never(String),
}

enum Place {
    NotYet(String),
    Never(MeetingError),
}

fn listen(address: &str) -> io::Result<TcpListener> {
    TcpListener::bind(address)
}

/// Only its owner may read it, and nobody sees half of it.
fn write_note(path: &Path, note: &Note) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    let beside = Removed(PathBuf::from(beside));
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside.0)?;
    file.write_all(serde_json::to_string(note).map_err(io::Error::other)?.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&beside.0, path)
}

/// An address without the form that IPv6 gives to those of IPv4.
pub(crate) fn plain(ip: IpAddr) -> IpAddr {
    ip.to_canonical()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(job: Option<&str>) -> Rank {
        Rank { rank: 1, size: 2, launcher: "environment", job: job.map(str::to_owned) }
    }

    #[test]
    fn the_place_is_the_one_asked_for_or_the_usual_one() {
        let none = |_: &str| None;
        let find = |asked| Meeting::find(asked, &rank(Some("7.0")), none);
        assert_eq!(find(Some("n0:4000")), Meeting::Address("n0:4000".to_owned()));
        assert_eq!(find(Some("./a:1")), Meeting::File("./a:1".into()));
        assert_eq!(find(None), Meeting::File(".seatmap-meeting-7-0".into()));
        let set = |name: &str| Some(if name == "MASTER_PORT" { "9" } else { "n1" }.to_owned());
        assert_eq!(Meeting::find(None, &rank(None), set), Meeting::Address("n1:9".to_owned()));
    }

    #[test]
    fn no_port_is_open_without_a_secret() {
        let place = Meeting::Address("127.0.0.1:0".to_owned());
        assert!(matches!(place.open(&rank(None), None), Err(MeetingError::Secret)));
        let found = place.find_host(&rank(None), None, Duration::ZERO, |_, _| Ok(()));
        assert!(matches!(found, Err(MeetingError::Secret)));
    }

    #[test]
    fn the_file_is_its_owners_and_goes_with_the_meeting() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("meeting");
        let place = Meeting::File(path.clone());
        let host = place.open(&rank(Some("a")), None).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let found = place.find_host(&rank(Some("a")), None, Duration::from_secs(5), |_, secret| Ok(secret.text()));
        assert_eq!(found.unwrap(), host.secret.text());
        let other = place.find_host(&rank(Some("b")), None, Duration::ZERO, |_, _| Ok(()));
        assert!(other.unwrap_err().to_string().ends_with("it is of another start"));
        drop(host);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
