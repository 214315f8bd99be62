//! A failure to test with.

use crate::Fault;

/// Its words, and what it returns.
#[derive(Debug)]
pub struct Sample(pub String, pub i32);

impl std::fmt::Display for Sample {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl From<Fault> for Sample {
    fn from(fault: Fault) -> Self {
        let status = match fault {
            Fault::Null(_) => 1,
            Fault::Argument(_) => 2,
            Fault::Defect { .. } => 3,
        };
        Sample(fault.to_string(), status)
    }
}

impl crate::Boundary for Sample {
    type Status = i32;

    const OK: i32 = 0;
    const LIBRARY: &'static str = "a sample";

    fn status(&self) -> i32 {
        self.1
    }
}
