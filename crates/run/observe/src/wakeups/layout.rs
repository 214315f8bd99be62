//! The offsets of the running kernel's structures for wakeups.

use seatmap_os::bpf::{Btf, BtfError};

#[derive(Clone, Copy)]
pub struct FieldOffsets {
    pub pid: usize,
    pub tgid: usize,
    pub name: usize,
    pub run_ns: usize,
    pub signal: usize,
    pub living: usize,
    pub files: usize,
    pub table: usize,
    pub descriptors: usize,
    pub inode: usize,
    pub mode: usize,
    /// The system call's number and first argument in a thread's registers.
    pub call: usize,
    pub argument: usize,
}

/// The names of these two fields of `struct pt_regs`.
const CALL: [&str; 2] =
    if cfg!(target_arch = "aarch64") { ["syscallno", "orig_x0"] } else { ["orig_ax", "di"] };

impl FieldOffsets {
    pub fn read(btf: &Btf) -> Result<Self, BtfError> {
        Ok(FieldOffsets {
            pid: btf.field("task_struct", "pid")?,
            tgid: btf.field("task_struct", "tgid")?,
            name: btf.field("task_struct", "comm")?,
            run_ns: btf.field("task_struct", "se.sum_exec_runtime")?,
            signal: btf.field("task_struct", "signal")?,
            living: btf.field("signal_struct", "live")?,
            files: btf.field("task_struct", "files")?,
            table: btf.field("files_struct", "fdt")?,
            descriptors: btf.field("fdtable", "fd")?,
            inode: btf.field("file", "f_inode")?,
            mode: btf.field("inode", "i_mode")?,
            call: btf.field("pt_regs", CALL[0])?,
            argument: btf.field("pt_regs", CALL[1])?,
        })
    }
}
