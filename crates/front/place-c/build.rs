//! Puts the version of the binary interface into the shared library's name, so that programs never
//! load an incompatible one.

fn main() {
    // Before 1.0 every minor version may break the interface, so it is part of the name.
    let soname = format!("libseatmap_place.so.{}.{}", version_part("MAJOR"), version_part("MINOR"));
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{soname}");
}

fn version_part(name: &str) -> String {
    std::env::var(format!("CARGO_PKG_VERSION_{name}")).unwrap_or_default()
}
