//! The kernel's types, as a file: every sequence of bytes is refused, or answers questions without
//! an end to recursion.
#![no_main]

use seatmap_os::bpf::Btf;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(types) = Btf::parse(bytes) else { return };
    let _ = types.field("task_struct", "pid");
    let _ = types.field("task_struct", "se.sum_exec_runtime");
    let _ = types.tracepoint("sched_waking");
    let _ = types.function("f");
});
