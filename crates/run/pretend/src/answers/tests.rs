//! Calls on a small machine.

use super::*;
use crate::machine::made;
use CallAnswer::{Failure, Value};

const AT: u64 = 4096;

fn memory(bytes: &[u8]) -> File {
    let room = tempfile::tempfile().unwrap();
    room.set_len(AT + 64).unwrap();
    room.write_all_at(bytes, AT).unwrap();
    room
}

fn bytes(room: &File, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    room.read_exact_at(&mut bytes, AT).unwrap();
    bytes
}

fn own() -> Tid {
    std::process::id() as Tid
}

fn kernel(allowed: &str) -> PretendedKernel {
    PretendedKernel::new(made::with(allowed, ""), own())
}

impl PretendedKernel {
    fn ask(&mut self, call: TrappedCall, given: &[u64], memory: &File) -> CallAnswer {
        let mut arguments = [0; 6];
        arguments[..given.len()].copy_from_slice(given);
        self.answer(&ProgramCall { tid: own(), call, arguments, memory, at_s: 1.0 })
    }
}

#[test]
fn affinity_calls_behave_like_kernel() {
    use TrappedCall::{GetAffinity, SetAffinity};
    let mut kernel = kernel("0-5");
    let room = memory(&[0xff; 16]);
    let get =
        |kernel: &mut PretendedKernel, bytes: u64| kernel.ask(GetAffinity, &[0, bytes, AT], &room);
    assert_eq!(get(&mut kernel, 128), Value(8));
    assert_eq!(bytes(&room, 9), [0x3f, 0, 0, 0, 0, 0, 0, 0, 0xff]);
    assert_eq!(get(&mut kernel, 12), Failure(libc::EINVAL));
    assert_eq!(get(&mut kernel, 0), Failure(libc::EINVAL));
    let mut set = |mask: &[u8], address: u64| {
        let room = memory(mask);
        let answer = kernel.ask(SetAffinity, &[0, mask.len() as u64, address], &room);
        (answer, kernel.record.threads[0].mask().to_string())
    };
    assert_eq!(set(&[0xf0, 0xff], AT), (Value(0), "4,5".to_owned()));
    let refused = (Failure(libc::EINVAL), "4,5".to_owned());
    assert_eq!(set(&[0x00, 0xff], AT), refused, "no such CPUs");
    assert_eq!(set(&[0xc0], AT), refused, "outside the container");
    assert_eq!(set(&[1], AT + 64).0, Failure(libc::EFAULT));
}

#[test]
fn foreign_processes_cannot_be_seated() {
    use TrappedCall::{GetAffinity, SetAffinity};
    let mut kernel = kernel("2");
    let room = memory(&[4]);
    assert_eq!(kernel.ask(GetAffinity, &[1, 8, AT], &room), Value(8));
    assert_eq!(bytes(&room, 1), [0xff]);
    let refused = kernel.ask(SetAffinity, &[1, 8, AT], &room);
    assert_eq!(refused, Failure(libc::EPERM));
    let gone = kernel.ask(GetAffinity, &[0x3fff_fff0, 8, AT], &room);
    assert_eq!(gone, Failure(libc::ESRCH));
}

#[test]
fn getcpu_returns_cpu_of_mask() {
    let mut kernel = kernel("5");
    let room = memory(&[9; 8]);
    let answer = kernel.ask(TrappedCall::GetCpu, &[AT, AT + 4, 0], &room);
    assert_eq!(answer, Value(0));
    assert_eq!(bytes(&room, 8), [5, 0, 0, 0, 1, 0, 0, 0], "CPU 5 is on node 1");
}

#[test]
fn memory_calls_follow_policies() {
    use TrappedCall::{BindMemory, GetPolicy, MovePages, SetPolicy};
    let mut kernel = kernel("0-7");
    let room = memory(&[2]);
    let refused = Failure(libc::EINVAL);
    assert_eq!(kernel.ask(SetPolicy, &[2, AT, 65], &room), Value(0));
    assert_eq!(kernel.record.threads[0].policy.to_string(), "bind:1");
    assert_eq!(kernel.ask(SetPolicy, &[2, 0, 0], &room), refused);
    let bound = kernel.ask(BindMemory, &[8192, 4096, 2, AT, 65, 0], &memory(&[1]));
    assert_eq!(bound, Value(0));
    let node = |kernel: &mut PretendedKernel, address: u64| {
        let room = memory(&[]);
        kernel.ask(GetPolicy, &[AT, 0, 0, address, OF_NODE | OF_ADDRESS], &room);
        bytes(&room, 1)[0]
    };
    assert_eq!([node(&mut kernel, 8192), node(&mut kernel, 1 << 20)], [0, 1]);
    let mut pages = 8192_u64.to_ne_bytes().to_vec();
    pages.extend([1, 0, 0, 0]);
    let room = memory(&pages);
    let moved = kernel.ask(MovePages, &[0, 1, AT, AT + 8, AT + 16, 2], &room);
    assert_eq!((moved, bytes(&room, 17)[16], node(&mut kernel, 8192)), (Value(0), 1, 1));
    let allowed = memory(&[]);
    let answer = kernel.ask(GetPolicy, &[0, AT, 64, 0, OF_ALLOWED], &allowed);
    assert_eq!((answer, bytes(&allowed, 1)), (Value(0), vec![3]));
    let short = kernel.ask(GetPolicy, &[0, AT, 1, 0, 0], &allowed);
    assert_eq!(short, refused, "fewer bits than nodes");
}
