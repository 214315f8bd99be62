//! Names the shared library's binary interface.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libspe2.so.2");
    // SPU programs find the mathematical functions in the process.
    println!("cargo::rustc-cdylib-link-arg=-Wl,--no-as-needed,-lm");
}
