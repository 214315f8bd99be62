//! The eBPF programs of `sockets`.

use crate::wakeups::{FieldOffsets, Tables};
use seatmap_os::bpf::assembler::EbpfRegister::{R0, R1, R2, R3, R4, R6, R7, R8, R9, Stack};
use seatmap_os::bpf::assembler::{Assembler, EbpfOperation, Helper, JumpCondition, Width};
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

/// `sock_send_length(socket, bytes, flags)` and `sock_recv_length`; `reads` is [`READS`] for the
/// latter. Registers: 6 the socket, 7 the bytes, 8 a flag. The stack is that of [`transfer`].
pub fn passed(
    btf: &Btf,
    layout: &FieldOffsets,
    tables: &Tables,
    flows: &Map,
    reads: u32,
    cast: bool,
) -> Result<Assembler, BtfError> {
    let mut code = Assembler::new();
    tables.end_if_paused(&mut code);
    code.load(Width::Double, R6, R1, 0).load(Width::Double, R7, R1, 8).jump_if(
        JumpCondition::Equal,
        R7,
        0,
        "end",
    );
    code.jump_if(JumpCondition::Above, R7, MOST_BYTES, "end");
    // Bytes only peeked at are read once more, and count then.
    code.load(Width::Double, R8, R1, 16)
        .calculate_number(EbpfOperation::And, R8, libc::MSG_PEEK)
        .jump_if(JumpCondition::Different, R8, 0, "end");
    code.call(Helper::CurrentTask);
    // In the kernel, `pid` is the TID and `tgid` the PID.
    code.load(Width::Word, R1, R0, layout.pid).store(Width::Word, Stack, -24, R1);
    code.load(Width::Word, R1, R0, layout.tgid).store(Width::Word, Stack, -48, R1);
    code.map(R1, &tables.processes).stack(R2, -48).call(Helper::Lookup).jump_if(
        JumpCondition::Equal,
        R0,
        0,
        "end",
    );
    code.calculate_number(EbpfOperation::Move, R9, reads as i32);
    load_socket(&Reader::new(btf, cast), &mut code)?;
    add(&mut code, flows);
    count_as_lost(&mut code, tables);
    Ok(code)
}

/// `sys_exit(registers, answer)`. Registers: 6 a followed pointer, 7 the bytes, 8 the registers, 9
/// the role. Stack: the key at -24, its value at -40, a scratch word at -48. `cast` allows the way
/// of reading of newer kernels; `has_sockets` adds sockets to pipes.
pub fn transfer(
    btf: &Btf,
    layout: &FieldOffsets,
    tables: &Tables,
    flows: &Map,
    has_sockets: bool,
    cast: bool,
) -> Result<Assembler, BtfError> {
    let mut code = Assembler::new();
    tables.end_if_paused(&mut code);
    code.load(Width::Double, R7, R1, 8).jump_if(JumpCondition::Equal, R7, 0, "end");
    code.jump_if(JumpCondition::Above, R7, MOST_BYTES, "end");
    code.load(Width::Double, R8, R1, 0).load(Width::Word, R1, R8, layout.call);
    load_role(&mut code);
    code.call(Helper::CurrentTask).calculate(EbpfOperation::Move, R6, R0);
    code.load(Width::Word, R1, R6, layout.pid).store(Width::Word, Stack, -24, R1);
    code.load(Width::Word, R1, R6, layout.tgid).store(Width::Word, Stack, -48, R1);
    code.map(R1, &tables.processes).stack(R2, -48).call(Helper::Lookup).jump_if(
        JumpCondition::Equal,
        R0,
        0,
        "end",
    );
    let reader = Reader::new(btf, cast);
    load_file(&reader, layout, &mut code)?;
    load_object(&reader, has_sockets, &mut code)?;
    add(&mut code, flows);
    count_as_lost(&mut code, tables);
    Ok(code)
}

fn count_as_lost(code: &mut Assembler, tables: &Tables) {
    let lost = crate::wakeups::LOST_PAIRS;
    code.label("lost").calculate_number(EbpfOperation::Move, R1, 1).counter(
        R2,
        &tables.counters,
        lost,
    );
    code.count(R2, 0, R1).end();
}

/// Register 9 = whether the call reads; other calls end the program.
fn load_role(code: &mut Assembler) {
    let [reads, writes] = ["reads", "writes"];
    for (call, role) in CALLS {
        code.jump_if(
            JumpCondition::Equal,
            R1,
            call as i32,
            if role == READS { reads } else { writes },
        );
    }
    code.jump("end")
        .label(reads)
        .calculate_number(EbpfOperation::Move, R9, READS as i32)
        .jump("follow");
    code.label(writes).calculate_number(EbpfOperation::Move, R9, 0).label("follow");
}

/// Reads fields behind pointers: by `bpf_rdonly_cast`, which costs nothing (since Linux 6.2), or by
/// copying.
struct Reader<'a> {
    btf: &'a Btf,
    cast: Option<u32>,
}

impl<'a> Reader<'a> {
    fn new(btf: &'a Btf, cast: bool) -> Self {
        Reader { btf, cast: cast.then(|| btf.function("bpf_rdonly_cast")).flatten() }
    }

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
            code.calculate(EbpfOperation::Move, R1, R6);
            code.calculate_number(EbpfOperation::Move, R2, self.btf.structure(structure)? as i32)
                .call_function(cast);
            code.load(width, R1, R0, offset);
            return Ok(());
        }
        let bytes = match width {
            Width::Half => 2,
            Width::Word => 4,
            Width::Double => 8,
        };
        // A shorter field fills only part of the scratch word, which is loaded whole below.
        code.store_number(Width::Double, Stack, -48, 0).stack(R1, -48).calculate_number(
            EbpfOperation::Move,
            R2,
            bytes,
        );
        code.calculate(EbpfOperation::Move, R3, R6).calculate_number(
            EbpfOperation::Add,
            R3,
            offset as i32,
        );
        code.call(Helper::ReadKernel).stack(R1, -48).load(Width::Double, R1, R1, 0);
        Ok(())
    }

    /// Register 6 = a pointer in the structure at the address in register 6.
    fn follow(&self, code: &mut Assembler, structure: &str, path: &str) -> Result<(), BtfError> {
        self.field(code, structure, path, Width::Double)?;
        code.calculate(EbpfOperation::Move, R6, R1);
        Ok(())
    }
}

/// Register 6 = the file behind the call's descriptor; before, the running thread.
fn load_file(reader: &Reader, layout: &FieldOffsets, code: &mut Assembler) -> Result<(), BtfError> {
    code.load(Width::Double, R1, R6, layout.files).jump_if(JumpCondition::Equal, R1, 0, "end");
    code.load(Width::Double, R1, R1, layout.table).jump_if(JumpCondition::Equal, R1, 0, "end");
    code.load(Width::Double, R6, R8, layout.argument).jump_if(
        JumpCondition::Above,
        R6,
        DESCRIPTORS,
        "end",
    );
    // The descriptor's offset among eight-byte pointers.
    code.load(Width::Double, R3, R1, layout.descriptors).calculate_number(
        EbpfOperation::ShiftLeft,
        R6,
        3,
    );
    code.calculate(EbpfOperation::Add, R6, R3);
    // The table of files is an array of pointers, and a list begins with one.
    reader.follow(code, "list_head", "next")
}

/// The key's role and object: a pipe's number, or with `has_sockets` a socket's.
fn load_object(reader: &Reader, has_sockets: bool, code: &mut Assembler) -> Result<(), BtfError> {
    // The file stays in register 8: the call's registers are no longer needed.
    code.calculate(EbpfOperation::Move, R8, R6);
    reader.follow(code, "file", "f_inode")?;
    reader.field(code, "inode", "i_mode", Width::Half)?;
    code.calculate_number(EbpfOperation::And, R1, FILE_KIND);
    if has_sockets {
        code.jump_if(JumpCondition::Equal, R1, libc::S_IFSOCK as i32, "socket");
    }
    code.jump_if(JumpCondition::Different, R1, libc::S_IFIFO as i32, "end");
    // Both ends of a pipe have one inode.
    reader.field(code, "inode", "i_ino", Width::Double)?;
    code.calculate_number(EbpfOperation::Or, R9, PIPE as i32);
    if !has_sockets {
        store_object(code);
        return Ok(());
    }
    code.jump("object").label("socket").calculate(EbpfOperation::Move, R6, R8);
    reader.follow(code, "file", "private_data")?;
    reader.follow(code, "socket", "sk")?;
    load_socket(reader, code)
}

/// The key for the socket at register 6: the receiving end of a unix socket, or a connection's two
/// ports. Other sockets end the program.
fn load_socket(reader: &Reader, code: &mut Assembler) -> Result<(), BtfError> {
    reader.field(code, "sock", "__sk_common.skc_family", Width::Half)?;
    code.jump_if(JumpCondition::Equal, R1, libc::AF_UNIX, "unix");
    code.jump_if(JumpCondition::Equal, R1, libc::AF_INET, "tcp").jump_if(
        JumpCondition::Different,
        R1,
        libc::AF_INET6,
        "end",
    );
    code.label("tcp");
    reader.field(code, "sock", "__sk_common.skc_portpair", Width::Word)?;
    code.calculate_number(EbpfOperation::Or, R9, TCP as i32).jump("object");
    code.label("unix").calculate_number(EbpfOperation::Or, R9, UNIX as i32).calculate(
        EbpfOperation::Move,
        R1,
        R6,
    );
    code.jump_if(JumpCondition::Equal, R9, (UNIX | READS) as i32, "object");
    reader.field(code, "unix_sock", "peer", Width::Double)?;
    // An unconnected datagram socket has no peer.
    code.jump_if(JumpCondition::Equal, R1, 0, "end").label("object");
    store_object(code);
    Ok(())
}

fn store_object(code: &mut Assembler) {
    code.store(Width::Double, Stack, -16, R1).store(Width::Word, Stack, -20, R9);
}

/// Another CPU may add the key first.
fn add(code: &mut Assembler, flows: &Map) {
    code.map(R1, flows).stack(R2, -24).call(Helper::Lookup).jump_if(
        JumpCondition::Different,
        R0,
        0,
        "known",
    );
    code.store(Width::Double, Stack, -40, R7).store_number(Width::Double, Stack, -32, 1);
    code.map(R1, flows).stack(R2, -24).stack(R3, -40).calculate_number(EbpfOperation::Move, R4, 1);
    code.call(Helper::Update).jump_if(JumpCondition::Equal, R0, 0, "end");
    code.map(R1, flows).stack(R2, -24).call(Helper::Lookup).jump_if(
        JumpCondition::Equal,
        R0,
        0,
        "lost",
    );
    code.label("known")
        .count(R0, 0, R7)
        .calculate_number(EbpfOperation::Move, R1, 1)
        .count(R0, 8, R1);
    code.label("end").end();
}
