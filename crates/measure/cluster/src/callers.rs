//! Those who call at rank 0 while it waits for its ranks. Each is heard in a thread of its own: one that says nothing
//! keeps nobody waiting.

use crate::handshake::{Called, hear};
use crate::meeting::Host;
use serde::de::DeserializeOwned;
use std::io;
use std::net::TcpStream;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// How long a peer may take for a word of its introduction.
const PATIENCE: Duration = Duration::from_secs(10);

/// A caller that knows the secret, or words for why it was none.
pub(crate) type Heard<T> = Result<(Called<T>, TcpStream), String>;

/// Takes all who call now; `heard` gets what they say. The host's listener must not block.
pub(crate) fn accept<T: DeserializeOwned + Send + 'static>(host: &Host, heard: &Sender<Heard<T>>) {
    while let Ok((mut stream, from)) = host.listener.accept() {
        let (heard, secret) = (heard.clone(), host.secret.clone());
        std::thread::spawn(move || {
            let hearing = prepared(&stream)
                .map_err(|error| error.to_string())
                .and_then(|()| hear::<T>(&mut stream, &secret).map_err(|error| error.to_string()));
            let caller = hearing.map(|called| (called, stream));
            // If nobody listens any more, the meeting is over.
            let _ = heard.send(caller.map_err(|why| format!("somebody at {}: {why}", from.ip().to_canonical())));
        });
    }
}

fn prepared(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))
}
