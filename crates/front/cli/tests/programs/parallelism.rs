//! Prints how many threads Rust would start.

fn main() {
    println!("{}", std::thread::available_parallelism().unwrap());
}
