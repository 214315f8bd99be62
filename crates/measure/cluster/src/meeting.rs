//! How ranks find rank 0: through a shared file or at an address.
//!
//! Rank 0 writes its addresses and a new secret into it, readable only by its owner, and removes it
//! afterwards. Another user's file is rejected: its writer would act as rank 0. An address needs a
//! secret from elsewhere. Rank 0 opens only that address, or all if the host's name means loopback
//! here.

use crate::gate::Gate;
use crate::handshake::{ConnectionPurpose, HandshakeError};
use crate::launcher::Rank;
use crate::secret::{Secret, SecretError};
use seatmap_data::document::{Blame, json_problem};
use seatmap_os::trusted::{self, TrustError};
use seatmap_os::whole_file::folder_of;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How the ranks meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// A file on a shared file system.
    File(PathBuf),
    /// The host and port of rank 0.
    Address(String),
}

/// Why the ranks cannot meet.
#[derive(Debug, thiserror::Error)]
pub enum MeetingError {
    /// An address needs a secret, and none is set.
    #[error(
        "a port open to others needs a secret: set SEATMAP_SECRET or --secret-file, or meet \
         through a file"
    )]
    Secret,
    /// The secret is invalid.
    #[error(transparent)]
    Bad(#[from] SecretError),
    /// The meeting file cannot be written.
    #[error("cannot use the meeting file {}", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// Another user wrote the meeting file, or could have.
    #[error("the meeting file is not trusted; choose another place with --meet")]
    Untrusted(#[source] TrustError),
    /// The port cannot be opened.
    #[error("rank 0 cannot listen on {0}, which must be an address of its own node")]
    Listen(String, #[source] io::Error),
    /// Rank 0 refuses this rank.
    #[error("cannot join rank 0: {0}")]
    Refused(String),
    /// Rank 0 was not found in time.
    #[error("rank 0 was not found within {seconds} s: {why}")]
    Nobody {
        /// How long this rank waited.
        seconds: f64,
        /// Latest reason.
        why: String,
    },
}

impl Blame for MeetingError {
    fn is_input(&self) -> bool {
        matches!(
            self,
            MeetingError::Secret
                | MeetingError::Bad(_)
                | MeetingError::File(..)
                | MeetingError::Untrusted(_)
        )
    }
}

#[derive(Serialize, Deserialize)]
struct Note {
    job: Option<String>,
    addresses: Vec<SocketAddr>,
    secret: String,
}

#[derive(Debug)]
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        // It may already be removed.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[derive(Debug)]
pub(crate) struct MeetingHost {
    /// A port on each address of the meeting place.
    pub listeners: Vec<TcpListener>,
    pub secret: Secret,
    _file: Option<Removed>,
}

impl MeetingHost {
    /// The address at which rank 0 joins its meeting, on the other ranks' interface.
    pub fn address(&self) -> io::Result<SocketAddr> {
        let first = self.listeners.first().ok_or(io::ErrorKind::NotConnected)?.local_addr()?;
        if !first.ip().is_unspecified() {
            return Ok(first);
        }
        // Loopback is the last choice: this rank's own port opens at the address from which it
        // connects (`Worker::introduce`), and other nodes must reach it.
        let ip = seatmap_os::net::addresses().into_iter().next();
        Ok(SocketAddr::new(ip.unwrap_or(Ipv4Addr::LOCALHOST.into()), first.port()))
    }

    pub fn gate<T: DeserializeOwned>(&self, purpose: ConnectionPurpose) -> io::Result<Gate<T>> {
        let ports: io::Result<_> = self.listeners.iter().map(TcpListener::try_clone).collect();
        Gate::new(ports?, &self.secret, purpose)
    }
}

impl Meeting {
    /// By default torchrun's address if set, otherwise a file in the current directory.
    pub fn find(
        asked: Option<&str>,
        rank: &Rank,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        match (asked, variable("MASTER_ADDR"), variable("MASTER_PORT")) {
            (Some(text), ..) if has_port(text) && !text.contains('/') => {
                Meeting::Address(text.to_owned())
            }
            (Some(text), ..) => Meeting::File(text.into()),
            (None, Some(host), Some(port)) => Meeting::Address(format!("{host}:{port}")),
            _ => {
                // A job name may hold anything, a file name must not.
                let job = rank.job.as_ref().map(|job| format!("-{job}")).unwrap_or_default();
                let job = job.replace(|each: char| !each.is_ascii_alphanumeric(), "-");
                Meeting::File(format!(".seatmap-meeting{job}").into())
            }
        }
    }

    /// A sentence if rank 0 cannot open only the named address.
    pub fn caution(&self, rank: &Rank) -> Option<String> {
        let Meeting::Address(text) = self else { return None };
        let (host, addresses) = resolved(text).ok().filter(|_| rank.rank == 0)?;
        caution_of(host, &addresses)
    }

    pub(crate) fn open(
        &self,
        rank: &Rank,
        secret: Option<Secret>,
    ) -> Result<MeetingHost, MeetingError> {
        match self {
            Meeting::Address(text) => {
                let secret = secret.ok_or(MeetingError::Secret)?;
                let listeners =
                    listen_at(text).map_err(|error| MeetingError::Listen(text.clone(), error))?;
                Ok(MeetingHost { listeners, secret, _file: None })
            }
            Meeting::File(path) => {
                let failed = |error| MeetingError::File(path.clone(), error);
                // Another user's file is kept.
                if let Err(error) = trusted::read_secret(path)
                    && !matches!(error, TrustError::Io { .. })
                {
                    return Err(MeetingError::Untrusted(error));
                }
                let secret = secret.map_or_else(Secret::new, Ok).map_err(failed)?;
                let listener = listen_everywhere(0)
                    .map_err(|error| MeetingError::Listen("any port".to_owned(), error))?;
                let port = listener.local_addr().map_err(failed)?.port();
                let addresses = seatmap_os::net::addresses().into_iter();
                let addresses = addresses.map(|ip| SocketAddr::new(ip, port)).collect();
                let note = Note { job: rank.job.clone(), addresses, secret: secret.text() };
                let file = Removed(path.clone());
                write_note(path, &note).map_err(failed)?;
                Ok(MeetingHost { listeners: vec![listener], secret, _file: Some(file) })
            }
        }
    }

    /// A wrong place, such as an old file, is tried until the timeout.
    pub(crate) fn find_host<T>(
        &self,
        rank: &Rank,
        secret: Option<&Secret>,
        timeout: Duration,
        mut greet: impl FnMut(TcpStream, &Secret) -> Result<T, Greeting>,
    ) -> Result<T, MeetingError> {
        let begun = Instant::now();
        let mut why = String::new();
        let mut stranger = None;
        loop {
            match self.places(rank, secret) {
                Err(Place::Never(error)) => return Err(error),
                Err(Place::NotYet(text)) => why = text,
                Ok((places, secret)) => {
                    for place in places {
                        // An unreachable interface costs two seconds, then the next address is
                        // tried.
                        let stream = TcpStream::connect_timeout(&place, Duration::from_secs(2));
                        let greeted = stream.map_err(|error| Greeting::Again(error.to_string()));
                        match greeted.and_then(|stream| greet(stream, &secret)) {
                            Ok(done) => return Ok(done),
                            Err(Greeting::Again(text)) => why = format!("{place}: {text}"),
                            Err(Greeting::Stranger(text)) => {
                                stranger = Some(format!("{place}: {text}"))
                            }
                            Err(Greeting::Never(text)) => return Err(MeetingError::Refused(text)),
                        }
                    }
                }
            }
            if begun.elapsed() >= timeout {
                // Another process's answer says more than the latest failure.
                let why = stranger.unwrap_or(why);
                return Err(MeetingError::Nobody { seconds: timeout.as_secs_f64(), why });
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn places(
        &self,
        rank: &Rank,
        secret: Option<&Secret>,
    ) -> Result<(Vec<SocketAddr>, Secret), Place> {
        match self {
            Meeting::Address(text) => {
                let secret = secret.cloned().ok_or(Place::Never(MeetingError::Secret))?;
                let places = text
                    .to_socket_addrs()
                    .map_err(|error| Place::NotYet(format!("{text}: {error}")))?;
                Ok((places.collect(), secret))
            }
            Meeting::File(path) => {
                let not_yet = |why: String| Place::NotYet(format!("{}: {why}", path.display()));
                // Checked and read on one descriptor, so exchanging the file meanwhile has no
                // effect.
                let text = trusted::read_secret(path).map_err(|error| match error {
                    TrustError::Io { source, .. } => not_yet(source.to_string()),
                    foreign => Place::Never(MeetingError::Untrusted(foreign)),
                })?;
                let note: Note =
                    serde_json::from_slice(&text).map_err(|error| not_yet(json_problem(error)))?;
                if note.job != rank.job {
                    return Err(not_yet("it belongs to another job".to_owned()));
                }
                let secret = Secret::given(&note.secret, "the meeting file")
                    .map_err(|error| not_yet(error.to_string()))?;
                Ok((note.addresses, secret))
            }
        }
    }
}

pub(crate) enum Greeting {
    Again(String),
    /// Another process answered.
    Stranger(String),
    Never(String),
}

impl Greeting {
    pub fn again(error: io::Error) -> Self {
        Greeting::Again(error.to_string())
    }
}

impl From<HandshakeError> for Greeting {
    fn from(error: HandshakeError) -> Self {
        let text = error.to_string();
        match error {
            HandshakeError::Connection(_) | HandshakeError::Slow => Greeting::Again(text),
            // Another process may still have the port of an earlier start.
            HandshakeError::Secret | HandshakeError::Stranger => Greeting::Stranger(text),
            HandshakeError::Version { .. } | HandshakeError::Refused(_) => Greeting::Never(text),
        }
    }
}

enum Place {
    NotYet(String),
    Never(MeetingError),
}

fn has_port(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok())
}

fn listen_everywhere(port: u16) -> io::Result<TcpListener> {
    let every = format!("[::]:{port}");
    // The kernel may lack IPv6.
    TcpListener::bind(every).or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)))
}

/// The host's name, and its addresses with the port.
fn resolved(text: &str) -> io::Result<(&str, Vec<SocketAddr>)> {
    let mut addresses: Vec<SocketAddr> = text.to_socket_addrs()?.collect();
    addresses.sort();
    addresses.dedup();
    Ok((text.rsplit_once(':').map_or(text, |(host, _)| host), addresses))
}

fn listen_at(text: &str) -> io::Result<Vec<TcpListener>> {
    let (host, addresses) = resolved(text)?;
    if let Some(first) = addresses.first().filter(|_| is_loopback_here(host, &addresses)) {
        return listen_everywhere(first.port()).map(|listener| vec![listener]);
    }
    // The kernel may lack the family of some addresses.
    let (open, failed): (Vec<_>, Vec<_>) =
        addresses.iter().map(TcpListener::bind).partition(Result::is_ok);
    match failed.into_iter().find_map(Result::err) {
        Some(error) if open.is_empty() => Err(error),
        _ => Ok(open.into_iter().flatten().collect()),
    }
}

/// Debian's `/etc/hosts` maps the computer's own name to 127.0.1.1.
fn is_loopback_here(host: &str, addresses: &[SocketAddr]) -> bool {
    let is_address = host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    let is_localhost = host == "localhost" || host.ends_with(".localhost");
    !is_address && !is_localhost && addresses.iter().all(|address| address.ip().is_loopback())
}

fn caution_of(host: &str, addresses: &[SocketAddr]) -> Option<String> {
    let own = addresses.first().filter(|_| is_loopback_here(host, addresses))?.ip();
    Some(format!(
        "'{host}' means {own} on its own node, so rank 0 listens on all addresses of the node \
         until the ranks have joined; --meet with a number, as 10.0.0.17:7000, opens only that one"
    ))
}

/// Atomically, readable only by its owner; a link is replaced.
fn write_note(path: &Path, note: &Note) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder_of(path))?;
    file.write_all(serde_json::to_string(note).map_err(io::Error::other)?.as_bytes())?;
    // On NFS the content must reach the server before the name does.
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(job: Option<&str>) -> Rank {
        Rank { rank: 1, size: 2, launcher: "environment", job: job.map(str::to_owned) }
    }

    #[test]
    fn meeting_is_the_requested_or_the_default_one() {
        let find = |asked| Meeting::find(asked, &rank(Some("7.0")), |_| None);
        assert_eq!(find(Some("n0:4000")), Meeting::Address("n0:4000".to_owned()));
        assert_eq!(find(Some("./a:1")), Meeting::File("./a:1".into()));
        assert_eq!(find(None), Meeting::File(".seatmap-meeting-7-0".into()));
        assert_eq!(
            Meeting::find(None, &rank(None), |name| Some(
                if name == "MASTER_PORT" { "9" } else { "n1" }.to_owned()
            )),
            Meeting::Address("n1:9".to_owned())
        );
    }

    #[test]
    fn port_listens_only_at_the_given_address() {
        let listening = |text: &str| {
            let host = Meeting::Address(text.to_owned())
                .open(&rank(None), Some(Secret::new().unwrap()))
                .unwrap();
            let ips: Vec<IpAddr> =
                host.listeners.iter().map(|each| each.local_addr().unwrap().ip()).collect();
            (ips, host.address().unwrap().ip())
        };
        let own = IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert_eq!(listening("127.0.0.1:0"), (vec![own], own));
        assert!(listening("localhost:0").0.iter().all(IpAddr::is_loopback));
        assert!(listening("0.0.0.0:0").0[0].is_unspecified());
        // Reserved for documentation (RFC 5737).
        let other = Meeting::Address("192.0.2.1:7".to_owned())
            .open(&rank(None), Some(Secret::new().unwrap()));
        assert!(other.unwrap_err().to_string().contains("an address of its own node"));
        let debian = ["127.0.1.1:7".parse().unwrap()];
        assert!(is_loopback_here("node17", &debian));
        assert!(!is_loopback_here("127.0.1.1", &debian));
        assert!(!is_loopback_here("node17", &["10.0.0.17:7".parse().unwrap()]));
        let caution = caution_of("node17", &debian);
        assert!(
            caution.unwrap().starts_with("'node17' means 127.0.1.1 on its own node, so rank 0")
        );
        assert_eq!(caution_of("127.0.1.1", &debian), None);
    }

    #[test]
    fn planted_meeting_file_is_refused() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("meeting");
        let elsewhere = folder.path().join("elsewhere");
        let place = Meeting::File(path.clone());
        let refused = || {
            let other = place
                .find_host(&rank(None), None, Duration::from_secs(60), |_, _| Ok(()))
                .unwrap_err();
            let first = place.open(&rank(None), None).unwrap_err();
            for error in [first, other] {
                assert!(matches!(error, MeetingError::Untrusted(_)), "{error}");
            }
        };
        let note = Note {
            job: None,
            addresses: vec!["127.0.0.1:9".parse().unwrap()],
            secret: "s".repeat(64),
        };
        write_note(&elsewhere, &note).unwrap();
        symlink(&elsewhere, &path).unwrap();
        refused();
        std::fs::remove_file(&path).unwrap();
        std::fs::rename(&elsewhere, &path).unwrap();
        for mode in [0o644, 0o620, 0o602] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            refused();
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        if std::os::unix::fs::chown(&path, Some(65_534), None).is_err() {
            return seatmap_needs::skipped!("only root gives files to another user");
        }
        refused();
    }

    #[test]
    fn no_port_opens_without_a_secret() {
        let place = Meeting::Address("127.0.0.1:0".to_owned());
        assert!(matches!(place.open(&rank(None), None), Err(MeetingError::Secret)));
        let found = place.find_host(&rank(None), None, Duration::ZERO, |_, _| Ok(()));
        assert!(matches!(found, Err(MeetingError::Secret)));
    }

    #[test]
    fn meeting_file_is_private_and_removed() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("meeting");
        let place = Meeting::File(path.clone());
        let host = place.open(&rank(Some("a")), None).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let found = place.find_host(&rank(Some("a")), None, Duration::from_secs(5), |_, secret| {
            Ok(secret.text())
        });
        assert_eq!(found.unwrap(), host.secret.text());
        let other = place.find_host(&rank(Some("b")), None, Duration::ZERO, |_, _| Ok(()));
        assert!(other.unwrap_err().to_string().ends_with("it belongs to another job"));
        drop(host);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
