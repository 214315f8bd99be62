//! The eBPF programs of `sockets`.

use crate::wakeups::{FieldOffsets, LOST_PAIRS, Tables, insert};
use seatmap_os::bpf::assembler::EbpfOperation::{Add, And, Or, ShiftLeft};
use seatmap_os::bpf::assembler::EbpfRegister::{R0, R1, R2, R3, R6, R7, R8, R9, Stack};
use seatmap_os::bpf::assembler::JumpCondition::{Above, Different, Equal};
use seatmap_os::bpf::assembler::Width::{Double, Half, Word};
use seatmap_os::bpf::assembler::{Assembler, EbpfRegister, Helper, Width};
use seatmap_os::bpf::{Btf, BtfError, Map};

/// A key is a thread, a role, and a pipe or connection; its value is bytes and calls.
pub const KEY_BYTES: usize = 16;
pub const VALUE_BYTES: usize = 16;

/// The kinds of roles; a reader also has [`READS`].
pub const PIPE: u32 = 0;
pub const UNIX: u32 = 1;
pub const TCP: u32 = 2;
pub const READS: u32 = 1 << 8;

/// A kernel error, as an unsigned number, is larger.
const MOST_BYTES: i32 = i32::MAX;

/// Only descriptors below this number are looked up.
const DESCRIPTORS: i32 = 65_535;

const FILE_KIND: i32 = 0o170_000;

/// Calls that move bytes, and whether they read. Calls that do not return bytes are missing.
const CALLS: [(libc::c_long, u32); 8] = [
    (libc::SYS_read, READS),
    (libc::SYS_recvfrom, READS),
    (libc::SYS_recvmsg, READS),
    (libc::SYS_readv, READS),
    (libc::SYS_write, 0),
    (libc::SYS_sendto, 0),
    (libc::SYS_sendmsg, 0),
    (libc::SYS_writev, 0),
];

/// The kernel's structures, and the tables of the programs.
pub struct SocketPrograms<'a> {
    pub btf: &'a Btf,
    pub layout: &'a FieldOffsets,
    pub tables: &'a Tables,
    pub flows: &'a Map,
}

impl SocketPrograms<'_> {
    /// `sock_send_length(socket, bytes, flags)` and `sock_recv_length`; `reads` is [`READS`] for
    /// the latter. Registers: 6 the socket, 7 the bytes, 8 a flag. The stack is that of
    /// [`SocketPrograms::transfer`].
    pub fn passed(&self, reads: u32, cast: bool) -> Result<Assembler, BtfError> {
        let mut code = self.begin();
        code.load(Double, R6, R1, 0);
        // Bytes only peeked at are read once more, and count then.
        code.load(Double, R8, R1, 16).calculate_number(And, R8, libc::MSG_PEEK);
        code.jump_if(Different, R8, 0, "end").call(Helper::CurrentTask);
        self.end_if_stranger(&mut code, R0);
        code.set(R9, reads as i32);
        load_socket(&self.reader(cast), &mut code)?;
        self.add(&mut code);
        Ok(code)
    }

    /// `sys_exit(registers, answer)`. Registers: 6 a followed pointer, 7 the bytes, 8 the
    /// registers, 9 the role. Stack: the key at -24, its value at -40, a scratch word at -48.
    /// `cast` allows newer kernels' way of reading; `has_sockets` adds sockets to pipes.
    pub fn transfer(&self, has_sockets: bool, cast: bool) -> Result<Assembler, BtfError> {
        let mut code = self.begin();
        code.load(Double, R8, R1, 0).load(Word, R1, R8, self.layout.call);
        load_role(&mut code);
        code.call(Helper::CurrentTask).copy(R6, R0);
        self.end_if_stranger(&mut code, R6);
        let reader = self.reader(cast);
        load_file(&reader, self.layout, &mut code)?;
        load_object(&reader, has_sockets, &mut code)?;
        self.add(&mut code);
        Ok(code)
    }

    /// Register 7 = the bytes. Ends the program without any, or for an error.
    fn begin(&self) -> Assembler {
        let mut code = Assembler::new();
        self.tables.end_if_paused(&mut code);
        code.load(Double, R7, R1, 8).jump_if(Equal, R7, 0, "end");
        code.jump_if(Above, R7, MOST_BYTES, "end");
        code
    }

    /// Ends the program for an outside thread; otherwise keys the thread.
    fn end_if_stranger(&self, code: &mut Assembler, task: EbpfRegister) {
        // In the kernel, `pid` is the TID and `tgid` the PID.
        code.load(Word, R1, task, self.layout.pid).store(Word, Stack, -24, R1);
        code.load(Word, R1, task, self.layout.tgid).store(Word, Stack, -48, R1);
        code.look_up(&self.tables.processes, -48).jump_if(Equal, R0, 0, "end");
    }

    fn reader(&self, cast: bool) -> Reader<'_> {
        let cast = cast.then(|| self.btf.function("bpf_rdonly_cast")).flatten();
        Reader { btf: self.btf, cast }
    }

    /// Another CPU may add the key first.
    fn add(&self, code: &mut Assembler) {
        code.look_up(self.flows, -24).jump_if(Different, R0, 0, "known");
        code.store(Double, Stack, -40, R7).store_number(Double, Stack, -32, 1);
        insert(code, self.flows, [-24, -40]);
        code.label("known").count(R0, 0, R7).set(R1, 1).count(R0, 8, R1).label("end").end();
        code.label("lost").count_one(&self.tables.counters, LOST_PAIRS).end();
    }
}

/// Register 9 = whether the call reads; other calls end the program.
fn load_role(code: &mut Assembler) {
    for (call, role) in CALLS {
        let label = if role == READS { "reads" } else { "writes" };
        code.jump_if(Equal, R1, call as i32, label);
    }
    code.jump("end").label("reads").set(R9, READS as i32).jump("follow");
    code.label("writes").set(R9, 0).label("follow");
}

/// Reads fields behind pointers: by `bpf_rdonly_cast`, which costs nothing (since Linux 6.2), or by
/// copying.
struct Reader<'a> {
    btf: &'a Btf,
    cast: Option<u32>,
}

impl Reader<'_> {
    /// Register 1 = a field of the structure at the address in register 6.
    fn field(
        &self,
        code: &mut Assembler,
        structure: &str,
        path: &str,
        width: Width,
    ) -> Result<(), BtfError> {
        let offset = self.btf.field(structure, path)?;
        if let Some(cast) = self.cast {
            code.copy(R1, R6).set(R2, self.btf.structure(structure)? as i32).call_function(cast);
            code.load(width, R1, R0, offset);
            return Ok(());
        }
        let bytes = match width {
            Half => 2,
            Word => 4,
            Double => 8,
        };
        // A shorter field fills only part of the scratch word, which is loaded whole below.
        code.store_number(Double, Stack, -48, 0).stack(R1, -48).set(R2, bytes);
        code.copy(R3, R6).calculate_number(Add, R3, offset as i32);
        code.call(Helper::ReadKernel).stack(R1, -48).load(Double, R1, R1, 0);
        Ok(())
    }

    /// Register 6 = a pointer in the structure at the address in register 6.
    fn follow(&self, code: &mut Assembler, structure: &str, path: &str) -> Result<(), BtfError> {
        self.field(code, structure, path, Double)?;
        code.copy(R6, R1);
        Ok(())
    }
}

/// Register 6 = the file behind the call's descriptor; before, the running thread.
fn load_file(reader: &Reader, layout: &FieldOffsets, code: &mut Assembler) -> Result<(), BtfError> {
    code.load(Double, R1, R6, layout.files).jump_if(Equal, R1, 0, "end");
    code.load(Double, R1, R1, layout.table).jump_if(Equal, R1, 0, "end");
    code.load(Double, R6, R8, layout.argument).jump_if(Above, R6, DESCRIPTORS, "end");
    // The descriptor's offset among eight-byte pointers.
    code.load(Double, R3, R1, layout.descriptors);
    code.calculate_number(ShiftLeft, R6, 3).calculate(Add, R6, R3);
    // The table of files is an array of pointers, and a list begins with one.
    reader.follow(code, "list_head", "next")
}

/// The key's role and object: a pipe's number, or with `has_sockets` a socket's.
fn load_object(reader: &Reader, has_sockets: bool, code: &mut Assembler) -> Result<(), BtfError> {
    // The file stays in register 8: the call's registers are no longer needed.
    code.copy(R8, R6);
    reader.follow(code, "file", "f_inode")?;
    reader.field(code, "inode", "i_mode", Half)?;
    code.calculate_number(And, R1, FILE_KIND);
    if has_sockets {
        code.jump_if(Equal, R1, libc::S_IFSOCK as i32, "socket");
    }
    code.jump_if(Different, R1, libc::S_IFIFO as i32, "end");
    // Both ends of a pipe have one inode.
    reader.field(code, "inode", "i_ino", Double)?;
    code.calculate_number(Or, R9, PIPE as i32);
    if !has_sockets {
        store_object(code);
        return Ok(());
    }
    code.jump("object").label("socket").copy(R6, R8);
    reader.follow(code, "file", "private_data")?;
    reader.follow(code, "socket", "sk")?;
    load_socket(reader, code)
}

/// The key for the socket at register 6: the receiving end of a unix socket, or a connection's two
/// ports. Other sockets end the program.
fn load_socket(reader: &Reader, code: &mut Assembler) -> Result<(), BtfError> {
    reader.field(code, "sock", "__sk_common.skc_family", Half)?;
    code.jump_if(Equal, R1, libc::AF_UNIX, "unix").jump_if(Equal, R1, libc::AF_INET, "tcp");
    code.jump_if(Different, R1, libc::AF_INET6, "end").label("tcp");
    reader.field(code, "sock", "__sk_common.skc_portpair", Word)?;
    code.calculate_number(Or, R9, TCP as i32).jump("object");
    code.label("unix").calculate_number(Or, R9, UNIX as i32).copy(R1, R6);
    code.jump_if(Equal, R9, (UNIX | READS) as i32, "object");
    reader.field(code, "unix_sock", "peer", Double)?;
    // An unconnected datagram socket has no peer.
    code.jump_if(Equal, R1, 0, "end").label("object");
    store_object(code);
    Ok(())
}

fn store_object(code: &mut Assembler) {
    code.store(Double, Stack, -16, R1).store(Word, Stack, -20, R9);
}
