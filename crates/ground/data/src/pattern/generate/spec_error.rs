//! The errors of pattern specifications such as `stencil2d:8x8`.

/// Why a text does not specify a pattern.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// No generator has this name.
    #[error("unknown pattern '{name}'; expected one of: {known}")]
    Unknown {
        /// Name as written.
        name: String,
        /// Names of all generators.
        known: String,
    },
    /// The numbers do not fit the generator.
    #[error("'{spec}': {problem}; write {form}")]
    Form {
        /// Specification as written.
        spec: String,
        /// Problem, in words.
        problem: String,
        /// Form of the generator.
        form: &'static str,
    },
}
