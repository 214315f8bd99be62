//! Sets the shared library's binary interface name.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libspe2.so.2");
    // SPU programs find mathematical functions in the process.
    println!("cargo::rustc-cdylib-link-arg=-Wl,--no-as-needed,-lm");
}
