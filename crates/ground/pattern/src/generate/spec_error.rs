//! Why a word is no pattern.

/// Why a word is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No generator of that name.
    #[error("no pattern is called '{name}'; there are {known}")]
    Unknown {
        /// What was written.
        name: String,
        /// All generators.
        known: String,
    },
    /// The numbers do not fit the generator.
    #[error("'{spec}': {problem}; write {form}")]
    Form {
        /// What was written.
        spec: String,
        /// What is wrong.
        problem: String,
        /// How the generator is written.
        form: &'static str,
    },
}
