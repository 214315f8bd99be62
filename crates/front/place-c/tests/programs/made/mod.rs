//! The committed header matches the sources; shared by the tests of each C library.

use std::path::Path;

/// Generates the header of these sources and compares it with the committed one;
/// `SEATMAP_HEADER=write` renews it.
pub fn assert_made_of(sources: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut builder = cbindgen::Builder::new();
    builder = builder.with_config(cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap());
    for source in sources {
        builder = builder.with_src(root.join(source));
    }
    let mut bytes = Vec::new();
    builder.generate().unwrap().write(&mut bytes);
    let made = String::from_utf8(bytes).unwrap();
    let name = env!("CARGO_PKG_NAME").trim_end_matches("-c").replace('-', "_");
    let path = root.join(format!("include/{name}.h"));
    if std::env::var_os("SEATMAP_HEADER").is_some_and(|wish| wish == "write") {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = made.lines().zip(kept.lines()).position(|(made, kept)| made != kept);
    assert!(
        made == kept,
        "the header differs from line {:?} on; see this test's head",
        differs.map(|at| at + 1)
    );
}
