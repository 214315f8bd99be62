//! Finds out who talks to whom in an unmodified program, as a pattern that `place` can seat.
//!
//! | module | does |
//! |---|---|
//! | [`method`] | the ways to find out, and what each cannot see |
//! | [`observation`] | what one of them saw: tasks, and who talked to whom when |
#![deny(missing_docs)]

pub mod error;
pub mod kind;
pub mod method;
pub mod observation;
mod source;
mod talk;
mod wakeups;

pub use error::ObserveError;
pub use kind::Kind;
pub use method::Method;
pub use observation::{Observation, Task, Window};

#[cfg(test)]
mod tests {
    use crate::source::Source;
    #[test]
    fn quick() {
        let mut s = match crate::wakeups::Ebpf::begin() {
            Ok(s) => s,
            Err(e) => panic!("{e} {e:?}"),
        };
        s.follow_own_children(true).unwrap();
        let mut c = std::process::Command::new("sh")
            .args(["-c", "for i in 1 2 3 4 5 6 7 8 9; do echo a | cat | cat >/dev/null; done"])
            .spawn()
            .unwrap();
        s.follow_own_children(false).unwrap();
        c.wait().unwrap();
        println!("{:#?}", s.look().unwrap());
        println!("{:?} {:?} {:?}", s.unseen(), s.kernel_time(), s.has_processes());
    }
}
