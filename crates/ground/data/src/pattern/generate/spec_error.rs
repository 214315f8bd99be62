//! The errors of pattern specifications such as `stencil2d:8x8`.

/// Why a text does not specify a pattern.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// No generator has this name.
    #[error("unknown pattern '{name}'; expected one of: {known}")]
    Unknown {
        /// The name as written.
        name: String,
        /// The names of all generators.
        known: String,
    },
    /// The numbers do not fit the generator.
    #[error("'{spec}': {problem}; write {form}")]
    Form {
        /// The specification as written.
        spec: String,
        /// The problem, in words.
        problem: String,
        /// The form of the generator.
        form: &'static str,
    },
}
