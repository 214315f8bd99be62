//! Names the shared library's binary interface, so that programs never load one that they were not
//! built for.

fn main() {
    // Before 1.0 every minor version may break the interface, so it is part of the name.
    let soname = format!("libseatmap_worker.so.{}.{}", part("MAJOR"), part("MINOR"));
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{soname}");
}

fn part(name: &str) -> String {
    std::env::var(format!("CARGO_PKG_VERSION_{name}")).unwrap_or_default()
}
