//! Sets the shared library's binary interface name, so that programs only load the version they
//! were built for.

fn main() {
    // Before 1.0, every minor version may change the interface.
    let soname = format!("libseatmap_worker.so.{}.{}", part("MAJOR"), part("MINOR"));
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{soname}");
}

fn part(name: &str) -> String {
    std::env::var(format!("CARGO_PKG_VERSION_{name}")).unwrap_or_default()
}
