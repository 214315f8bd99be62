//! A failure to test with.

/// Its words, and what it returns.
#[derive(Debug)]
pub struct Sample(pub String, pub i32);

impl std::fmt::Display for Sample {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl crate::Boundary for Sample {
    type Status = i32;

    const OK: i32 = 0;

    fn null(name: &'static str) -> Self {
        Sample(format!("{name} is NULL"), 1)
    }

    fn argument(words: String) -> Self {
        Sample(words, 2)
    }

    fn defect(words: String) -> Self {
        Sample(format!("a defect: {words}"), 3)
    }

    fn status(&self) -> i32 {
        self.1
    }
}
