//! A failure for tests.

use crate::Fault;

#[derive(Debug)]
pub struct SampleFailure(pub String, pub i32);

impl std::fmt::Display for SampleFailure {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl From<Fault> for SampleFailure {
    fn from(fault: Fault) -> Self {
        let status = match fault {
            Fault::Null(_) => 1,
            Fault::Argument(_) => 2,
            Fault::Defect { .. } => 3,
        };
        SampleFailure(fault.to_string(), status)
    }
}

impl crate::Boundary for SampleFailure {
    type Status = i32;

    const OK: i32 = 0;
    const LIBRARY: &'static str = "a sample";

    fn status(&self) -> i32 {
        self.1
    }
}
