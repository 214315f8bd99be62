//! The header that is checked in is the one that the sources make.
//!
//! `SEATMAP_HEADER=write cargo test -p seatmap-worker-c --test header` renews it; look at the difference before it is
//! committed: it is what C programs were compiled against.

use std::path::Path;

/// In the order in which a reader meets them.
const SOURCES: [&str; 8] = [
    "src/version.rs",
    "src/status.rs",
    "src/message.rs",
    "src/runtime.rs",
    "src/context.rs",
    "src/mailbox.rs",
    "src/inside.rs",
    "src/channel.rs",
];

#[test]
fn the_header_is_made_of_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut builder = cbindgen::Builder::new();
    builder = builder.with_config(cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap());
    for source in SOURCES {
        builder = builder.with_src(root.join(source));
    }
    let mut bytes = Vec::new();
    builder.generate().unwrap().write(&mut bytes);
    let made = String::from_utf8(bytes).unwrap();
    let path = root.join("include/seatmap_worker.h");
    if std::env::var_os("SEATMAP_HEADER").is_some_and(|wish| wish == "write") {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = made.lines().zip(kept.lines()).position(|(made, kept)| made != kept);
    assert!(made == kept, "the header differs from line {:?} on; see this file's head", differs.map(|at| at + 1));
}
