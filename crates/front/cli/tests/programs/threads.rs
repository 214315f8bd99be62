//! Four threads in sequence. Each first prints the CPUs that it may run on.

fn tell(who: &str) {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("/proc is there");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("the kernel tells");
    println!("{who} {}", list.trim());
}

fn main() {
    tell("main");
    for _ in 0..4 {
        std::thread::spawn(|| tell("thread")).join().expect("a thread that does not panic");
    }
}
